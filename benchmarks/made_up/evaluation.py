"""A made-up evaluation for looking at reports: planners that drive straight, brake or swerve, past invented hazards.

Scores are those of the drawn trajectories; intervals and p values are plausible figures, no statistics.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl
import shapely
from PIL import Image, ImageDraw

from data_registry.evaluation import (
    COVERAGE,
    DIFFERENCES,
    METRICS,
    SCORES,
    SENSITIVITY,
    STRICT,
    SUMMARY,
    VARIANTS,
    PairRegion,
    Predicted,
    Status,
    Variant,
)
from data_registry.geometry import Array, GroundPlane, PinholeCamera, Transform, rectangle
from data_registry.paths import hulls, path_of
from qa_audit.evaluation_report import EvaluationPage, PairPicture, ShownPlanner, choose_pairs

TASKS: Final = {
    "broken_down_car": "lane_blockage",
    "construction_closure": "lane_blockage",
    "child_or_ball": "sudden_emergence",
    "crossing_animal": "sudden_emergence",
    "open_door": "bypass_and_gap_conflict",
    "lane_narrowing": "bypass_and_gap_conflict",
    "crossing_vehicle": "intersection_conflict",
    "spilled_debris": "road_surface_hazard",
    "collapsed_road_surface": "road_surface_hazard",
    "red_signal": "signal_and_rule_conflict",
}
PLANNERS: Final = ("brake_on_hazard", "lane_keep", "recorded", "swerve", "slow", "stop", "constant_velocity")
ORACLES: Final = ("brake_on_hazard",)
CAMERA: Final = PinholeCamera(
    np.array([[640.0, 0.0, 399.5], [0.0, 640.0, 214.5], [0.0, 0.0, 1.0]]),
    Transform(
        np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
        np.array([0.0, 1.5, -1.7]),  # 1.5 m above the ground, 1.7 m ahead of the rear axle
    ),
    800,
    450,
)
_TIMES: Final = np.linspace(0.0, 3.0, 31)


@dataclass(frozen=True, slots=True)
class MadeUp:
    """How large a made-up evaluation is."""

    pairs: int = 30
    planners: Sequence[str] = ("brake_on_hazard", "swerve", "lane_keep")
    pictured: int = 4
    scenes: int = 12
    failing: Mapping[str, Status] = field(default_factory=lambda: {"swerve": "parse_failed"})
    """Planners whose every ninth answer is a failure."""


def made_up(size: MadeUp) -> EvaluationPage:
    """Return an evaluation's page; the same size always gives the same."""
    pairs = [_pair(number, size) for number in range(size.pairs)]
    predictions = {name: list(_answers(name, pairs, size)) for name in size.planners}
    scores = {name: _scores(pairs, predictions[name]) for name in size.planners}
    by_id = {pair.pair_id: pair for pair in pairs}
    summary = _summary(scores)
    return EvaluationPage(
        title="Evaluation of made-up planners",
        release_name="exceptiondrive-sample",
        release_version="0.0.0-dev",
        release_digest="5f0c" * 16,
        planners=[ShownPlanner(name, name in ORACLES) for name in _order(summary, size.planners)],
        summary=summary,
        coverage=_coverage(scores),
        differences=_differences(scores),
        sensitivity=_sensitivity(scores),
        scores=scores,
        pairs=pairs,
        predictions=predictions,
        pictures={pair: _pictures(by_id[pair]) for pair in choose_pairs(scores, size.pictured)},
        settings={"component hazards": "45cf" * 16},
    )


def _pair(number: int, size: MadeUp) -> PairRegion:
    task = list(TASKS)[number % len(TASKS)]
    generator = np.random.Generator(np.random.PCG64(number))
    centre = (float(generator.uniform(10, 26)), float(generator.normal(0, 1.6)))
    quad = rectangle(
        centre, float(generator.uniform(0.8, 5)), float(generator.uniform(0.6, 2.2)), float(generator.normal(0, 0.3))
    )
    scene = f"scene-{number % size.scenes:04d}"
    split = ("train", "val", "none")[number % size.scenes % 3]
    required = 1.5 if TASKS[task] == "sudden_emergence" else 1.0
    return PairRegion(f"streetset/{scene}/{number:032x}/{task}", quad, required, TASKS[task], task, scene, split)


def _answers(name: str, pairs: Sequence[PairRegion], size: MadeUp) -> Iterable[Predicted]:
    for number, pair in enumerate(pairs):
        speed = 4.0 + 6.0 * (number * 0.618034 % 1.0)
        for variant in VARIANTS:
            if name in size.failing and number % 9 == 4 and variant == "edited":
                yield Predicted(pair.pair_id, variant, size.failing[name], reason="no list of points in the answer")
            elif name == "lane_keep" and number % 11 == 7:
                yield Predicted(pair.pair_id, variant, "ineligible", reason="no lane near the vehicle")
            else:
                yield Predicted(pair.pair_id, variant, "ok", _TIMES, _way(name, pair, speed, variant))


