"""The options of KWSEval (F4DE 3.5.0) and STDEval (0.7), and those both share with every other protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pipeline.cli.options.tool import GivenOption, Option, Pairs, Tool, file, flag, ignored, refused, value
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol

PREFILTERS = ("charsplit", "notascii", "deletehyphens")
"""What ``-x`` takes, lower-cased."""
_KINDS = ("-Y", "-T", "-q", "-w", "-G")
"""Options that score parts beside the whole."""
_FILE_LIST = re.compile(r"[^,/]+/[^,/]+(,[^,/]+/[^,/]+)+")
_SEGMENTS = "openkws13-segments"


def _condition(kind: str, *, anywhere: bool = False) -> Callable[[Sequence[str]], Pairs]:
    """NAME:PATTERN,… as a line of ``condition``; STDEval's patterns may match ``anywhere`` in a name."""

    def settings(words: Sequence[str]) -> Pairs:
        name, colon, listed = words[0].partition(":")
        patterns = (listed if colon else words[0]).split(",")
        if anywhere:
            patterns = [f".*(?:{pattern}).*" for pattern in patterns if pattern]
        return [("condition", f"{kind} {name}:{','.join(patterns)}")]

    return settings


def _names(names: str) -> tuple[str, ...]:
    return tuple(names.split())


def _prefilter(words: Sequence[str]) -> Pairs:
    if words[0].lower() not in PREFILTERS:
        raise UsageError(f"-x takes charsplit, notASCII or deleteHyphens (got {words[0]!r}).")
    return [("-x", words[0].lower())]


def _parts(*, anywhere: bool = False) -> tuple[Option, ...]:
    """The options that score parts of the trials beside the whole."""
    by_type, by_query = (_condition(kind, anywhere=anywhere) for kind in ("source_type", "query"))
    listed = ("condition",)
    return (
        Option(_names("-Y --YSourcetype"), "score these source types too; may be repeated", "NAME:TYPE,…",
               settings=by_type, fields=listed),
        Option(_names("-T --Term"), "score these queries too; may be repeated", "NAME:PATTERN,…",
               settings=by_query, fields=listed),
        value("-q --query", "condition", "score the groups of this attribute too; may be repeated",
              shown="ATTRIBUTE", form="attribute {}"),
        flag("-w --words-oov", "condition", "oov", "score queries with and without out-of-vocabulary words too"),
        flag("-G --Group-by-targ", "condition", "has_targets", "score queries with and without occurrences too"),
    )  # fmt: skip


COMMON = (
    file("-e --ecffile", "ecf"),
    file("-r --rttmfile", "rttm"),
    file("-t --termfile", "kwlist"),
    file("-s --sysfile --stdfile", "output"),
    value("-S --Similarity-threshold", "tolerance_s", "how far mid points may lie outside an occurrence (tolerance_s)"),
    value("-F --Find-threshold", "word_gap_s", "largest gap between two words of an occurrence (word_gap_s)"),
    value("-k --koefcorrect", "c_fa", "cost of a false alarm (c_fa)"),
    value("-K --Koefincorrect", "c_miss", "cost of a miss, the value of a correct detection (c_miss)"),
    value("-p --prob-of-term", "p_target", "prior probability of a target (p_target)"),
    value("-n --number-trials-per-sec", "trials_per_s", "trials per second of audio (trials_per_s)"),
)
"""What both tools have, and protocols without a tool of their own take as far as they have the setting."""

_SETTINGS = (
    flag("-j --just-system-terms", "just_system_terms", "true", "leave out listed queries that have no block"),
    flag("-inc --include-blocks-w-notargs", "include_no_targets", "true", "count queries without occurrences too"),
    Option(_names("-x --xprefilterText --zprefilterText"), settings=_prefilter, fields=("character_split",),
           meaning="charsplit, notASCII or deleteHyphens, of transcript and keywords; may be repeated",
           shown="PREFILTER"),
    flag("-E --ECF-filtering", "ecf_filter", "whole", "drop what does not lie wholly inside one excerpt, as STDEval"),
)  # fmt: skip

_TOLD = (
    ignored("-I --ID-System", "outputs are named by their files, or by the evaluation file.", nargs=None),
    ignored("-zG --zGlobalMeasures", "map, twv_optimum and twv_supremum are always given; --sum-columns puts them into "
            "the tables.", nargs=None),
)  # fmt: skip


def _odd_in_kwseval(given: Sequence[GivenOption], protocol: Protocol) -> Iterator[str]:
    """One kind of condition a run, one recording for each ``-N``; groups are told of where all queries are pooled."""
    kinds = _kinds(given)
    if len(kinds) > 1:
        raise UsageError(
            f"KWSEval takes one kind of condition a run (got {' and '.join(kinds)}). Give one of them, or each as "
            "--set condition='…' of its own, a line each."
        )
    for one in given:
        if "--Namefile" in one.option.names and _FILE_LIST.fullmatch(one.words[0]):
            raise UsageError(
                f"-N takes one FILE/CHAN (got {one.words[0]!r}): KWSEval parts it at no comma, and then scores "
                "nothing. Repeat -N."
            )
    segments = hasattr(protocol.settings, "segments_from")
    if segments and _given(given, "-inc"):
        _refuse_with_empty_blocks(given)
    if not segments and _given(given, "-g"):
        raise UsageError(f"KWSEval's -g is a protocol of its own here. Use --protocol {_SEGMENTS}.")
    if _given(given, "-P") and "-G" in kinds:
        yield "-P with -G: KWSEval puts every query into NoTargets; here each is in the group of its occurrences."


