"""What an evaluation file may not hold: credentials, endpoints, storage options."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config import load_evaluation
from pipeline.errors import ConfigError

FILE = """\
name: x
protocol: sws2013
{top}
datasets: {{d: {{ecf: '{ecf}', rttm: d.rttm}}}}
query_sets: {{p: {{kwlist: p.xml}}}}
systems: {{pattern: 'out/{{system}}.xml'}}
"""


def refusal(folder: Path, top: str = "", ecf: str = "d.ecf.xml") -> str:
    path = folder / "evaluation.yaml"
    path.write_text(FILE.format(top=top, ecf=ecf))
    with pytest.raises(ConfigError) as raised:
        load_evaluation(str(path))
    return str(raised.value)


@pytest.mark.parametrize(
    "field", ["storage_options: {key: topsecret}", "secret: topsecret", "endpoint_url: 'http://topsecret'"]
)
def test_fields_of_credentials_are_refused_with_where_they_belong(tmp_path: Path, field: str) -> None:
    told = refusal(tmp_path, top=field)
    assert "belong to the environment or to fsspec" in told
    assert "topsecret" not in told


@pytest.mark.parametrize(
    "url",
    [
        "s3://topsecret@bucket/d.ecf.xml",
        "s3a://key:topsecret@bucket/d.ecf.xml",
        "s3://bucket/d.ecf.xml?X-Amz-Signature=topsecret",
        "https://host/d.ecf.xml?jwt=topsecret",
        "https://host/d.ecf.xml#access_token=topsecret",
        "http://topsecret@host/d.ecf.xml",
        "sftp://topsecret@host/d.ecf.xml",
        "https://host/d.ecf.xml?topsecret",
        "HTTPS://topsecret@host/d.ecf.xml",
        "simplecache::s3://topsecret@bucket/d.ecf.xml",
    ],
)
def test_urls_with_credentials_are_refused_and_not_shown(tmp_path: Path, url: str) -> None:
    told = refusal(tmp_path, ecf=url)
    assert "carries credentials" in told
    assert "topsecret" not in told
