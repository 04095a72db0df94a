"""The places of a run that a person is told: files by name, of many files their folder."""

from pipeline.grid import Run


def test_folders_stand_for_the_files_of_boards_systems_and_cells() -> None:
    base = "reports/e/0123"
    names = ("index.html", "boards.json", "boards/001-q-d.html", "boards/001-q-d.json", "systems/001-a.html")
    cell = {"q/d/a/alignment.csv": f"{base}/q/d/a/alignment.csv"}
    reports = {**{name: f"{base}/{name}" for name in names}, **cell}
    run = Run("0123", "e", "plan", "grids/e/0123.zarr.zip", {"q/d/a": "r"}, reports, 1, 0)
    assert run.places == {
        "index.html": f"{base}/index.html",
        "boards.json": f"{base}/boards.json",
        "boards": f"{base}/boards",
        "systems": f"{base}/systems",
        "alignments": base,
        "grid": "grids/e/0123.zarr.zip",
    }
