"""How the tests of this room read text and look at refusals."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from pipeline.errors import InputError
from pipeline.formats import READERS


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


@pytest.fixture
def read() -> Callable[[str, str | bytes], Any]:
    """``read(format, content)``: what the reader makes of a file named ``f``."""
    return lambda name, content: READERS[name](BytesIO(_bytes(content)), "f")


@pytest.fixture
def refused() -> Callable[[str, str | bytes], list[tuple[str, str]]]:
    """``refused(format, content)``: the (where, code) of every problem shown; fails if the file is accepted."""

    def problems(name: str, content: str | bytes) -> list[tuple[str, str]]:
        with pytest.raises(InputError) as caught:
            READERS[name](BytesIO(_bytes(content)), "f")
        return [(finding.where, finding.code) for finding in caught.value.findings]

    return problems
