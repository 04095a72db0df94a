"""The options of DEVA_cli (F4DE 3.5.0)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.cli.options.tool import Option, Pairs, Tool, file, ignored, refused
from pipeline.errors import UsageError

_METRIC = {"CostMiss": "c_miss", "CostFA": "c_fa", "Ptarg": "p_target", "m": "ro_weight"}
"""Parameters of DEVA's metrics and the settings that they are."""
_NAMED = re.compile(r"(.+):(detection|threshold)")
_DATABASES = "There are no databases here: tables are read as CSV, by role."
_STEPS = "Scoring is one step. Leave it out."
_AXES = "The page of rescore run has axes of its own. Leave it out."
_CHECKS = "What a year's tables must have is the setting columns, by protocol."


def _system(words: Sequence[str]) -> Pairs:
    """``FILE:detection`` and ``FILE:threshold`` as DEVA has them; a bare name is the detection table."""
    named = _NAMED.fullmatch(words[0])
    return [(named[2], named[1])] if named else [("detection", words[0])]


def _parameter(words: Sequence[str]) -> Pairs:
    name, _, value = words[0].partition("=")
    if name not in _METRIC:
        raise UsageError(
            f"DEVA's -U {name} is not taken here (allowed: {', '.join(_METRIC)}). AP and AP' are always given."
        )
    return [(_METRIC[name], value)]


def _refused(*table: tuple[str, str]) -> tuple[Option, ...]:
    """Refused options by name, each with its first letter as the tool abbreviates it where that is unique."""
    return tuple(refused(names, instead) for names, instead in table)


DEVA = Tool(
    "DEVA",
    (
        file("-r --refcsv", "ref"),
        Option(("-s", "--syscsv"), "same as --input detection=URL; URL:threshold is the other table", "URL",
               inputs=_system),
        Option(("-U", "--UsedMetricParameters"), "CostMiss, CostFA, Ptarg or m: c_miss, c_fa, p_target, ro_weight",
               "NAME=X", settings=_parameter, fields=tuple(_METRIC.values())),
        ignored("-q --quickConfig", "columns have the types of their format.", nargs="?"),
        ignored("-b --blockName", "it names the rows of the tool's table.", nargs=None),
        ignored("-t --taskName", "it titles the tool's table.", nargs=None),
        *_refused(
            ("-o --outdir", "Documents go to standard output: --json > FILE."),
            ("-p --profile", "The protocol is the profile: --protocol med11 to med17, or med13aladdin."),
            ("--KsaveProfile", "The protocol is the profile; other values are --set."),
            ("-c --configSkip", _STEPS),
            ("-C --CreateDBSkip", _STEPS),
            ("-f --filterSkip", _STEPS),
            ("-D --DETScoreSkip", _STEPS),
            ("-F --FilterCMDfile", "Use --set conditions='NAME: ClipMD.DURATION < 100', which scores parts too."),
            ("-A --AdditionalFilterDB", "Use --set conditions=… with --input clipmd=, eventdb=, judgement=."),
            ("-a --additionalResDBfile", "Use --set conditions=…."),
            ("-R --RefDBfile", _DATABASES),
            ("-S --SysDBfile", _DATABASES),
            ("-M --MetadataDBfile", _DATABASES),
            ("-i --iFilterDBfile", _DATABASES),
            ("-w --wREFcfg", _DATABASES),
            ("-W --WSYScfg", _DATABASES),
            ("-V --VMDcfg", _DATABASES),
            ("-N --NULLfields", "Empty fields are read as they are. Leave it out."),
            ("-d --derivedSys", "Detections join index and thresholds by TrialID and EventID. Leave it out."),
            ("-P --PrintedBlock", "Trials are of the event that the index says. Leave it out."),
            ("-u --usedMetric", "The protocol chooses: NDC in med11 and med12, Ro and AP later."),
            ("-T --TrialsParameters", "Use --set p_fa_trials=index for non-targets of the whole index."),
            ("-l --listParameters", "Use rescore protocols NAME."),
            ("-G --GetTrialsDB", "Use rescore explain for single trials."),
            ("-B --BlockAverage", "Every figure stands beside its mean over events: average in measures."),
            ("-j --judgementThreshold", "Write it for every event of the threshold table."),
            ("-J --JudgementThresholdPerBlock", "The threshold table has them: --input threshold=URL."),
            ("-x --xmin", _AXES),
            ("-X --Xmax", _AXES),
            ("-y --ymin", _AXES),
            ("-Y --Ymax", _AXES),
            ("-z --zusedXscale", _AXES),
            ("-Z --ZusedYscale", _AXES),
            ("--KexactlyXderivedSys", "A submission is two tables: detection and threshold."),
            ("--KQderivedSys --KqSys", _CHECKS),
            ("--KWderivedSys --KwSys", _CHECKS),
            ("--KSysConstraints --KMDConstraints", _CHECKS),
            ("--KjUseRankForScores", "Use --set scored_by=rank."),
            ("--KdecisionThreshold", "Use --set decisions=rank_limit --set rank_limit=X."),
            ("--KzSuppressMetricScores", "Use --measures NAME,…."),
            ("-m --man", "Use rescore score --help."),
        ),
    ),
)  # fmt: skip
