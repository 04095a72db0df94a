from __future__ import annotations

import io

from made_grid import CONTROLS, SCRIPT, make_grid
from rich.console import Console

from pipeline.report.terminal import print_boards


def printed(grid, width=100) -> str:
    out = io.StringIO()
    print_boards(grid, Console(file=out, width=width, force_terminal=False))
    return out.getvalue()


def board(text: str, title: str) -> str:
    return text[text.index(title) :].partition("\n\n\n")[0]


def test_one_board_per_cell_with_the_best_system_first(made):
    text = printed(made[0])
    for title in ("dev × dev", "dev × eval", "eval × dev", "eval × eval"):
        assert text.count(title) == 1
    lines = board(text, "dev × dev").splitlines()
    assert lines[4].split()[:3] == ["1", "gtts-fusion", "0.9293"]


def test_failed_systems_come_last_with_reason_place_and_message(made):
    text = printed(made[0], width=400)
    assert text.index("cuhk-posteriors", text.index("eval × dev")) < text.index("refused_input")
    assert "refused_input: outputs/<b>bad</b>.kwslist.xml:17: the score is not a number" in text
    assert "missing_output: the system submitted no output for this cell" in text


def test_undefined_figures_show_their_reason_and_infinities_the_symbol(made):
    text = printed(made[0])
    assert "reject_all" in text
    assert "∞" in text


def test_names_reach_the_terminal_neither_as_markup_nor_as_control_sequences():
    text = printed(make_grid(("[bold red]x[/]", SCRIPT, CONTROLS, "d", "e", "[/nothing]"))[0], width=200)
    assert "[bold red]x[/]" in text
    assert "[/nothing]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_it_fits_eighty_columns(made):
    assert max(len(line) for line in printed(made[0], width=80).splitlines()) <= 80
