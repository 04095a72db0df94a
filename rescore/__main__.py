"""``python -m rescore`` is the command ``rescore``."""

from __future__ import annotations

from pipeline.cli import run

if __name__ == "__main__":
    run()
