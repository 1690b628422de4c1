"""Command `score`: predictions held against regions, without a release."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any, Final

import polars as pl
from pydantic import ValidationError
from rich.table import Table

from data_registry import plain_files
from data_registry.blobs import FolderGoneError, write_atomically
from data_registry.evaluation import SCORES
from flows.evaluation_text import reasons_text, settings_text
from flows.exits import counted, say
from flows.places import in_the_way, refuse_sealed
from flows.terminal import plain_text
from tasks.score import ScoreSettings, Total, failures, fates, score, totals
from tasks.score_files import read_predictions, read_regions

WIDTH: Final = 80
_SHOWN: Final = {
    "ur": "UR    touches the region",
    "hcc": "HCC   clearance compliance",
    "hpr": "HPR   proximity response",
    "d": "d     distance",
    "cts": "CTS   source to edited",
    "cts_x": "CTS_x longitudinal",
    "cts_y": "CTS_y lateral",
}
_IN_PERCENT: Final = ("ur", "hcc", "hpr")


class ScoreOptionsError(ValueError):
    """The options of `score` do not fit together."""


def score_files(regions: Path, predictions: Path, out: Path, options: dict[str, Any], as_json: bool) -> None:
    """Score a predictions file, write table SCORES to `out`, and print means and coverage.

    Raises:
        ScoreOptionsError: wrong settings, or `out` is not a plain file, lies in no folder that could be made, or is one
            of the files to read.
        RegionsFileError, PredictionsFileError: as their texts say; nothing is written then.
    """
    settings = _settings(options)
    _require_place(out, (regions, predictions))
    given = read_regions(regions)
    predicted = read_predictions(predictions, {region.pair_id for region in given})
    scores = score(given, predicted, settings)
    try:
        write_atomically(out, SCORES.encode(scores))
    except FolderGoneError as error:
        raise ScoreOptionsError(f"--out {error.strerror}") from error
    say(_document(out, scores, settings), _text(out, scores, settings), as_json)


def _settings(options: dict[str, Any]) -> ScoreSettings:
    try:
        return ScoreSettings.model_validate(options)
    except ValidationError as error:
        told = [f"{problem['loc'][0]}: {problem['msg'].removeprefix('Value error, ')}" for problem in error.errors()]
        raise ScoreOptionsError("; ".join(told)) from error


def _require_place(out: Path, inputs: tuple[Path, ...]) -> None:
    if out.is_dir():
        raise ScoreOptionsError(f"--out {out} is a folder: name a file, e.g. {out / 'scores.parquet'}")
    if in_the_way(out.absolute().parent):
        raise ScoreOptionsError(f"--out {out}: a file is where a folder is needed")
    refuse_sealed(out, "--out")
    try:
        plain_files.refuse_to_replace(out)
    except plain_files.NotPlainFileError as error:
        raise ScoreOptionsError(f"--out {error.strerror}") from error
    if any(os.path.realpath(out) == os.path.realpath(one) for one in inputs):  # a circle of symlinks is no error here
        raise ScoreOptionsError(f"--out {out} is one of the files to read: name another")


def _coverage(scores: pl.DataFrame) -> dict[str, int]:
    """Return how many pairs there are, and of how many the edited, and both predictions, are scored."""
    ended = fates(scores)
    scored, ineligible = ended.pop("ok", 0), ended.pop("ineligible", 0)
    failed = sum(ended.values())
    paired = int(scores["cts"].count())
    return {"pairs": scores.height, "scored": scored, "failed": failed, "ineligible": ineligible, "paired": paired}


def _document(out: Path, scores: pl.DataFrame, settings: ScoreSettings) -> dict[str, Any]:
    means: dict[str, dict[str, Any]] = {}
    for total in totals(scores):
        means.setdefault(total.metric, {})[total.mode] = {"n": total.n, "mean": total.mean}
    return {
        "scores": str(out),
        "settings": settings.model_dump(mode="json"),
        "coverage": _coverage(scores),
        "edited": fates(scores),
        "metrics": means,
    }


def _text(out: Path, scores: pl.DataFrame, settings: ScoreSettings) -> str:
    found = _coverage(scores)
    lines = [
        f"{counted(found['pairs'], 'pair')}, {settings_text(settings.model_dump(mode='json'))}",
        f"  scored     {found['scored']:>7,}  {_share(found['scored'], found['pairs'])} of the pairs",
        f"  failed     {found['failed']:>7,}  {reasons_text(failures(scores))}".rstrip(),
        f"  ineligible {found['ineligible']:>7,}",
        f"  both       {found['paired']:>7,}  source and edited prediction: those that CTS is about",
    ]
    notes = "strict: failed predictions count UR 100 %, HCC 0 %, HPR 0 %; plain: left out"
    parts = [*_wrapped(lines), "", _table(totals(scores)), f"{notes}\n{out}: one row a pair"]
    return plain_text(*parts, width=WIDTH).rstrip()


def _wrapped(lines: list[str]) -> list[str]:
    """Return lines cut into ones that fit, the later ones set in."""
    return [part for line in lines for part in textwrap.wrap(line, WIDTH, subsequent_indent=" " * 22) or [line]]


def _table(found: list[Total]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("mean of")
    for name in ("plain", "n", "strict", "n"):
        table.add_column(name, justify="right", min_width=9)
    by = {(total.metric, total.mode): total for total in found}
    for metric, words in _SHOWN.items():
        cells = [cell for mode in ("plain", "strict") for cell in _cells(by.get((metric, mode)))]
        table.add_row(words, *cells)
    return table


def _cells(total: Total | None) -> tuple[str, str]:
    if total is None:
        return "", ""
    if total.mean is None:
        return "-", "0"
    value = f"{100 * total.mean:.2f} %" if total.metric in _IN_PERCENT else f"{total.mean:.3f} m"
    return value, f"{total.n:,}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"
