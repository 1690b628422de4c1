"""Made-up scores: a benchmark of a few scenes and tasks, and planners with every outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from data_registry.evaluation import SCORES

FAMILY = {"deer": "sudden", "door": "gap", "gate": "gap", "hole": "surface"}
"""Family of each made-up task."""


@dataclass(frozen=True)
class Pair:
    """A pair of the made-up benchmark."""

    number: int
    scene: str
    task: str
    split: str

    def row(self) -> dict[str, Any]:
        return {
            "pair_id": f"streetset/{self.number:04d}",
            "family": FAMILY[self.task],
            "task": self.task,
            "scene": self.scene,
            "split": self.split,
        }


@dataclass(frozen=True)
class Answer:
    """What a planner made of a pair."""

    edited: str
    source: str
    touches: bool
    hcc: float
    cts: float

    def row(self) -> dict[str, Any]:
        scored, paired = self.edited == "ok", self.edited == self.source == "ok"
        ur, hcc = float(self.touches), 0.0 if self.touches else self.hcc
        return {
            **{"ur": ur if scored else None, "d": hcc * 1.5 if scored else None},
            **{"hcc": hcc if scored else None, "hpr": hcc * 0.9 if scored else None},
            **{"cts": self.cts if paired else None, "cts_x": self.cts * 0.8 if paired else None},
            **{"cts_y": self.cts * 0.6 if paired else None},
            **{"edited": self.edited, "source": self.source, "reason": "" if paired else "made up"},
        }


def table(pairs: Sequence[Pair], answers: Sequence[Answer]) -> pl.DataFrame:
    """One planner's scores."""
    return SCORES.frame({**pair.row(), **answer.row()} for pair, answer in zip(pairs, answers, strict=True))


def all_of(pairs: Sequence[Pair], outcome: str) -> pl.DataFrame:
    """The scores of a planner to which the same happened everywhere; `ok`: never touches, HCC 0.5."""
    return table(pairs, [Answer(outcome, outcome, False, 0.5, 1.0)] * len(pairs))


def pairs_in(scenes: int, each: int = 2) -> list[Pair]:
    """Pairs of some scenes, tasks taking turns."""
    tasks = sorted(FAMILY)
    return [
        Pair(number, f"scene-{number // each:04d}", tasks[number % len(tasks)], ("train", "val")[number // each % 2])
        for number in range(scenes * each)
    ]


def drawn_scores(seed: int, pairs: Sequence[Pair], planners: int) -> dict[str, pl.DataFrame]:
    """Scores of some planners, with failures and ineligible cases, by a seeded generator."""
    generator = np.random.default_rng(seed)

    def answer() -> Answer:
        edited, source = generator.choice(["ok", "ok", "ok", "ok", "truncated", "short", "ineligible"], 2).tolist()
        return Answer(
            edited, source, bool(generator.random() < 0.4), float(generator.random()), float(generator.random())
        )

    return {f"planner-{place}": table(pairs, [answer() for _ in pairs]) for place in range(planners)}


OUTCOMES = st.sampled_from(["ok", "ok", "ok", "parse_failed", "missing", "not_finite", "ineligible"])
UNIT = st.floats(0, 1, allow_subnormal=False)
ANSWERS = st.builds(Answer, OUTCOMES, OUTCOMES, st.booleans(), UNIT, UNIT)


@st.composite
def scored_benchmarks(draw: st.DrawFn) -> dict[str, pl.DataFrame]:
    """Up to three planners on up to 40 pairs of up to nine scenes, all outcomes."""
    scene, task, split = st.integers(0, 8), st.sampled_from(sorted(FAMILY)), st.sampled_from(["train", "val", "none"])
    size = draw(st.integers(0, 40))
    pairs = [Pair(number, f"scene-{draw(scene)}", draw(task), draw(split)) for number in range(size)]
    names = draw(st.lists(st.sampled_from(["alpha", "beta", "gamma", "stop"]), min_size=1, max_size=3, unique=True))
    answers = st.lists(ANSWERS, min_size=size, max_size=size)
    return {name: table(pairs, draw(answers)) for name in names}
