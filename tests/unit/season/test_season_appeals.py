"""Appeals and readiness: what another key would move is what it moves; what is missing is told before the night."""

from __future__ import annotations

import json

import pytest
import season_files as files
from season_world import Season

from pipeline.cli import main
from pipeline.errors import InputError
from pipeline.grid import latest
from pipeline.report.changes.diff import compare, side_of
from pipeline.report.changes.documents import diff_document
from pipeline.season.patches import patched

PATCH = """# an occurrence was wrong, another was missed
-LEXEME b 1 20 1 gamma lex SELF <NA>
+LEXEME b 1 9 1 beta lex SELF <NA>
"""


def without_files(value):
    """A document without the places of input files."""
    if isinstance(value, dict):
        return {name: without_files(item) for name, item in value.items() if name != "file"}
    return [without_files(item) for item in value] if isinstance(value, list) else value


def test_whatif_equals_a_real_run_with_that_key_and_publishes_nothing(tmp_path, capsys):
    season = Season(tmp_path / "one", phase={"kind": "dev"})
    first = season.run()
    (tmp_path / "patch").write_text(PATCH)
    kept = ("refs", "runs", "reports", "grids", "results", "labels", "trials")
    published = {path for path in season.store.listing() if path.startswith(kept)}
    call = ["whatif", str(season.evaluation), "--key", str(tmp_path / "patch"), "--store", season.store.root, "--json"]
    assert main(call) == 0
    told = json.loads(capsys.readouterr().out)
    after = {path for path in season.store.listing() if path.startswith(kept)}
    assert after == published
    assert latest(season.store, files.EVALUATION).id == first.id

    other = Season(tmp_path / "two", phase={"kind": "dev"})
    before = other.run()
    key = tmp_path / "two" / "key.rttm"
    key.write_bytes(patched(key.read_bytes(), PATCH.encode(), "patch"))
    real = other.run()
    sides = [side_of(other.store, run) for run in (before, real)]
    wanted = json.loads(json.dumps(diff_document(compare(*sides))))
    assert told["cells"]
    assert "atwv" in json.dumps(told["cells"])
    for name in ("cells", "n_cells", "primary"):
        assert without_files(told[name]) == without_files(wanted[name])


def test_a_patch_that_does_not_fit_the_key_is_refused_with_every_problem():
    with pytest.raises(InputError) as caught:
        patched(b"a\nb\n", b"-c\n*x\n-a\n-a\n", "patch")
    assert [(finding.code, finding.where) for finding in caught.value.findings] == [
        ("no_such_row", "patch:1"), ("bad_patch", "patch:2"), ("no_such_row", "patch:4"),
    ]  # fmt: skip
    assert patched(b"a\nb\nc", b"-b\n+x\n+y\n", "patch") == b"a\nx\ny\nc\n"


def test_where_each_query_set_has_its_key_one_of_them_is_patched_and_entered(tmp_path, capsys):
    files.opened(tmp_path)
    for name in ("first", "second"):
        (tmp_path / f"{name}.rttm").write_text(files.KEY)
        (tmp_path / f"out-{name}.xml").write_text(files.stdlist(files.GOOD))
    evaluation = tmp_path / "evaluation.yaml"
    evaluation.write_text(
        "name: two-keys\nprotocol: sws2013\ndatasets: {d: {ecf: ecf.xml, rttm: '{query_set}.rttm'}}\n"
        "query_sets: {first: {kwlist: terms.xml}, second: {kwlist: terms.xml}}\n"
        "systems: {one: {outputs: 'out-{query_set}.xml'}}\n"
    )
    (tmp_path / "patch").write_text(f"-{files.KEY.splitlines()[0]}\n")
    store = ["--store", str(tmp_path / "store")]
    call = ["whatif", str(evaluation), "--key", str(tmp_path / "patch"), *store]
    assert main(call) == 2
    assert "each has its own (allowed: first, second)" in capsys.readouterr().err
    assert main([*call, "--query-set", "second"]) == 0
    told = capsys.readouterr().out
    assert "second/d/one: " in told
    assert "first/d/one: " not in told

    person = ["--role", "rttm", "--dataset", "d", "--by", "K", "--reason", "as transcribed", "--json", *store]
    for name in ("first", "second"):
        assert main(["season", "key", str(tmp_path / f"{name}.rttm"), "--query-set", name, *person]) == 0
        entry = json.loads(capsys.readouterr().out)
        assert (entry["version"], entry["parent"], entry["query_set"]) == (1, None, name)


def test_explain_tells_rows_pairs_and_rules_on_the_terminal(tmp_path, capsys):
    season = Season(tmp_path, phase={"kind": "dev"})
    season.run()
    call, store = ["explain", "q/d/north", "beta"], ["--store", season.store.root]
    assert main([*call, *store, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["kind"], row["begin_s"], row["outcome"], row["rule"]) for row in rows] == [
        ("detection", 30.0, "CORR", "only"), ("occurrence", 30.0, "CORR", "only"),
        ("detection", 9.0, "FA", "no_occurrence"),
    ]  # fmt: skip
    assert main([*call, "b", "9.5", *store]) == 0
    assert "1 rows" in capsys.readouterr().out
    assert main(["explain", "q/d/north", "omega", "--store", season.store.root]) == 2
    assert main(["explain", "q/d/nobody", "beta", "--store", season.store.root]) == 2


def test_plan_tells_cells_missing_conditions_and_cost(tmp_path, capsys):
    season = Season(tmp_path, phase={"kind": "dev", "required": [{"board": ""}]})
    call = ["plan", str(season.evaluation), "--store", season.store.root, "--json"]
    assert main(call) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n_cells"], told["to_do"]) == (5, {"figures": 0, "labels": 0, "all": 5})
    assert told["missing_boards"] == [["east", ""]]
    assert told["prediction"] is None
    season.run()
    files.hand_in(season.store, season.folder, "north", files.stdlist(files.PERFECT) + "\n")
    assert main(call) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["to_do"] == {"figures": 0, "labels": 0, "all": 1}
    assert told["prediction"]["n_earlier"] == 5
    assert told["prediction"]["cpu_s"] > 0
