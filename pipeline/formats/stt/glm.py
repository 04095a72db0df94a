"""GLM: rules that rewrite transcripts before they are scored (SCTK rfilter1 and csrfilt, doc/GLMRules.txt)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO, Literal

from pipeline.errors import Finding, Problems
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.textlines import line_groups

Side = Literal["reference", "output"]
APPLIED_AS: dict[Side, tuple[str, str]] = {"reference": ("stm", "ref"), "output": ("ctm", "hyp")}
"""What csrfilt is told with -i and -t: a region of rules applies where its expression is found in one of them."""
_REGION = re.compile(r';;\s+INPUT_DEPENDENT_APPLICATION\s*=\s*"([^"]*)"', re.ASCII)
EXPRESSION_AT_MOST = 64
"""Longer expressions, and those that count, could take years to be looked for in three letters."""
_FLAG = re.compile(r"[!-~]*")
_VALUE = re.compile(r"[\"']([^\"']*)[\"']")
_SPACE = " \t\n\r\v\f"
_BOUNDS = (("[", "]"), ('"', '"'))
_TRUE = frozenset({"T", "YES", "TRUE"})
_FORMATS = ("NIST1", "NIST2")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True)
class Rule:
    """``source`` becomes ``target`` where ``before`` stands before it and ``after`` after it."""

    source: str
    target: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class RewriteRules:
    """Rules of one side in their order: at each place of a text the first one that fits rewrites it, left to right."""

    rules: tuple[Rule, ...] = ()
    copies: bool = True
    """Whether characters that no rule fits stay; else they vanish."""
    case_sensitive: bool = True

    @cached_property
    def _by_first(self) -> dict[str, list[Rule]]:
        found: dict[str, list[Rule]] = {}
        for rule in self.rules:
            if rule.source:
                parts = (self._folded(text) for text in (rule.source, rule.before, rule.after))
                source, before, after = parts
                found.setdefault(source[0], []).append(Rule(source, rule.target, before, after))
        return found

    def _folded(self, text: str) -> str:
        return text if self.case_sensitive else text.translate(_LOWER)

    def rewritten(self, text: str) -> str:
        """``text`` with every rule applied; what stands before and after is that of ``text`` itself."""
        folded, known, made, at = self._folded(text), self._by_first, list[str](), 0
        while at < len(text):
            rule = next((one for one in known.get(folded[at], ()) if _fits(one, folded, at)), None)
            if rule is not None:
                made.append(rule.target)
                at += len(rule.source)
                continue
            if self.copies:
                made.append(text[at])
            at += 1
        return "".join(made)


def _fits(rule: Rule, text: str, at: int) -> bool:
    begin, end = at - len(rule.before), at + len(rule.source)
    return text.startswith(rule.source, at) and (
        (begin >= 0 and text.startswith(rule.before, begin)) and text.startswith(rule.after, end)
    )


@dataclass(frozen=True)
class Glm:
    """A rule file: its text, and the rules that apply to references and to outputs."""

    text: str
    reference: RewriteRules = field(compare=False)
    output: RewriteRules = field(compare=False)
    findings: tuple[Finding, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, text: str) -> Glm:
        """The rules in a text that ``read_glm`` has read before."""
        lines = list(enumerate(text.split("\n"), 1))
        sides = {side: _rules(lines, side, Problems("glm")) for side in APPLIED_AS}
        return cls(text, sides["reference"], sides["output"])


def read_glm(stream: BinaryIO, where: str) -> Glm:
    """A rule file from a binary stream; ``where`` names it in messages.

    The first line begins with the flag of comments. Lines that start with ``*`` set ``COPY_NO_HIT`` and
    ``CASE_SENSITIVE``; others are rules ``A => B`` or ``A => B / C __ D``, parts in brackets or quotes where blanks
    matter. Lines may be of any length and of any number, where rfilter1 gives up beyond 131 bytes and ``MAX_NRULES``.
    Raises ``InputError`` with every problem: rules without an arrow, settings without a value in quotes, regions whose
    expression cannot be read, text that is not UTF-8.
    """
    problems, notices = Problems(where), Notices(where)
    lines = [(number, line.decode()) for group in line_groups(stream, problems, notices) for number, line in group]
    sides = {}
    for side in APPLIED_AS:
        own = Problems(where)
        sides[side] = _rules(lines, side, own)
        problems.findings += [one for one in own.findings if one not in problems.findings]
        problems.count = max(problems.count, own.count, len(problems.findings))
    problems.raise_if_any()
    if not any(rules.rules for rules in sides.values()):
        notices.add("no_rules", None, "the file has no rules: transcripts are taken as they stand")
    text = "\n".join(line for _, line in lines)
    return Glm(text, sides["reference"], sides["output"], notices.findings())


def _rules(lines: list[tuple[int, str]], side: Side, problems: Problems) -> RewriteRules:
    """The rules for one side, among the lines that apply to it."""
    applying = list(_applying(lines, APPLIED_AS[side], problems))
    flag = _flag(applying)
    settings = {"COPY_NO_HIT": True, "CASE_SENSITIVE": True}
    rules = list[Rule]()
    for number, whole in applying[1:]:
        line = whole.rstrip(_SPACE)
        if not line or (flag and line.startswith(flag)):
            continue
        if line.startswith("*"):
            _set(settings, line, number, problems)
            continue
        text = line.partition(flag)[0] if flag else line
        if "=>" in text:
            rules.append(_rule(text))
        elif text.strip(_SPACE):
            what = f"the line has no rule: {quoted(line)} (allowed: A => B, or A => B / C __ D)"
            problems.add("no_arrow", number, what, "Write an arrow with blanks around it, or a comment.")
    return RewriteRules(tuple(rules), settings["COPY_NO_HIT"], settings["CASE_SENSITIVE"])


def _applying(
    lines: Iterable[tuple[int, str]], names: tuple[str, str], problems: Problems
) -> Iterator[tuple[int, str]]:
    applies = True
    for number, line in lines:
        if region := _REGION.match(line):
            expression = region[1].translate(_LOWER)
            try:
                applies = _is_found(expression, names)
            except re.error as error:
                what = f"the region's expression {quoted(region[1])} cannot be read: {error}"
                problems.add("bad_expression", number, what, "Write names between bars, such as stm|ref.")
        if applies:
            yield number, line


def _is_found(expression: str, names: tuple[str, ...]) -> bool:
    """Whether a region's expression is found in a name. Raises ``re.error``."""
    if len(expression) > EXPRESSION_AT_MOST or "{" in expression:
        raise re.error(f"it has more than {EXPRESSION_AT_MOST} characters, or counts with braces")
    return bool(expression) and any(re.search(expression, name) for name in names)


