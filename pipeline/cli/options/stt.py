"""The options of sclite (SCTK 2.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.cli.options.tool import GivenOption, Option, Pairs, Tool, flag, ignored, refused
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol

_ENCODINGS = {"generic": "ascii", "babel_turkish": "turkish", "babel_vietnamese": "vietnamese", "ukranian": "ukrainian"}
"""What may follow ``-e utf-8``, as the tool spells it, and the setting ``fold``."""


def _reference(words: Sequence[str]) -> Pairs:
    return [("stm", words[0])]


def _output(words: Sequence[str]) -> Pairs:
    return [("ctm", words[0])]


def _case_or_output(words: Sequence[str]) -> Pairs:
    """Our ``-s URL``; sclite's has no value."""
    return _output(words) if words else []


def _case(words: Sequence[str]) -> Pairs:
    return [] if words else [("case_sensitive", "true")]


def _characters(words: Sequence[str]) -> Pairs:
    unknown = [word for word in words if word not in ("NOASCII", "DH")]
    if unknown:
        raise UsageError(f"-c takes NOASCII and DH (got {unknown[0]!r}).")
    yes = {True: "true", False: "false"}
    return [("variant", "cer"), ("keep_ascii", yes["NOASCII" in words]), ("drop_hyphens", yes["DH" in words])]


def _encoding(words: Sequence[str]) -> Pairs:
    if words[0] != "utf-8":
        raise UsageError(f"sclite's -e {words[0]} is not taken here: files are read as UTF-8. Convert them (iconv).")
    if len(words) == 1:
        return []
    if len(words) > 2 or words[1] not in _ENCODINGS:
        raise UsageError(f"-e utf-8 takes {', '.join(_ENCODINGS)} (got {' '.join(words[1:])!r}).")
    return [("fold", _ENCODINGS[words[1]])]


def _check(given: Sequence[GivenOption], protocol: Protocol) -> Iterator[str]:
    """The formats that are named must be those the protocol reads; hypotheses come one a run."""
    for one in given:
        role = {"-r": "stm", "-h": "ctm"}.get(one.name)
        if role and len(one.words) > 1:
            wanted = next((r.format for r in protocol.roles if r.name == role), "")
            if one.words[1] != wanted:
                raise UsageError(
                    f"{one.name} {one.words[0]} {one.words[1]}: {protocol.name} reads {wanted} (stt13 reads stm and "
                    "ctm, stt-trn reads trn). Choose the protocol by the format."
                )
            if len(one.words) > 2:
                yield f"{one.name}'s title {one.words[2]!r} has no effect: outputs are named by their files."
    return


SCLITE = Tool(
    "sclite",
    (
        Option(("-r",), "reference, same as --input stm=URL", "URL", nargs="+", inputs=_reference),
        Option(("-h",), "output, same as --input ctm=URL", "URL", nargs="+", inputs=_output),
        Option(("-s",), "with URL: same as --input ctm=URL; without: case counts (case_sensitive)", "URL", nargs="?",
               inputs=_case_or_output, settings=_case, fields=("case_sensitive",)),
        Option(("-e",), "utf-8, and the language whose letters lose their case (fold)", "ENCODING", nargs="+",
               settings=_encoding, fields=("fold",)),
        flag("-D", "optional_deletion", "true", "words in brackets may be left out (the default here)"),
        flag("-F", "fragments", "true", "fragments match what goes on from them (the default here)"),
        Option(("-c",), "characters instead of words: NOASCII, DH", "FLAG", nargs="*", settings=_characters,
               fields=("variant", "keep_ascii", "drop_hyphens")),
        ignored("-i", "speakers are told from utterances: up to the first _ or -, else the first three characters.",
                nargs=None),
        ignored("-f", "nothing is printed while files are read.", nargs=None),
        ignored("-l", "no lines are broken.", nargs=None),
        refused("-P", "Outputs are read from files: --input ctm=URL."),
        refused("-p", "Use --json, and rescore compare for two outputs."),
        refused("-d", "Alignments are those of least cost, not of diff. Leave it out."),
        refused("-L", "Language models weigh no words here. Leave it out."),
        refused("-S", "Words are not told from characters by a lexicon. Use --set variant=cer."),
        refused("-T", "Words are aligned by their text. Leave it out."),
        refused("-w", "Words have no weights. Leave it out."),
        refused("-m", "Cut the files yourself: words outside all segments are counted and not scored."),
        refused("-O", "Documents go to standard output: --json > FILE."),
        refused("-n", "Documents go to standard output: --json > FILE."),
        refused("-o", "--json has the tables sys and raw; --set alignment=true adds what pra shows."),
        refused("-C", "--json has nce and the table reliability."),
    ),
    _check,
)  # fmt: skip