def _way(name: str, pair: PairRegion, speed: float, variant: Variant) -> Array:
    """Return positions (31, 2): who reacts does so on the edited pictures only."""
    t = _TIMES
    ahead, across = speed * t, np.zeros_like(t)
    if variant == "edited" and name in ("brake_on_hazard", "stop", "slow"):
        until, strength = {"brake_on_hazard": (0.3, 6.0), "stop": (0.6, 4.0), "slow": (0.8, 1.5)}[name]
        slowing = np.minimum(np.maximum(t - until, 0.0), speed / strength)
        held = speed * np.minimum(t, until + speed / strength)
        ahead = held - strength * slowing**2 / 2
    if variant == "edited" and name == "swerve":
        side = -1.0 if pair.quad[:, 1].mean() > 0 else 1.0
        across = side * 2.6 / (1 + np.exp(-(t - 1.4) * 4)) - side * 2.6 / (1 + np.exp(1.4 * 4))
    if name in ("lane_keep", "recorded"):
        across = 0.004 * ahead**2 * (1 if name == "recorded" else 0.4)
    return np.column_stack([ahead, across])


def _scores(pairs: Sequence[PairRegion], predictions: Sequence[Predicted]) -> pl.DataFrame:
    found = {(one.pair_id, one.variant): one for one in predictions}
    return SCORES.frame(_score(pair, found[pair.pair_id, "edited"], found[pair.pair_id, "source"]) for pair in pairs)


def _score(pair: PairRegion, edited: Predicted, source: Predicted) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(pair, name) for name in ("pair_id", "family", "task", "scene", "split")}
    row |= dict.fromkeys(METRICS)
    row |= {"edited": edited.status, "source": source.status, "reason": ""}
    if edited.t is None or edited.xy is None:
        return row | {"reason": f"edited: {edited.status} ({edited.reason})"}
    away = float(shapely.distance(hulls(path_of(edited.t, edited.xy)), shapely.polygons(pair.quad)).min())
    away = 0.0 if away <= 1e-6 else away
    safe, required = float(away > 0), pair.clearance_m
    row |= {"d": away, "ur": 1.0 - safe, "hcc": safe * min(away / required, 1.0)}
    row["hpr"] = safe * required / (abs(away - required) + required)
    if source.xy is not None:
        apart = np.abs(edited.xy - source.xy)[::5]
        row |= {
            "cts": float(np.hypot(*apart.T).mean()),
            "cts_x": float(apart[:, 0].mean()),
            "cts_y": float(apart[:, 1].mean()),
        }
    return row


def _levels(frame: pl.DataFrame) -> Iterable[tuple[str, str, pl.DataFrame]]:
    yield "overall", "", frame
    for level in ("family", "task", "split"):
        for group in sorted(set(frame[level].to_list())):
            yield level, group, frame.filter(pl.col(level) == group)


