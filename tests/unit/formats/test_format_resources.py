from __future__ import annotations

import pytest

from pipeline.errors import InputError
from pipeline.formats.resources import Node
from pipeline.terms import Phase

RESOURCES = """\
# Seed 000 section 4.3, its worked example
index:
  sws2013:
    wall_s: 50400
    cores: 16
    peak_memory_bytes: 2 GB
    nodes:
      - {count: 2, brand: HP, cpu: Xeon E5, cores: 8, clock_ghz: 2.4, ram_bytes: 64GiB, os: "Linux 5"}
      - cpu: Opteron
search:
  eval/sws2013:
    cpu_s: 1.728e5
    peak_memory_bytes: 1000000000
  dev/sws2013: {wall_s: 10, cores: 2}
"""


def phase(resources, name: str, query_set: str, dataset: str) -> Phase | None:
    use = resources.used(query_set, dataset).get(name)
    return None if use is None else use.phase


def test_phases_add_up_as_if_on_a_single_cpu(read) -> None:
    resources = read("resources", RESOURCES)
    assert phase(resources, "index", "eval", "sws2013") == Phase(806_400.0, 2e9, "wall", wall_s=50_400.0)
    assert phase(resources, "search", "eval", "sws2013") == Phase(172_800.0, 1e9, "cpu")
    assert phase(resources, "search", "dev", "sws2013") == Phase(20.0, None, "wall", wall_s=10.0)
    assert resources.findings == ()


def test_what_was_not_declared_is_none(read) -> None:
    resources = read("resources", RESOURCES)
    assert phase(resources, "index", "q", "sws2012") is None
    assert phase(resources, "search", "eval", "sws2012") is None
    assert phase(read("resources", ""), "index", "q", "sws2013") is None
    assert read("resources", "index: {}\n").index == {}


def test_nodes_are_kept_as_declared(read) -> None:
    assert read("resources", RESOURCES).index["sws2013"].nodes == (
        Node(2, "HP", "Xeon E5", 8, 2.4, 64 * 2.0**30, "Linux 5"),
        Node(cpu="Opteron"),
    )


def test_one_phase_may_stand_for_all(read) -> None:
    resources = read("resources", "index: {wall_s: 2, cores: 3}\nsearch:\n  '*': {cpu_s: 1}\n  q/d: {cpu_s: 2}\n")
    assert phase(resources, "index", "q", "anything") == Phase(6.0, None, "wall", wall_s=2.0)
    assert phase(resources, "search", "other", "d") == Phase(1.0, None, "cpu")
    assert phase(resources, "search", "q", "d") == Phase(2.0, None, "cpu")


def test_the_only_phase_needs_no_name(read) -> None:
    resources = read("resources", RESOURCES)
    assert resources.only()["index"].phase == phase(resources, "index", "eval", "sws2013")
    assert "search" not in resources.only()


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [
        ("2 GB", 2e9),
        ("2GiB", 2.0**31),
        ("1.5e3 MB", 1.5e9),
        ("7", 7.0),
        ("0 B", 0.0),
        ("3 kB", 3e3),
        ("'1 TiB'", 2.0**40),
    ],
)
def test_sizes_have_decimal_and_binary_units(read, size: str, n_bytes: float) -> None:
    resources = read("resources", f"index: {{d: {{cpu_s: 1, peak_memory_bytes: {size}}}}}\n")
    assert phase(resources, "index", "q", "d").peak_memory_bytes == n_bytes


@pytest.mark.parametrize(
    ("phase", "code"),
    [
        ("{wall_s: 1}", "missing_cores"),
        ("{wall_s: 1, cores: 2, cpu_s: 2}", "two_times"),
        ("{wall_s: 1, cores: 0}", "bad_count"),
        ("{wall_s: 1, cores: 1.5}", "bad_count"),
        ("{cpu_s: -1}", "negative_value"),
        ("{cpu_s: .inf}", "not_a_number"),
        ("{cpu_s: 1e400}", "not_finite"),
        ("{cpu_s: 1_000}", "not_a_number"),
        ("{cpu_s: }", "not_a_number"),
        ("{cpu_s: [1]}", "not_a_value"),
        ("{cpu_s: 1, gpu_s: 2}", "unknown_field"),
        ("{cpu_s: 1, cpu_s: 2}", "duplicate_field"),
        ("{cpu_s: 1, peak_memory_bytes: 2 gigs}", "bad_size"),
        ("{cpu_s: 1, peak_memory_bytes: -2 GB}", "negative_value"),
        ("{cpu_s: 1, nodes: 4}", "not_a_list"),
        ("{cpu_s: 1, nodes: [4]}", "not_a_mapping"),
        ("{cpu_s: 1, nodes: [{gpu: x}]}", "unknown_field"),
        ("{cpu_s: 1, nodes: [{count: 0}]}", "bad_count"),
        ("{}", "empty_phase"),
        ("fast", "not_a_mapping"),
        ("{[1]: 2, cpu_s: 1}", "unknown_field"),
    ],
)
def test_bad_declarations_are_refused_by_line(refused, phase: str, code: str) -> None:
    assert ("f:3", code) in refused("resources", f"search:\n  a/b: {{cpu_s: 1}}\n  q/d: {phase}\n")