def _flag(lines: list[tuple[int, str]]) -> str:
    """What begins comments: how the first line starts, up to a blank."""
    found = _FLAG.match(lines[0][1]) if lines else None
    return found[0] if found else ""


def _set(settings: dict[str, bool], line: str, number: int, problems: Problems) -> None:
    value = _VALUE.search(line)
    if value is None:
        what = f"the setting {quoted(line)} has no value in quotes (allowed: * copy_no_hit = 'T')"
        problems.add("no_value", number, what, "Put the value in quotes.")
        return
    upper = line.upper()
    settings |= {name: value[1].upper() in _TRUE for name in settings if name in upper}
    if "FORMAT" in upper[: value.start()] and value[1] not in _FORMATS:
        what = f"the format is {quoted(value[1])} (allowed: {', '.join(_FORMATS)})"
        problems.add("bad_format", number, what, "Write rules as A => B or A => B / C __ D.")


def _rule(line: str) -> Rule:
    """The rule in a line, read as rfilter1 does: the last slash begins the contexts.

    That holds unless a bracket that opens behind it is never closed; and where nothing like ``__`` follows it there are
    no contexts, and what stands after it is lost.
    """
    arrow, slash = line.index("=>"), _slash(line)
    slot = line.find("_", slash) if slash >= 0 else -1
    end = _end(line, slash if slash >= 0 else len(line), arrow)
    source = _bounded(line[:arrow].strip(_SPACE)) if line[:arrow].strip(_SPACE) else ""
    before = _part(line, slash, _end(line, slot, slash)) if slot >= 0 else ""
    after = _part(line, slot, _end(line, len(line), slot)) if slot >= 0 else ""
    return Rule(source, _part(line, arrow, end), before, after)


def _slash(line: str) -> int:
    slash = line.rfind("/")
    opens, closes = (line.find(bracket, slash) for bracket in "[]")
    return -1 if slash >= 0 and closes < opens else slash


def _end(line: str, stop: int, begin: int) -> int:
    """The place of the last character before ``stop`` that is no blank, or ``begin``."""
    at = stop - 1
    while at > begin and line[at] in _SPACE:
        at -= 1
    return at


def _part(line: str, begin: int, end: int) -> str:
    """What stands up to ``end`` behind the blanks behind the word at ``begin``."""
    while begin < end and line[begin] not in _SPACE:
        begin += 1
    if begin >= end:
        return ""
    while line[begin] in _SPACE:
        begin += 1
    return _bounded(line[begin : end + 1])


def _bounded(text: str) -> str:
    bounded = any(text[:1] == first and text[-1:] == last for first, last in _BOUNDS)
    return text[1:-1] if bounded else text
