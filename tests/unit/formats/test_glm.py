"""Rule files: what is a rule, what bears on it, and what is refused (SCTK doc/GLMRules.txt)."""

from __future__ import annotations

import io

import pytest

from pipeline.errors import InputError
from pipeline.formats.stt.glm import Glm, Rule, read_glm


def read(*lines: str) -> Glm:
    return read_glm(io.BytesIO("\n".join([";;", *lines]).encode()), "rules.glm")


def rule(line: str) -> Rule:
    [found] = read(line).reference.rules
    return found


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("CANCELLED => CANCELED ;; per AHD", Rule("CANCELLED", "CANCELED")),
        ("[  ] => [ ] ;; reduce 2 spaces to 1", Rule("  ", " ")),
        ("Falkner => Faulkner / [William ] __ ", Rule("Falkner", "Faulkner", "William ")),
        ("JETLINER => JET LINER", Rule("JETLINER", "JET LINER")),
        ("VIDEOTAPE => VIDEO TAPE / [ ] __ [ ]", Rule("VIDEOTAPE", "VIDEO TAPE", " ", " ")),
        ("[HE'S] => [{HE IS / HE HAS}] / [ ] __ [ ] ", Rule("HE'S", "{HE IS / HE HAS}", " ", " ")),
        ('" OK " => " OKAY "', Rule(" OK ", " OKAY ")),
        ("UH =>", Rule("UH", "")),
        ("UH => [] / __ [ A]", Rule("UH", "", "", " A")),
        ("A => {B / C}", Rule("A", "{B")),  # the last slash ends it, as in rfilter1
        ("A =>B C", Rule("A", "C")),  # what is glued to the arrow belongs to it
    ],
)
def test_rules_of_the_document_and_rules_with_a_slip(line: str, wanted: Rule) -> None:
    assert rule(line) == wanted


def test_the_first_rule_that_fits_wins_from_left_to_right_and_contexts_are_those_of_the_input() -> None:
    rules = read("AB => X", "A => Y", "B => Z / [A] __", "C => D / [D] __").reference
    assert rules.rewritten("AB A B CC DC") == "X Y B CC DD"
    assert rules.rewritten("CDC") == "CDD"


def test_settings_and_regions() -> None:
    glm = read("* case_sensitive = 'F'", "uh => UM", ';; INPUT_DEPENDENT_APPLICATION = "CTM"', "b => c")
    assert glm.reference.rewritten("UH B") == "UM B"
    assert glm.output.rewritten("UH B") == "UM c"
    assert read("* copy_no_hit = 'no'", "A => B").reference.rewritten("xAx") == "B"
    assert read("* name 'x'", "A => B").reference.rewritten("a") == "a"


def test_a_rule_file_is_known_by_its_text() -> None:
    glm = read("A => B", ';; INPUT_DEPENDENT_APPLICATION = "ref"', "C => D")
    assert Glm.of(glm.text) == glm
    assert Glm.of(glm.text).reference == glm.reference
    assert Glm.of(glm.text).output == glm.output


def test_every_problem_is_told_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        read("A => B", "A -> B", "* copy_no_hit = T", "* format = 'XML'", ';; INPUT_DEPENDENT_APPLICATION = "("')
    told = {(finding.code, finding.where) for finding in caught.value.findings}
    assert told == {
        ("no_arrow", "rules.glm:3"),
        ("no_value", "rules.glm:4"),
        ("bad_format", "rules.glm:5"),
        ("bad_expression", "rules.glm:6"),
    }


def test_a_file_without_rules_says_so() -> None:
    assert [finding.code for finding in read("").findings] == ["no_rules"]
