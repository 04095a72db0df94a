"""Results for people: the board on a terminal and as CSV, the documents as JSON, the page. Nothing is recomputed."""

from pipeline.report.board import board_rows
from pipeline.report.page import render_page
from pipeline.report.spreadsheet import board_csv
from pipeline.report.terminal import print_boards
from pipeline.report.write import write_reports

__all__ = ["board_csv", "board_rows", "print_boards", "render_page", "write_reports"]
