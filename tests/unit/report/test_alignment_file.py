"""How numbers stand in an alignment file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pipeline.cli import main


@pytest.mark.parametrize(("protocol", "end"), [("openkws13", "0.5000"), ("std2006", "0.500004")])
def test_zeros_keep_their_sign_and_ends_the_decimals_they_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str, end: str
) -> None:
    texts = {
        "-e": '<ecf><excerpt audio_filename="a/f.sph" channel="1" tbeg="0" dur="60" source_type="cts"/></ecf>',
        "-r": "LEXEME f 1 0.000004 0.5 yes lex s <NA>\n",
        "-t": '<kwlist><kw kwid="K"><kwtext>yes</kwtext></kw></kwlist>',
        "-s": '<kwslist kwlist_filename="k" language="x" system_id="s"><detected_kwlist kwid="K" search_time="1" '
        'oov_count="0">\n<kw file="f" channel="1" tbeg="-0.00" dur="0.3" score="-0" decision="YES"/>\n'
        '<kw file="f" channel="1" tbeg="-0.0" dur="-0" score="-1" decision="NO"/>\n</detected_kwlist></kwslist>',
    }
    argv = ["score", "--protocol", protocol, "--alignment", str(tmp_path / "alignment.csv")]
    for option, text in texts.items():
        (tmp_path / option).write_text(text)
        argv += [option, str(tmp_path / option)]
    assert main(argv) == 0
    capsys.readouterr()
    with (tmp_path / "alignment.csv").open(newline="") as lines:
        rows = [row[5:] for row in csv.reader(lines)][1:]
    assert sorted(rows, key=lambda row: row[-1]) == [
        ["4e-06", end, "-0", "0.3", "-0", "YES", "CORR"],
        ["", "", "-0", "0", "-1", "NO", "CORR!DET"],
    ]