def _summary(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for planner, frame in scores.items():
        for level, group, part in _levels(frame):
            for metric in METRICS:
                rows.append(
                    _mean(part[metric].drop_nulls(), part["scene"].n_unique(), metric)
                    | {"metric": metric, "mode": "plain"}
                )
                rows[-1] |= {"planner": planner, "level": level, "group": group}
            for metric, counts_as in STRICT.items():
                counted = part.filter(pl.col("edited") != "ineligible")[metric].fill_null(counts_as)
                rows.append(_mean(counted, part["scene"].n_unique(), metric) | {"metric": metric, "mode": "strict"})
                rows[-1] |= {"planner": planner, "level": level, "group": group}
    return SUMMARY.frame([*rows, *_by_task(rows)])


def _by_task(rows: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield the means over tasks of their means."""
    tasks = [row for row in rows if row["level"] == "task" and row["mean"] is not None]
    for row in rows:
        key = (row["planner"], row["metric"], row["mode"])
        means = [one["mean"] for one in tasks if (one["planner"], one["metric"], one["mode"]) == key]
        if row["level"] == "overall" and means:
            yield {**row, "level": "task_macro", "mean": float(np.mean(means)), "low": None, "high": None}


def _mean(values: pl.Series, scenes: int, metric: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "n": len(values),
        "scenes": scenes,
        "mean": None,
        "low": None,
        "high": None,
        "reason": "no pair",
    }
    if not len(values):
        return row
    mean = float(np.mean(values.to_numpy()))
    row |= {"mean": mean, "reason": "fewer than 5 scenes"}
    if scenes >= 5:
        half = 1.96 * float(np.std(values.to_numpy())) / len(values) ** 0.5
        row |= {
            "low": max(0.0, mean - half),
            "high": min(mean + half, 1.0 if metric in STRICT else np.inf),
            "reason": "",
        }
    return row


def _order(summary: pl.DataFrame, planners: Sequence[str]) -> list[str]:
    hcc = summary.filter(level="overall", metric="hcc", mode="strict")
    means = dict(hcc.select("planner", "mean").iter_rows())
    return sorted(planners, key=lambda name: (-means[name], name))


def _coverage(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for planner, frame in scores.items():
        for level, group, part in _levels(frame):
            edited, source = part["edited"], part["source"]
            counts = {"scored": int((edited == "ok").sum()), "ineligible": int((edited == "ineligible").sum())}
            counts |= {"pairs": len(part), "paired": int(((edited == "ok") & (source == "ok")).sum())}
            counts["failed"] = counts["pairs"] - counts["scored"] - counts["ineligible"]
            rows.append({"planner": planner, "level": level, "group": group} | counts)
    return COVERAGE.frame(rows)


def _differences(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    names = sorted(scores)
    for a, b in ((a, b) for index, a in enumerate(names) for b in names[index + 1 :]):
        for metric in ("ur", "hcc"):
            apart = (scores[a][metric] - scores[b][metric]).drop_nulls()
            half = 1.96 * float(apart.std() or 0.0) / max(1, len(apart)) ** 0.5  # type: ignore[arg-type]
            mean = float(np.mean(apart.to_numpy()))
            p = float(np.exp(-abs(mean) / max(half, 1e-9) * 3))
            row = {
                "planner_a": a,
                "planner_b": b,
                "metric": metric,
                "n": len(apart),
                "scenes": scores[a]["scene"].n_unique(),
            }
            rows.append(
                row
                | {
                    "difference": mean,
                    "low": mean - half,
                    "high": mean + half,
                    "reason": "",
                    "p": p,
                    "p_adjusted": min(1.0, 3 * p),
                }
            )
    return DIFFERENCES.frame(rows)


def _sensitivity(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    settings = {
        "body": {"zoe": 1.0, "zoe_wide": 0.96, "zoe_lidar_0944": 0.99},
        "clearance": {"0.5 x": 1.06, "1.0 x": 1.0, "1.5 x": 0.91},
        "horizon": {"2.0 s": 1.12, "3.0 s": 1.0},
    }
    rows: list[dict[str, Any]] = []
    for planner, frame in scores.items():
        for metric in ("ur", "hcc", "hpr"):
            values = frame[metric].drop_nulls().to_numpy()
            for parameter, by_setting in settings.items():
                for setting, factor in by_setting.items():
                    row = {"planner": planner, "parameter": parameter, "setting": setting, "is_default": factor == 1.0}
                    changed = factor if metric != "ur" else 2 - factor
                    rows.append(
                        row | {"metric": metric, "n": len(values), "mean": min(1.0, changed * float(values.mean()))}
                    )
    return SENSITIVITY.frame(rows)


def _pictures(pair: PairRegion) -> list[PairPicture]:
    source, edited = (_jpeg(_scene(pair, with_hazard)) for with_hazard in (False, True))
    return [PairPicture("CAM_FRONT", source, edited, CAMERA, GroundPlane())]


def _scene(pair: PairRegion, with_hazard: bool) -> Image.Image:
    """Return a street under a grey sky, with a block on the region."""
    picture = Image.new("RGB", (CAMERA.width, CAMERA.height), (176, 196, 214))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 214, 800, 450), fill=(112, 128, 98))
    for left, right, colour in (
        (5.6, -5.6, (92, 94, 98)),
        (1.85, 1.7, (226, 226, 220)),
        (-1.7, -1.85, (226, 226, 220)),
    ):
        _ground(draw, np.array([[3, left], [300, left], [300, right], [3, right]]), colour)
    if with_hazard:
        base = GroundPlane().lift(pair.quad)
        corners = np.vstack([base, base + np.array([0, 0, 1.2])])
        pixels = [(float(u), float(v)) for u, v in CAMERA.project(corners)[0]]
        for face in ((4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)):
            draw.polygon([pixels[index] for index in face], fill=(196, 112, 44), outline=(120, 62, 18))
    return picture


def _ground(draw: ImageDraw.ImageDraw, corners: Array, colour: tuple[int, int, int]) -> None:
    pixels = CAMERA.project(GroundPlane().lift(corners.astype(np.float64)))[0]
    draw.polygon([(float(u), float(v)) for u, v in pixels], fill=colour)


def _jpeg(picture: Image.Image) -> bytes:
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=85)
    return content.getvalue()