def _refuse_with_empty_blocks(given: Sequence[GivenOption]) -> None:
    """With -g the tool adds keywords without trials as blocks of their own, which -inc puts into the means."""
    reasons = {
        "-P": "adds a block without trials for every keyword to the pooled one",
        "-j": "leaves out every keyword that has no trial, submitted or not",
    }
    for name, what in reasons.items():
        if _given(given, name):
            raise UsageError(f"{name} with -inc is not taken here: KWSEval -g {what}. Leave one of them out.")


def _kinds(given: Sequence[GivenOption]) -> list[str]:
    return [kind for kind in _KINDS if _given(given, kind)]


def _given(given: Sequence[GivenOption], name: str) -> bool:
    return any(name in one.option.names for one in given)


def _odd_in_stdeval(given: Sequence[GivenOption], protocol: Protocol) -> Iterator[str]:
    """Conditions that the tool would cross are refused; one cost without the other is told of."""
    kinds = _kinds(given)
    if "-Y" in kinds and len(kinds) > 1:
        raise UsageError(
            f"STDEval scores every group of -Y with every group of {' and '.join(kinds[1:])}; here each is scored by "
            "itself. Give one kind, or each as --set condition='…' of its own, a line each."
        )
    if sum("--query" in one.option.names for one in given) > 1:
        raise UsageError("STDEval crosses several -q. Give one: -q 'ATTRIBUTE && ATTRIBUTE'.")
    costs = [name for name in ("-k", "-K") if _given(given, name)]
    settings, tools = protocol.settings, {"-k": ("-K", "c_miss", 1.0), "-K": ("-k", "c_fa", 0.1)}
    if len(costs) == 1:
        other, field, theirs = tools[costs[0]]
        ours = getattr(settings, field)
        if ours != theirs:
            yield (f"{costs[0]} is given without {other}, which is {ours:g} in {protocol.name} and {theirs:g} in "
                   "STDEval. Give both.")  # fmt: skip


KWSEVAL = Tool(
    "KWSEval",
    (
        *COMMON,
        value("-N --Namefile", "namefile", "score these recordings and channels only; may be repeated",
              shown="FILE/CHAN"),
        *_parts(),
        *_SETTINGS,
        *_TOLD,
        flag("-P --Pooled-DETs", "pooled", "true", "score all queries as one"),
        Option(_names("-g --gsegment-based-alignment"), f"segments are the trials: --protocol {_SEGMENTS}", nargs=0,
               settings=lambda _: ()),
        ignored("-a --articlulatedDET --articulatedDET", "the tool's thinner curve has the same figures, here every "
                "point is kept."),
        ignored("-X --XmllintBypass", "XML is read in any layout."),
        ignored("-C --Clean-DETs-folder", "no folder of curves is written."),
        ignored("--zIsoRatioDAF", "no serialised curve is written."),
        ignored("--ExcludePNGFileFromTxtTable", "tables name no pictures."),
        refused("-o --osummary-report", "Use --sum FILE.csv or FILE.txt."),
        refused("-b --block-summary-report", "Use --bsum FILE.csv or FILE.txt."),
        refused("-O --Osummary-conditional-report", "Use --sum FILE: conditions go to cond.FILE beside it."),
        refused("-B --Block-summary-conditional-report", "Use --bsum FILE: conditions go to cond.FILE beside it."),
        refused("-c --csv-of-alignment", "Use --alignment FILE.csv."),
        refused("-d --det-curve", "Use --json --curve for the points of the curve."),
        refused("-D --DET-conditional-curve", "Use --json --curve: conditions have their curves there."),
        refused("-f --file-root", "Name each file: --sum, --bsum, --alignment."),
        refused("-path --path", "Name each file with its folder: --sum, --bsum, --alignment."),
        refused("-y --ytypes-of-report-output --ytype-of-report-output", "The ending chooses: --sum FILE.csv or .txt."),
        refused("-i --iso-lines", "Curves have no points at ratios. Use --json --curve and interpolate."),
        refused("-m --measureThreshPlots", "The page of rescore run draws figures over thresholds."),
        refused("--ExcludeCountsFromReports", "Tables have the tool's usual columns. Leave it out."),
        refused("--zincludeRowTotals", "Tables have the tool's usual columns. Leave it out."),
    ),
    _odd_in_kwseval,
)  # fmt: skip

STDEVAL = Tool(
    "STDEval",
    (
        *COMMON,
        *_parts(anywhere=True),
        *_SETTINGS,
        *_TOLD,
        ignored("-A --All-display", "all terms together are always shown."),
        refused("-N --Namefile", "STDEval leaves the trials of ATWV as they are and cuts those of MTWV. Use --set "
                "namefile=FILE/CHAN, which cuts both."),
        refused("-P --Pooled-DETs", "STDEval's pooled curve is of another value (V/C by occurrence). --set pooled=true "
                "scores all queries as one, as KWSEval does."),
        refused("-a --align-report", "Use --alignment FILE.csv."),
        refused("-C --CSV", "Use --alignment FILE.csv."),
        refused("-o --occurrence-report", "Use --bsum FILE.csv or FILE.txt, or --per-query."),
        refused("-O --Occurrence-conditionalreport", "Use --bsum FILE: conditions go to cond.FILE beside it."),
        refused("-d --det-curve", "Use --json --curve for the points of the curve."),
        refused("-D --DET-conditional-curve", "Use --json --curve: conditions have their curves there."),
        refused("-H --HTML", "rescore run writes a page."),
        refused("-Q --QHTML", "rescore run writes a page, conditions included."),
        refused("-c --cache-find", "rescore run keeps what was found in its store."),
    ),
    _odd_in_stdeval,
)  # fmt: skip
