"""The compiled scanner is compiled anew when what it is made of changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pipeline import formats

FOLDER = Path(formats.__file__).parent


@pytest.mark.usefixtures("numba")
def test_the_kernel_changes_with_the_files_that_are_compiled_into_it() -> None:
    from pipeline.formats.fast.fast_kernel import FOLLOWS

    data = b"".join((FOLDER / f"{name}.py").read_bytes() for name in ("fast/state", "fast/words"))
    assert hashlib.sha256(data).hexdigest()[:12] == FOLLOWS, "write this digest into fast_kernel"
