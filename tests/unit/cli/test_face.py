from __future__ import annotations

import subprocess
import sys

import pytest

import pipeline


def test_every_public_name_is_there() -> None:
    for name in pipeline.__all__:
        assert getattr(pipeline, name) is not None
    assert set(pipeline.__all__) <= set(dir(pipeline))
    assert pipeline.__version__


def test_names_come_from_their_rooms() -> None:
    from pipeline import find_protocol
    from pipeline.protocols import find

    assert find_protocol is find


def test_unknown_names_are_unknown() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pipeline.nothing


def test_importing_the_face_imports_no_room() -> None:
    code = "import sys, pipeline; print(sorted(m for m in sys.modules if m.startswith('pipeline.') or m == 'numpy'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
