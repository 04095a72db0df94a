"""Many addresses of one kind at once are the addresses that they have one by one."""

from dataclasses import asdict, replace

from pipeline import protocols
from pipeline.engine import editions
from pipeline.engine.plan import Asked, planned
from pipeline.store.address import Canonical, address
from pipeline.terms import Cell, Source


def test_a_canonical_part_enters_an_address_as_what_it_was_made_of() -> None:
    for part in (None, True, 1, 1.0, "é\n", [1, (2.5, "x")], {"b": {"a": -0.0}, "a": []}, {}):
        assert address("k", one=part, two=3) == address("k", one=Canonical.of(part), two=3)


def test_results_of_one_pair_are_named_as_every_other_stage_names() -> None:
    for protocol in (protocols.find("sws2013"), protocols.find("openkws13", overrides={"tolerance_s": 1.0})):
        asked = Asked(protocol, "reference", ())
        for system, unreadable in (("a", {}), ("b", {"resources": "no permission"})):
            cell, source = Cell("q", "d", system), Source("file:///o", "output", "0" * 64, 1)
            found = planned(asked, cell, {"output": source}, unreadable)
            assert found.address == editions.named(
                "figures",
                "result",
                protocol,
                protocol=protocols.fields(protocol),
                version=protocols.rescore_version(),
                cell=asdict(cell),
                inputs={"output": source.sha256},
                **({"unreadable": unreadable} if unreadable else {}),
            )


def test_settings_that_compare_equal_and_are_not_the_same_have_other_addresses() -> None:
    one = protocols.find("sws2013")
    other = replace(one, settings=replace(one.settings, tolerance_s=int(one.settings.tolerance_s) or 1))
    third = replace(one, settings=replace(one.settings, tolerance_s=float(other.settings.tolerance_s)))
    assert other == third
    cell = Cell("q", "d", "s")
    assert planned(Asked(other, "r", ()), cell, {}).address != planned(Asked(third, "r", ()), cell, {}).address
