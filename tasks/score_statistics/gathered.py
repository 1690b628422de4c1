"""Scores of all planners side by side: the same pairs in the same order, and what became of each prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from data_registry.evaluation import METRICS, SCORES, STATUSES, STRICT, Flaw
from data_registry.geometry import Array
from data_registry.resampling import Integers
from data_registry.tables import TableError

Booleans = npt.NDArray[np.bool_]

MEASURES: Final = (*((metric, "plain") for metric in METRICS), *((metric, "strict") for metric in STRICT))
"""(metric, mode) of every mean that is made."""
PAIRED: Final = ("cts", "cts_x", "cts_y")
"""Metrics that need both predictions; the others need the edited one alone."""
_PAIR: Final = ("pair_id", "family", "task", "scene", "split")
_OUTCOMES: Final = frozenset((*STATUSES, *get_args(Flaw)))


class StatisticsError(ValueError):
    """Tables of scores that cannot be counted together, or contradict themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Scores of P pairs by L planners."""

    planners: tuple[str, ...]
    """In the alphabet's order."""
    pairs: pl.DataFrame
    """pair_id, family, task, scene and split, sorted by pair_id."""
    scored: Booleans
    """(P, L): the edited prediction has scores."""
    ineligible: Booleans
    """(P, L): the planner cannot take the case."""
    paired: Booleans
    """(P, L): both predictions have scores."""
    values: Array
    """(P, L, MEASURES); NaN, inside this package only: the pair does not count in this mean."""

    @property
    def failed(self) -> Booleans:
        """(P, L): the edited prediction failed."""
        return ~(self.scored | self.ineligible)

    def values_of(self, metric: str, mode: str = "plain") -> Array:
        """Return one measure, (P, L)."""
        return self.values[:, :, MEASURES.index((metric, mode))]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Pairs that one row of a table is about."""

    level: str
    name: str
    """Which family, task or split; empty for overall."""
    rows: Integers
    """Their places in `Gathered.pairs`."""


def gather(scores: Mapping[str, pl.DataFrame]) -> Gathered:
    """Put the scores of all planners side by side.

    Raises:
        StatisticsError: a table is not one of scores, the planners' tables are not about the same pairs, or a row's
            metrics contradict what it says became of the predictions.
    """
    planners = tuple(sorted(scores))
    frames = [_checked(name, scores[name]) for name in planners]
    pairs = frames[0].select(_PAIR) if frames else SCORES.frame([]).select(_PAIR)
    for name, frame in zip(planners, frames, strict=True):
        _require_same_pairs(planners[0], pairs, name, frame.select(_PAIR))
    values = np.empty((pairs.height, len(planners), len(MEASURES)))
    scored, ineligible, paired = (np.empty((pairs.height, len(planners)), dtype=np.bool_) for _ in range(3))
    for place, frame in enumerate(frames):
        scored[:, place] = (frame["edited"] == "ok").to_numpy()
        ineligible[:, place] = (frame["edited"] == "ineligible").to_numpy()
        paired[:, place] = scored[:, place] & (frame["source"] == "ok").to_numpy()
        for column, (metric, mode) in enumerate(MEASURES):
            values[:, place, column] = frame[metric].cast(pl.Float64).fill_null(np.nan).to_numpy()
            if mode == "strict":
                values[~scored[:, place] & ~ineligible[:, place], place, column] = STRICT[metric]
    return Gathered(planners, pairs, scored, ineligible, paired, values)


def groups(pairs: pl.DataFrame) -> list[Group]:
    """Return all pairs, then those of each family, task and split that there are; by name within a level."""
    everything = [Group("overall", "", np.arange(pairs.height))]
    for level in ("family", "task", "split"):
        names = pairs[level].to_numpy()
        everything += [Group(level, name, np.flatnonzero(names == name)) for name in sorted(set(names))]
    return everything


def numbered(names: pl.Series) -> Integers:
    """Number names 0, 1, .. by where they first occur, (P,): what things are called then decides nothing."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _checked(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a planner's table sorted, when it is one of scores and its rows agree with themselves."""
    try:
        table = SCORES.checked(frame.sort(SCORES.key) if "pair_id" in frame.columns else frame)
    except TableError as error:
        raise StatisticsError(f"planner {name}: {error}") from error
    edited, source = pl.col("edited"), pl.col("source")
    alone = [metric for metric in METRICS if metric not in PAIRED]
    contradiction = (
        pl.any_horizontal(pl.col(alone).is_null() == (edited == "ok"))
        | pl.any_horizontal(pl.col(PAIRED).is_null() == ((edited == "ok") & (source == "ok")))
        | ~edited.is_in(_OUTCOMES)
        | ~source.is_in(_OUTCOMES)
    )
    odd = table.filter(contradiction)
    if odd.height:
        row = odd.row(0, named=True)
        raise StatisticsError(
            f"planner {name}: {odd.height} rows have metrics that do not fit their outcomes, the first {row['pair_id']}"
            f" (edited {row['edited']}, source {row['source']})"
        )
    return table


def _require_same_pairs(first: str, pairs: pl.DataFrame, name: str, found: pl.DataFrame) -> None:
    """Refuse a table that lacks pairs, has others, or counts them elsewhere: means would not be comparable."""
    if found.equals(pairs):
        return
    odd = pl.concat([found.join(pairs, on=_PAIR, how="anti"), pairs.join(found, on=_PAIR, how="anti")])
    raise StatisticsError(
        f"planners {first} and {name} are not scored on the same pairs: {odd['pair_id'].n_unique()} are missing or"
        f" differ, the first {odd['pair_id'].min()}; a pair without a prediction needs a row that says so"
    )
