"""rescore in one import: score, look at and keep evaluations from scripts and notebooks.

```python
import rescore

result = rescore.score("sws2013", ecf="eval.ecf.xml", rttm="eval.rttm", kwlist="eval.xml", output=frame)
```

Every input is a path, a URL, bytes, an open file, or a frame (pandas, Polars, Arrow, xarray, a mapping of arrays).
Names are looked up when they are first asked for, so that this import costs nothing. What stands in ``__all__`` stays:
it changes with an entry in the changelog only.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers know it: ``typing`` takes as long to import as all else here
if TYPE_CHECKING:
    from pipeline.errors import ConfigError, InputError, PlatformError, RescoreError, UsageError
    from pipeline.grid.opened import open_grid, open_reference, open_trials
    from pipeline.terms import Evaluation
    from rescore import io
    from rescore.comparing import Comparison, compare
    from rescore.results import Result
    from rescore.scoring import open_store, protocols, run, score, validate
    from rescore.stores import cells_df, measures_df, queries_df, runs_df, trials_df

__all__ = [
    "Comparison",
    "ConfigError",
    "Evaluation",
    "InputError",
    "PlatformError",
    "RescoreError",
    "Result",
    "UsageError",
    "cells_df",
    "compare",
    "io",
    "measures_df",
    "open_grid",
    "open_reference",
    "open_store",
    "open_trials",
    "protocols",
    "queries_df",
    "run",
    "runs_df",
    "score",
    "trials_df",
    "validate",
]

_HOMES = {
    "pipeline.errors": "ConfigError InputError PlatformError RescoreError UsageError",
    "pipeline.grid.opened": "open_grid open_reference open_trials",
    "pipeline.terms": "Evaluation",
    "rescore.comparing": "Comparison compare",
    "rescore.results": "Result",
    "rescore.scoring": "open_store protocols run score validate",
    "rescore.stores": "cells_df measures_df queries_df runs_df trials_df",
}
"""The module that each name lives in."""


if not TYPE_CHECKING:  # else any name would pass for one of these

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("rescore")
        if name == "io":
            return importlib.import_module("rescore.io")
        for module, names in _HOMES.items():
            if name in names.split():
                return getattr(importlib.import_module(module), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
