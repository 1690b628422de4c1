"""Scores of a planner's predictions, one row a pair: UR, HCC, HPR, d, CTS (DESIGN section 5, facts of the paper).

A failed prediction is never turned into a trajectory: its metrics are null, and the row says why. What a failure counts
as is decided where rows are summed up (`totals`): left out of plain means, the worst in strict ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

from data_registry.evaluation import METRICS, SCORES, STRICT, Flaw, PairRegion, Predicted, Status, Variant
from data_registry.geometry import BODIES, Array
from data_registry.path_steps import mean_offsets
from data_registry.paths import HORIZON_S
from data_registry.swept_distance import swept_distance
from data_registry.trajectories import LARGEST, flaw_of, path_of_trajectory

CTS_STEP_S: Final = 0.5
"""Grid of times at which source and edited prediction are compared; from 0 as far as the horizon lets it."""

_NO_FAILURES: Final = ("ok", "ineligible")
Mode = Literal["plain", "strict"]


class ScoreInputError(ValueError):
    """Predictions do not belong to the pairs, or two of them answer the same case."""


class ScoreSettings(BaseModel, frozen=True):
    """What scores hang on beside regions and predictions."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    body: str = "zoe"
    """Preset of the ego body, one of `data_registry.geometry.BODIES`."""
    horizon_s: Annotated[float, Field(gt=0, le=60)] = HORIZON_S
    """Seconds of a trajectory that are scored."""
    clearance_factor: Annotated[float, Field(gt=0, le=1000)] = 1.0
    """What the required clearance of every pair is multiplied by."""

    @field_validator("body")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in BODIES:
            raise ValueError(f"there is no body {name!r}; there are {', '.join(sorted(BODIES))}")
        return name

    def grid(self) -> Array:
        """Return the times (K,) at which predictions are compared, seconds: 0, 0.5, .. up to the horizon."""
        return _grid(self.horizon_s)


@lru_cache(maxsize=8)
def _grid(horizon_s: float) -> Array:
    return np.arange(int(horizon_s / CTS_STEP_S + 1e-9) + 1) * CTS_STEP_S


_WORDS: Final[Mapping[Status | Flaw, str]] = {
    "parse_failed": "the answer could not be read",
    "truncated": "the answer was cut off",
    "missing": "there is no prediction",
    "error": "the planner failed",
    "ineligible": "the case lacks what the planner needs",
    "not_finite": f"a number is missing, not finite or beyond {LARGEST:.0e}",
    "length": "times, positions and headings are not equally many, or none",
    "order": "the times do not increase strictly",
    "start": "it does not start at time 0 in (0, 0)",
    "short": "it ends before the horizon",
    "heading_start": "its first heading is more than 5 degrees from the vehicle's",
}


def score(
    regions: Sequence[PairRegion], predicted: Iterable[Predicted], settings: ScoreSettings | None = None
) -> pl.DataFrame:
    """Score a planner's predictions: one row of SCORES for each region, sorted by pair.

    Raises:
        ScoreInputError: a prediction is about no region's pair, two are about the same pair and variant, or a clearance
            is too small for its factor.
        TableError: two regions are of the same pair.
    """
    chosen = settings or ScoreSettings()
    answers = _by_case(regions, predicted)
    _refuse_no_clearance(regions, chosen.clearance_factor)
    rows = [_row(region, answers, chosen) for region in regions]
    columns = {name: [row[name] for row in rows] for name in SCORES.columns}
    frame = pl.DataFrame(columns, schema={name: column.dtype for name, column in SCORES.columns.items()})
    return SCORES.checked(frame.sort("pair_id"))


def _refuse_no_clearance(regions: Sequence[PairRegion], factor: float) -> None:
    """Refuse clearances that are 0 once multiplied: metrics divide by them."""
    for region in regions:
        if not region.clearance_m * factor > 0:
            raise ScoreInputError(
                f"{region.pair_id}: clearance_m {region.clearance_m!r} times clearance_factor {factor!r} is not above"
                " 0: choose a larger one"
            )


