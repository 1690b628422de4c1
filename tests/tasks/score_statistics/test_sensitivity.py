"""Sensitivity: one change at a time, the evaluation's own setting among each parameter's, and scored once."""

from __future__ import annotations

import polars as pl
import pytest
from pydantic import BaseModel, ConfigDict

from data_registry.evaluation import SENSITIVITY
from data_registry.geometry import BODIES
from tasks.score_statistics import sensitivity
from tests.tasks.score_statistics.made_up import Answer, all_of, pairs_in, table


class Settings(BaseModel):
    """Fields as those of scoring."""

    model_config = ConfigDict(frozen=True)

    body: str = "zoe"
    horizon_s: float = 3.0
    clearance_factor: float = 1.0


class Scorer:
    """Scores one planner so that every mean tells the settings; remembers what it was asked."""

    def __init__(self, outcome: str = "ok") -> None:
        self.asked: list[Settings] = []
        self.outcome = outcome

    def __call__(self, settings: Settings) -> dict[str, pl.DataFrame]:
        self.asked.append(settings)
        pairs = pairs_in(scenes=2)
        hcc = 1 / settings.clearance_factor / 4 + settings.horizon_s / 100 + BODIES[settings.body].width_m / 1000
        return {"stop": table(pairs, [Answer(self.outcome, "ok", False, hcc, 1.0)] * len(pairs))}


def test_every_preset_factor_and_horizon_is_scored_alone() -> None:
    scorer = Scorer()
    found = sensitivity(scorer, Settings())
    assert len(scorer.asked) == len(set(scorer.asked)) == 1 + 3 + 3 + 2
    changed = [{name for name, value in one if value != getattr(Settings(), name)} for one in scorer.asked]
    assert sorted(map(len, changed)) == [0] + [1] * 8
    settings = {
        parameter: frame["setting"].unique().sort().to_list()
        for (parameter,), frame in found.group_by("parameter", maintain_order=True)
    }
    assert settings == {
        "body": sorted(BODIES),
        "clearance": ["0.5 x", "1.0 x", "1.5 x", "2.0 x"],
        "horizon": ["1.0 s", "2.0 s", "3.0 s"],
    }
    assert set(found["metric"]) == {"ur", "hcc", "hpr"}
    row = found.row(by_predicate=(pl.col("setting") == "2.0 x") & (pl.col("metric") == "hcc"), named=True)
    assert (row["n"], row["mean"]) == (4, pytest.approx(1 / 8 + 0.03 + 0.00173))


def test_the_evaluations_own_setting_is_marked_once_a_parameter_with_equal_means() -> None:
    scorer = Scorer()
    own = Settings(body="zoe_wide", horizon_s=2.5, clearance_factor=1.25)
    found = sensitivity(scorer, own).filter("is_default", metric="hcc")
    assert found["setting"].to_list() == ["zoe_wide", "1.25 x", "2.5 s"]
    assert found["mean"].n_unique() == 1
    assert scorer.asked[0] == own
    assert len(scorer.asked) == 1 + 3 + 4 + 3


def test_a_planner_without_scores_has_no_mean_at_any_setting() -> None:
    found = sensitivity(Scorer("parse_failed"), Settings())
    assert set(found["n"]) == {0}
    assert found["mean"].null_count() == found.height


def test_without_planners_or_pairs_nothing_is_made_up() -> None:
    assert sensitivity(lambda _: {}, Settings()).equals(SENSITIVITY.frame([]))
    assert set(sensitivity(lambda _: {"stop": all_of([], "ok")}, Settings())["n"]) == {0}
