"""The block of data that a report's scripts draw from: pairs, scores, trajectories, pictures."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from data_registry.evaluation import METRICS, VARIANTS, PairRegion, Predicted
from qa_audit.evaluation_report.page import EvaluationPage, PairPicture
from qa_audit.evaluation_report.projections import seen_area, seen_line, swept_outline
from qa_audit.evaluation_report.trajectories import TrajectoryWriter, drawable, planned
from qa_audit.evaluation_report.wording import titled

_DECIMALS: Final = 4
_ESCAPED: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'"}
"""Signs that could end or open something in HTML; JSON has them only inside strings."""


class Words:
    """Texts that many rows share, each kept once."""

    def __init__(self) -> None:
        """Begin with none."""
        self.listed: list[str] = []
        self._known: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the text's number."""
        if text not in self._known:
            self._known[text] = len(self.listed)
            self.listed.append(text)
        return self._known[text]

    def numbers(self, texts: Sequence[str]) -> list[int]:
        """Return the numbers of several texts."""
        return [self.number(text) for text in texts]


def as_json(value: Any) -> str:
    """Return JSON that may stand in any place of an HTML page: ASCII only, without signs that mean something there."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).translate(_ESCAPED)


def payload(page: EvaluationPage) -> dict[str, Any]:
    """Return everything that the page's scripts need, as plain values."""
    words = Words()
    pairs = sorted(page.pairs, key=lambda pair: pair.pair_id)
    paths = TrajectoryWriter(page.horizon_s)
    order = [*page.ranked, *page.oracles]
    answers = {planner.name: planned(page.predictions[planner.name]) for planner in order}
    made: dict[str, Any] = {
        "release": f"{page.release_name} {page.release_version}",
        "body": [page.body.length_m, page.body.width_m, page.body.axle_to_centre_m],
        "horizon": page.horizon_s,
        "pairs": _pairs(pairs, page.clearance_factor, words),
        "planners": [
            {
                "name": planner.name,
                "oracle": planner.knows_region,
                **_scores(page.scores[planner.name], words),
                **_answers(pairs, answers[planner.name], paths, words),
            }
            for planner in order
        ],
    }
    shown = {pair.pair_id: number for number, pair in enumerate(pairs)}
    made["pictures"] = {
        str(shown[pair]): [_picture(pairs[shown[pair]], one, page, answers) for one in page.pictures[pair]]
        for pair in sorted(page.pictures)
    }
    made["paths"], made["words"] = paths.written(), words.listed
    made["titles"] = {word: titled(word) for word in words.listed if "_" in word and " " not in word}
    return made


def _pairs(pairs: Sequence[PairRegion], factor: float, words: Words) -> dict[str, Any]:
    columns = {
        name: words.numbers([getattr(pair, name) for pair in pairs]) for name in ("family", "task", "scene", "split")
    }
    return {
        "id": [pair.pair_id for pair in pairs],
        **columns,
        "quad": [np.round(pair.quad, 2).ravel().tolist() for pair in pairs],
        "clearance": [round(pair.clearance_m * factor, 3) for pair in pairs],
    }


def _scores(frame: pl.DataFrame, words: Words) -> dict[str, Any]:
    """Return one planner's scores in columns, in the order of pair ids, as the frame is."""
    columns: dict[str, Any] = {name: frame[name].round(_DECIMALS).to_list() for name in METRICS}
    columns["ur"] = [None if value is None else int(value) for value in columns["ur"]]
    return columns | {name: words.numbers(frame[name].to_list()) for name in ("edited", "source", "reason")}


def _answers(
    pairs: Sequence[PairRegion], answers: Mapping[tuple[str, str], Predicted], paths: TrajectoryWriter, words: Words
) -> dict[str, Any]:
    """Return the numbers of a planner's trajectories by variant and pair, -1 for none, and its own words for why."""
    made: dict[str, Any] = {}
    for variant in VARIANTS:
        found = [answers.get((pair.pair_id, variant)) for pair in pairs]
        made[f"{variant}_path"] = [-1 if one is None else paths.add(one) for one in found]
        made[f"{variant}_why"] = words.numbers(["" if one is None else one.reason for one in found])
    return made


def _picture(
    pair: PairRegion,
    picture: PairPicture,
    page: EvaluationPage,
    answers: Mapping[str, Mapping[tuple[str, str], Predicted]],
) -> dict[str, Any]:
    """Return a view: its pictures, the region in it, and each planner's way in it."""
    camera, ground = picture.camera, picture.ground
    return {
        "sensor": picture.sensor_id,
        "size": [camera.width, camera.height],
        "source": base64.b64encode(picture.source).decode("ascii"),
        "edited": base64.b64encode(picture.edited).decode("ascii"),
        "region": seen_area(pair.quad, camera, ground),
        "ways": [
            [_way(found.get((pair.pair_id, variant)), picture, page) for variant in VARIANTS]
            for found in (answers[planner.name] for planner in [*page.ranked, *page.oracles])
        ],
    }


def _way(predicted: Predicted | None, picture: PairPicture, page: EvaluationPage) -> dict[str, Any] | None:
    """Return the line of the rear axle and the ground that the body passes, in pixels; None without a trajectory."""
    path = None if predicted is None else drawable(predicted, page.horizon_s)
    if path is None:
        return None
    t, xy, heading = path
    outline = swept_outline(t, xy, heading, page.body)
    return {
        "line": seen_line(xy, picture.camera, picture.ground),
        "body": seen_area(outline, picture.camera, picture.ground),
    }