def _by_case(regions: Sequence[PairRegion], predicted: Iterable[Predicted]) -> dict[tuple[str, Variant], Predicted]:
    known = {region.pair_id for region in regions}
    answers: dict[tuple[str, Variant], Predicted] = {}
    for one in predicted:
        case = (one.pair_id, one.variant)
        if one.pair_id not in known or case in answers:
            raise ScoreInputError(
                f"{one.pair_id} {one.variant}: {'answered twice' if case in answers else 'no such pair'}"
            )
        answers[case] = one
    return answers


def _row(
    region: PairRegion, answers: Mapping[tuple[str, Variant], Predicted], settings: ScoreSettings
) -> dict[str, Any]:
    edited, path, why = _followed("edited", answers.get((region.pair_id, "edited")), settings)
    source, source_path, source_why = _followed("source", answers.get((region.pair_id, "source")), settings)
    row: dict[str, Any] = dict.fromkeys(METRICS)
    if path is not None:
        row |= _safety(path, region, settings)
        if source_path is not None:
            row |= dict(zip(("cts", "cts_x", "cts_y"), mean_offsets(path, source_path, settings.grid()), strict=True))
    of_pair = {
        "pair_id": region.pair_id,
        "family": region.family,
        "task": region.task,
        "scene": region.scene,
        "split": region.split,
    }
    return of_pair | row | {"edited": edited, "source": source, "reason": "; ".join(filter(None, (why, source_why)))}


def _followed(
    variant: Variant, answer: Predicted | None, settings: ScoreSettings
) -> tuple[Status | Flaw, Array | None, str]:
    """Return what became of a prediction, its path when it has one, and in words why it has none."""
    found: Status | Flaw = answer.status if answer else "missing"
    if answer is not None and answer.status == "ok":
        trajectory = _numbers(answer.t), _numbers(answer.xy), answer.heading
        flaw = flaw_of(*trajectory, settings.horizon_s)
        if flaw is None:
            return "ok", path_of_trajectory(*trajectory, settings.horizon_s), ""
        found = flaw
    told = f" ({answer.reason})" if answer and answer.reason else ""
    return found, None, f"{variant}: {_WORDS[found]}{told}"


def _numbers(given: Array | None) -> Array:
    return np.empty(0) if given is None else given


def _safety(path: Array, region: PairRegion, settings: ScoreSettings) -> dict[str, float]:
    """Return ur, d, hcc and hpr of a path; the formulas divided by the clearance, so that no sum overflows."""
    gap = swept_distance(path, region.quad, BODIES[settings.body])
    if gap == 0.0:
        return {"ur": 1.0, "d": 0.0, "hcc": 0.0, "hpr": 0.0}
    share = gap / (region.clearance_m * settings.clearance_factor)
    return {"ur": 0.0, "d": gap, "hcc": min(share, 1.0), "hpr": 1.0 / (abs(share - 1.0) + 1.0)}


@dataclass(frozen=True, slots=True)
class Total:
    """A mean over the rows that count for it."""

    metric: str
    mode: Mode
    n: int
    mean: float | None
    """None when no row counts."""


def totals(scores: pl.DataFrame) -> list[Total]:
    """Return the mean of each metric over all rows of SCORES: plain, and where failures count, strict."""
    return list(_totals(scores))


def _totals(scores: pl.DataFrame) -> Iterator[Total]:
    failed = ~scores["edited"].is_in(_NO_FAILURES)
    for metric in METRICS:
        values = scores[metric].drop_nulls()
        yield Total(metric, "plain", len(values), _mean(values))
        if metric in STRICT:
            whole = values.append(pl.Series(metric, [STRICT[metric]] * int(failed.sum()), dtype=pl.Float64))
            yield Total(metric, "strict", len(whole), _mean(whole))


def _mean(values: pl.Series) -> float | None:
    return float(np.mean(values.to_numpy())) if len(values) else None


def fates(scores: pl.DataFrame) -> dict[str, int]:
    """Return how many edited predictions ended how: `ok`, a status, or a flaw; most frequent first, then by name."""
    counted = Counter[str](scores["edited"].to_list())
    return dict(sorted(counted.items(), key=lambda entry: (-entry[1], entry[0])))


def failures(scores: pl.DataFrame) -> dict[str, int]:
    """Return how many edited predictions failed for which reason, in the order of `fates`."""
    return {name: count for name, count in fates(scores).items() if name not in _NO_FAILURES}
