"""How much the means hang on the choices of scoring: body, required clearance, horizon; one changed at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, Self, TypeVar

import numpy as np
import polars as pl

from data_registry.evaluation import SENSITIVITY
from data_registry.geometry import BODIES
from tasks.score_statistics.gathered import gather

CLEARANCE_FACTORS: Final = (0.5, 1.0, 1.5, 2.0)
HORIZONS_S: Final = (1.0, 2.0, 3.0)
WATCHED: Final = ("ur", "hcc", "hpr")


class Settings(Protocol):
    """What `tasks.score.ScoreSettings` is, as far as this module cares."""

    @property
    def body(self) -> str:
        """One of BODIES."""
        ...

    @property
    def horizon_s(self) -> float:
        """Seconds."""
        ...

    @property
    def clearance_factor(self) -> float:
        """What each task's required clearance is multiplied by."""
        ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed."""
        ...


Chosen = TypeVar("Chosen", bound=Settings)


def sensitivity(score_with: Callable[[Chosen], Mapping[str, pl.DataFrame]], default: Chosen) -> pl.DataFrame:
    """Score again with every body preset, clearance factors and horizons, each changed alone, table SENSITIVITY.

    The evaluation's own setting is among each parameter's; it is scored once.

    Args:
        score_with: scores all planners (tables SCORES) with given settings.
        default: the evaluation's own settings.

    Raises:
        StatisticsError: what `score_with` returns are no scores, or not about the same pairs.
    """
    own = _means(score_with(default))
    rows: list[dict[str, Any]] = []
    for parameter, setting, field, value in _changes(default):
        is_default = getattr(default, field) == value
        means = own if is_default else _means(score_with(default.model_copy(update={field: value})))
        about = {"parameter": parameter, "setting": setting, "is_default": is_default}
        rows += [
            {"planner": planner, **about, "metric": metric, "n": n, "mean": mean}
            for (planner, metric), (n, mean) in means.items()
        ]
    return SENSITIVITY.frame(rows)


def _changes(default: Settings) -> Iterator[tuple[str, str, str, str | float]]:
    """Yield parameter, setting's name, field and value; the evaluation's own values among them."""
    for body in sorted({*BODIES, default.body}):
        yield "body", body, "body", body
    for factor in sorted({*CLEARANCE_FACTORS, default.clearance_factor}):
        yield "clearance", f"{float(factor)} x", "clearance_factor", float(factor)
    for horizon in sorted({*HORIZONS_S, default.horizon_s}):
        yield "horizon", f"{float(horizon)} s", "horizon_s", float(horizon)


def _means(scores: Mapping[str, pl.DataFrame]) -> dict[tuple[str, str], tuple[int, float | None]]:
    """Return n and plain mean by planner and metric."""
    gathered = gather(scores)
    found: dict[tuple[str, str], tuple[int, float | None]] = {}
    for metric in WATCHED:
        for planner, column in zip(gathered.planners, gathered.values_of(metric).T, strict=True):
            counted = column[~np.isnan(column)].tolist()
            found[planner, metric] = len(counted), math.fsum(counted) / len(counted) if counted else None
    return found
