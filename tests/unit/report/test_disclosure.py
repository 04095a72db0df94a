"""What reports may show: nothing that a dataset's disclosure holds back is in any of their files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from made_grid import TIDY, make_grid

from pipeline.engine.result import Result
from pipeline.errors import Finding
from pipeline.grid.disclosure import Disclosure, levels_of, parse
from pipeline.protocols import find
from pipeline.protocols import signature as signature_of
from pipeline.protocols.base import Conclusion
from pipeline.report.disclosure import COARSE_P_FA, disclosed
from pipeline.report.overlays import named_in
from pipeline.report.write import write_reports
from pipeline.store.blobs import Store

SECRET_QUERY, SECRET_WORD, SECRET_PLACE = "KW-SECRET-77", "sesame-word", "rec_0042_1234.5"
WITHDRAWN_QUERY = "KW-WITHDRAWN-9"
SECRET_COUNT = 987654321.0
NEXT_TO_IT = "KW-OPEN-11"


def secret(result: Result, dataset: str) -> Result:
    """A result with everything that could tell the key, where it is of this dataset."""
    if result.failed is not None and dataset == result.cell.dataset:
        finding = Finding("unknown_query", f"{WITHDRAWN_QUERY} and {WITHDRAWN_QUERY}x are on no list", "o.xml:3")
        signature = f"{result.signature}|withdrawn:'{WITHDRAWN_QUERY}\\nQ'"
        return replace(result, signature=signature, findings=(*result.findings, finding), n_findings=1)
    if result.failed is not None:
        return result
    mine = result.cell is not None and result.cell.dataset == dataset
    name, count = (SECRET_QUERY, SECRET_COUNT) if mine else (NEXT_TO_IT, 3.0)
    block = {"id": name, "text": name, "n_target": count, "n_hit": 1.0, "twv": 0.25}
    rows = ({"reference": SECRET_WORD, "output": "x", "kind": "sub", "n": 2, "place": SECRET_PLACE},)
    step = ["S", SECRET_WORD, "x", 0.5]
    segment = {"id": "s1", "file": SECRET_PLACE, "channel": "1", "begin_s": 0.0, "end_s": 1.0, "steps": [step]}
    tables = {"confusions": rows, "alignment": (segment,)} if mine else {}
    part = Conclusion(figures=result.figures, blocks=(block,), curve={}, facts={}, tables=tables)
    signature = f"{result.signature}|withdrawn:'{WITHDRAWN_QUERY}\\nQ'" if mine else result.signature
    fields = {
        **result.__dict__,
        "signature": signature,
        "blocks": (block,),
        "tables": tables,
        "conditions": {"T1": part},
    }
    return Result(**fields)


def made(level: str) -> tuple[dict[str, xr.Dataset], list[Result]]:
    """The made grid with queries; ``eval`` at a level."""
    grid, results = make_grid(TIDY)
    results = [secret(result, "eval") for result in results]
    systems, queries, counts = list(TIDY), [NEXT_TO_IT, SECRET_QUERY], ["n_target", "n_hit", "twv"]
    value = np.full((6, 2, 2, 2, 3), np.nan)
    value[:, :, 0, 0], value[:, :, 1, 1] = (3.0, 1.0, 0.25), (SECRET_COUNT, 1.0, 0.25)
    grid["queries"] = xr.Dataset(
        {
            "value": (("system", "query_set", "dataset", "query", "count"), value),
            "text": ("query", queries),
        },
        coords={
            "system": systems,
            "query_set": ["dev", "eval"],
            "dataset": ["dev", "eval"],
            "query": queries,
            "count": counts,
        },
    )
    overlay = {"kind": "withdraw_queries", "values": [WITHDRAWN_QUERY], "author": "A", "reason": "R", "date": "D"}
    told = xr.where(
        (grid[""]["failed"] == "") | (grid[""]["dataset"] == "dev"), "", f"seen {WITHDRAWN_QUERY}, which is on no list"
    ).astype(object)
    grid[""] = grid[""].assign(failed_message=told.transpose(*grid[""]["failed_message"].dims))
    root = grid[""].assign(disclosure=("dataset", ["everything", level]), signature=withdrawn(grid[""]["signature"]))
    grid[""] = root.assign_attrs(overlays=json.dumps([{**overlay, "datasets": ["eval"]}]))
    return grid, results


def withdrawn(signature: xr.DataArray) -> xr.DataArray:
    """Signatures of the dataset ``eval`` with two queries withdrawn, one of them secret."""
    added = xr.where(signature["dataset"] == "eval", f"|withdrawn:'{WITHDRAWN_QUERY}\\nQ'", "").astype(object)
    return (signature.astype(object) + added).transpose(*signature.dims)


def files_of(level: str, folder: Any) -> dict[str, bytes]:
    store = Store(str(folder))
    return {name: store.get(path) for name, path in write_reports(store, "reports/x/1", *made(level)).items()}


@pytest.mark.parametrize("level", ["no_key", "selection:atwv", "held"])
def test_the_bytes_of_no_file_hold_a_row_of_the_key(level, tmp_path):
    files = files_of(level, tmp_path)
    assert len(files) == 7 + 2 * 6
    for name, data in files.items():
        bare = data.replace(f"{WITHDRAWN_QUERY}x".encode(), b"")  # another query, which is not withdrawn
        for word in (SECRET_QUERY, SECRET_WORD, SECRET_PLACE, "987654321"):
            assert word.encode() not in data, f"{word} is in {name}"
        assert WITHDRAWN_QUERY.encode() not in bare, name
    assert NEXT_TO_IT.encode() in files["index.html"]
    assert b"withdrawn:2 not disclosed" in files["boards.json"]


def test_a_refused_output_is_told_without_what_is_withdrawn():
    _, kept = disclosed(*made("held"))
    told = [f.message for r in kept if r.failed and r.cell.dataset == "eval" for f in r.findings]
    assert f"(not disclosed) and {WITHDRAWN_QUERY}x are on no list" in told


@pytest.mark.parametrize("spelled", ["q|17", "é 'x'", "a\nb|c", "plain", "none\nq"])
def test_names_in_a_signature_are_found_however_it_spells_them(spelled):
    protocol = find("openkws13", overrides={"withdrawn": spelled})
    assert set(named_in(signature_of(protocol, ()))) == set(spelled.split("\n")) - {"none"}


def test_all_of_it_is_there_where_everything_may_be_shown(tmp_path):
    files = files_of("everything", tmp_path)
    assert SECRET_QUERY.encode() in files["index.html"]
    assert SECRET_QUERY.encode() in files["queries.csv"]
    assert all(WITHDRAWN_QUERY.encode() in files[name] for name in ("index.html", "boards.json", "results.json"))
    assert SECRET_PLACE.encode() in files["results.json"]


def test_without_the_key_figures_and_ranks_stay_and_thresholds_go():
    grid, results = made("no_key")
    shown, kept = disclosed(grid, results)
    both = (grid[""].sel(dataset="eval"), shown[""].sel(dataset="eval"))
    for measure in ("atwv", "mtwv", "cnxe"):
        assert both[0]["value"].sel(measure=measure).equals(both[1]["value"].sel(measure=measure))
    assert both[0]["rank"].equals(both[1]["rank"])
    assert np.isnan(both[1]["value"].sel(measure="mtwv_threshold")).all()
    one = next(result for result in kept if result.cell.dataset == "eval" and result.failed is None)
    assert one.figures["mtwv_threshold"].reason == "not_disclosed"
    assert (one.blocks, one.curve, one.tables, one.conditions["T1"].blocks) == ((), {}, {}, ())


def test_curves_without_the_key_have_no_steps_of_single_trials():
    grid, results = made("no_key")
    curves = disclosed(grid, results)[0]["curves"]
    first, last = (curves[name].sel(system=TIDY[0], query_set="dev").values for name in ("first", "last"))
    eval_rows, dev_rows = slice(first[1], last[1]), slice(first[0], last[0])
    assert last[1] - first[1] <= len(COARSE_P_FA)
    assert set(curves["p_fa"].values[eval_rows]) <= set(COARSE_P_FA)
    assert np.isnan(curves["threshold"].values[eval_rows]).all()
    assert last[0] - first[0] == 221
    assert np.isfinite(curves["threshold"].values[dev_rows][:-1]).all()


def test_a_selection_shows_its_measures_and_no_other():
    shown, kept = disclosed(*made("selection:atwv"))
    root = shown[""].sel(dataset="eval", condition="all")
    assert np.isfinite(root["value"].sel(measure="atwv")).any()
    assert np.isnan(root["value"].drop_sel(measure="atwv")).all()
    one = next(result for result in kept if result.cell.dataset == "eval" and result.failed is None)
    assert [name for name, figure in one.figures.items() if not math.isnan(figure.value)] == ["atwv"]
    assert one.facts == {}


def test_what_is_held_tells_only_why_outputs_were_refused():
    shown, kept = disclosed(*made("held"))
    root = shown[""].sel(dataset="eval")
    assert np.isnan(root["value"]).all()
    assert (root["rank"] == 0).all()
    assert set(np.unique(root["failed"].values.astype(str))) == {"held", "missing_output"}
    assert not any(result.figures for result in kept if result.cell.dataset == "eval")


def test_levels_read_back_and_what_is_not_understood_shows_nothing():
    for text in ("everything", "no_key", "held", "selection:atwv,mtwv"):
        assert str(parse(text)) == text
    assert parse("evrything").level == "held"
    assert Disclosure("selection", ("atwv",)).shows("mtwv") is False
    assert levels_of(make_grid(TIDY)[0])["eval"].shows_all


def test_documents_of_a_held_dataset_are_strict_json_without_figures(tmp_path):
    stored = json.loads(files_of("held", tmp_path)["results.json"])
    mine = [one for one in stored["results"] if one["cell"]["dataset"] == "eval"]
    assert mine
    assert not any("measures" in one for one in mine)
