"""A worked cell: 100 s of audio, two keywords that occur and one that does not, three detections."""

from __future__ import annotations

from pathlib import Path

ECF = """\
<ecf source_signal_duration="100.0" version="1">
<excerpt audio_filename="f1" channel="1" tbeg="0.0" dur="100.0" language="x" source_type="bnews"/>
</ecf>
"""
RTTM = """\
LEXEME f1 1 10.0 1.0 alpha lex spk <NA>
LEXEME f1 1 20.0 1.0 beta lex spk <NA>
LEXEME f1 1 30.0 1.0 alpha lex spk <NA>
"""
KWLIST = """\
<kwlist ecf_filename="e" language="x" encoding="UTF-8" compareNormalize="" version="1">
<kw kwid="K1"><kwtext>alpha</kwtext></kw>
<kw kwid="K2"><kwtext>beta</kwtext></kw>
<kw kwid="K3"><kwtext>gamma</kwtext></kw>
</kwlist>
"""
OUTPUT = """\
<kwslist kwlist_filename="k" language="x" system_id="s">
<detected_kwlist kwid="K1" search_time="1" oov_count="0">
<kw file="f1" channel="1" tbeg="10.0" dur="1.0" score="0.9" decision="YES"/>
<kw file="f1" channel="1" tbeg="50.0" dur="1.0" score="0.8" decision="YES"/>
</detected_kwlist>
<detected_kwlist kwid="K2" search_time="1" oov_count="0">
<kw file="f1" channel="1" tbeg="20.0" dur="1.0" score="0.7" decision="YES"/>
</detected_kwlist>
</kwslist>
"""
UNIT_COSTS = ["-k", "1", "-K", "1", "-p", "0.5"]
"""beta = 1."""
ATWV = 1 - (1 / 2 + 1 / 98 + 0 + 0) / 2
"""K1: one of two missed, one false alarm in 100 - 2 trials; K2: found."""


def write_cell(folder: Path, **changed: str) -> list[str]:
    """The four files in ``folder``, some with other text, as the organisers' options."""
    texts = {"ecf": ECF, "rttm": RTTM, "kwlist": KWLIST, "output": OUTPUT, **changed}
    options = []
    for option, role in (("-e", "ecf"), ("-r", "rttm"), ("-t", "kwlist"), ("-s", "output")):
        path = folder / f"{role}.xml"
        path.write_text(texts[role], encoding="utf-8")
        options += [option, str(path)]
    return options