def test_every_problem_is_reported_at_once(refused) -> None:
    content = "index:\n  d: {wall_s: x, cores: 0}\nsearch:\n  d: {cpu_s: 1}\ngpu: 1\n"
    assert refused("resources", content) == [
        ("f:5", "unknown_field"),
        ("f:2", "not_a_number"),
        ("f:2", "bad_count"),
        ("f:4", "bad_key"),
    ]


@pytest.mark.parametrize(
    ("content", "where", "code"),
    [
        ("a: &x {b: 1}\n", "f:1", "yaml_alias"),
        ("index: {}\nsearch: *x\n", "f:2", "yaml_alias"),
        ("index: !!python/object/apply:os.system ['true']\n", "f:1", "yaml_tag"),
        ("index: " + "[" * 100_000, "f:1", "yaml_too_deep"),
        ("index: {\n", "f:2", "yaml_malformed"),
        ("index: {}\n---\nindex: {}\n", "f:2", "yaml_malformed"),
        ("\tindex: {}\n", "f:1", "yaml_malformed"),
        ('index: "\\UFFFFFFFF"\n', "f:1", "yaml_malformed"),
        ("index: \x07\n", "f:1", "yaml_malformed"),
        ("index: 1\n" * 100_000, "f", "file_too_large"),
    ],
)
def test_yaml_that_is_more_or_less_than_values_is_refused(refused, content: str, where: str, code: str) -> None:
    assert refused("resources", content) == [(where, code)]


def test_a_bomb_of_aliases_is_not_expanded(read) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    with pytest.raises(InputError, match="f:1: anchors .* are refused"):
        read("resources", "\n".join(lines))


def test_bytes_that_are_not_utf8_are_named(read) -> None:
    with pytest.raises(InputError, match="f:2: byte 0xE9 is not UTF-8"):
        read("resources", b"index: {}\n# caf\xe9\n")


STEPS = """\
index:
  steps:
    - name: features
      cpu_s: 100
      peak_memory_bytes: 2 GB
      nodes: [{count: 2, cpu: GPU, peak_memory_bytes: 6 GB}, {cpu: Xeon, ram_bytes: 24 GB}]
    - {cpu_s: 50.5, peak_memory_bytes: 3 GB}
search: {steps: [{wall_s: 10, cores: 2}, {cpu_s: 1}]}
eag: {wall_s: 7200, cores: 1}
"""


def test_times_of_steps_add_up_and_the_highest_peak_of_steps_and_nodes_counts(read) -> None:
    resources = read("resources", STEPS)
    assert phase(resources, "index", "q", "d") == Phase(150.5, 6e9, "cpu")
    assert phase(resources, "search", "q", "d") == Phase(21.0, None, "mixed")
    assert phase(resources, "eag", "q", "d") == Phase(7200.0, None, "wall", wall_s=7200.0)
    assert phase(
        read("resources", "index: {steps: [{cpu_s: 1}, {peak_memory_bytes: 1}]}\n"), "index", "q", "d"
    ) == Phase(None, 1.0, "mixed")
    rows = resources.used("q", "d")["index"].rows("index")
    assert [(row["step"], row["cpu_s"], row["count"], row["cpu"], row["ram_bytes"]) for row in rows[:1]] == [
        ("features", 100.0, 2.0, "GPU", pytest.approx(float("nan"), nan_ok=True))
    ]
    assert [(row["step"], row["cpu"]) for row in rows] == [("features", "GPU"), ("features", "Xeon"), ("step 2", "")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("index: {cpu_s: 3, steps: [{cpu_s: 1}]}\n", "two_times"),
        ("index: {steps: 3}\n", "not_a_list"),
        ("index: {steps: []}\n", "empty_phase"),
        ("index: {steps: [{steps: [{cpu_s: 1}]}]}\n", "unknown_field"),
        ("index: {steps: [{wall_s: 1}]}\n", "missing_cores"),
        ("index: {steps: [{cpu_s: -1}]}\n", "negative_value"),
    ],
)
def test_steps_that_say_nothing_or_two_things_are_refused(refused, text: str, code: str) -> None:
    assert code in {found for _, found in refused("resources", text)}
