import gc

import pytest

from pipeline.engine.memory import seldom_collected


@seldom_collected()
def _first_threshold(*, fails: bool) -> int:
    if fails:
        raise KeyError
    assert gc.isenabled()
    return gc.get_threshold()[0]


def test_the_collector_looks_less_often_for_the_length_of_a_run_and_as_before_after_it() -> None:
    usual = gc.get_threshold()
    assert _first_threshold(fails=False) > usual[0]
    assert gc.get_threshold() == usual
    with pytest.raises(KeyError):
        _first_threshold(fails=True)
    assert gc.get_threshold() == usual
