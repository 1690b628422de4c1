"""Scores of predictions: bounds, symmetry, failures, and what rows and totals say."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from data_registry.evaluation import METRICS, SCORES, STATUSES, Predicted
from data_registry.geometry import EGO_FRONT_M, Array
from tasks.score import ScoreInputError, ScoreSettings, fates, score, totals
from tests.score_cases import PAIR, answer, failed, quads, region, square, straight, trajectories

Trajectory = tuple[Array, Array, Array | None]
AHEAD = region(square(20.0, 0.0))


def row(*predicted: Predicted, settings: ScoreSettings | None = None, where: Array | None = None) -> dict[str, object]:
    [found] = score([AHEAD if where is None else region(where)], predicted, settings).to_dicts()
    return found


@given(trajectories(), trajectories(), quads(), st.sampled_from([1e-9, 0.5, 1.5, 40.0, 1e308]))
def test_hcc_and_hpr_lie_between_zero_and_one_minus_ur_and_cts_is_symmetric(
    one: Trajectory, other: Trajectory, drawn: tuple[Array, Array], clearance_m: float
) -> None:
    where = region(drawn[0], clearance_m)
    [here] = score([where], [answer("edited", *one), answer("source", *other)]).to_dicts()
    [there] = score([where], [answer("edited", *other), answer("source", *one)]).to_dicts()
    for found in (here, there):
        assert found["ur"] in (0.0, 1.0)
        assert (found["ur"] == 1.0) == (found["d"] == 0.0)
        assert 0.0 <= found["hcc"] <= 1.0 - found["ur"]
        assert 0.0 <= found["hpr"] <= 1.0 - found["ur"]
        assert max(found["cts_x"], found["cts_y"]) <= found["cts"] + 1e-12 <= found["cts_x"] + found["cts_y"] + 2e-12
    assert [here[name] for name in ("cts", "cts_x", "cts_y")] == [there[name] for name in ("cts", "cts_x", "cts_y")]


@given(trajectories(), quads(), st.floats(0.05, 1.0))
def test_a_smaller_region_never_raises_ur(one: Trajectory, drawn: tuple[Array, Array], share: float) -> None:
    quad, centre = drawn
    smaller = centre + share * (quad - centre)
    assert row(answer("edited", *one), where=smaller)["ur"] <= row(answer("edited", *one), where=quad)["ur"]  # type: ignore[operator]


def test_metrics_follow_the_formulas() -> None:
    gap = 20.0 - 1.0 - EGO_FRONT_M - 15.0
    found = row(straight(5.0), straight(6.0, "source"), settings=ScoreSettings(clearance_factor=2.0))
    assert found["d"] == pytest.approx(gap)
    assert found["hcc"] == pytest.approx(gap / 2.0)
    assert found["hpr"] == pytest.approx(2.0 / (abs(gap - 2.0) + 2.0))
    assert found["cts"] == pytest.approx(np.mean(np.arange(7) * 0.5))
    assert found["cts_x"] == found["cts"]
    assert found["cts_y"] == 0.0
    assert row(straight(1.0), settings=ScoreSettings(clearance_factor=0.5))["hcc"] == 1.0
    assert row(straight(7.0))["ur"] == 1.0


def test_cts_takes_seven_times_and_interpolates_both_predictions() -> None:
    bent = answer("edited", [0, 1.25, 3.5], [(0, 0), (5, 1), (14, 1)])
    sparse = answer("source", [0, 3.0], [(0, 0), (12, 0)])
    grid = np.arange(7) * 0.5
    x, y = np.interp(grid, [0, 1.25, 3.5], [0, 5, 14]) - 4 * grid, np.interp(grid, [0, 1.25, 3.5], [0, 1, 1])
    found = row(bent, sparse)
    assert found["cts"] == pytest.approx(np.hypot(x, y).mean())
    assert found["cts_x"] == pytest.approx(np.abs(x).mean())
    assert found["cts_y"] == pytest.approx(np.abs(y).mean())


def test_with_another_horizon_the_grid_ends_there() -> None:
    assert ScoreSettings().grid().tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert ScoreSettings(horizon_s=2.0).grid().tolist() == [0, 0.5, 1, 1.5, 2]
    assert ScoreSettings(horizon_s=2.2).grid().tolist() == [0, 0.5, 1, 1.5, 2]
    found = row(straight(7.0), straight(6.0, "source"), settings=ScoreSettings(horizon_s=2.0))
    assert (found["ur"], found["cts"]) == (0.0, pytest.approx(1.0))
    assert row(straight(7.0), settings=ScoreSettings(horizon_s=4.0))["edited"] == "short"


def test_a_further_point_on_a_straight_uniform_path_changes_no_metric() -> None:
    def along(t: Array) -> Array:
        return np.column_stack([4.2 * t, np.zeros(len(t))])

    few, more = (np.array(times) for times in ([0.0, 3.0], [0.0, 0.7, 1.9, 3.0]))
    found = [row(answer("edited", t, along(t)), straight(3.0, "source")) for t in (few, more)]
    for name in METRICS:
        assert found[0][name] == pytest.approx(found[1][name], abs=1e-12)


def test_a_wider_body_and_another_axle_change_the_distance_by_as_much() -> None:
    beside = square(10.0, 4.0)
    assert row(straight(3.0), where=beside)["d"] == pytest.approx(3.0 - 0.865)
    assert row(straight(3.0), where=beside, settings=ScoreSettings(body="zoe_wide"))["d"] == pytest.approx(3.0 - 0.925)
    near = row(straight(3.0), settings=ScoreSettings(body="zoe_lidar_0986"))["d"]
    assert row(straight(3.0))["d"] == pytest.approx(near + 0.101)  # type: ignore[operator]


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "ok"])
def test_a_failed_prediction_has_no_metric_and_says_why(status: str) -> None:
    found = row(failed("edited", status, "it said so"), straight(3.0, "source"))  # type: ignore[arg-type]
    assert (found["edited"], found["source"]) == (status, "ok")
    assert {name: found[name] for name in METRICS} == dict.fromkeys(METRICS)
    assert str(found["reason"]).startswith("edited: ")
    assert str(found["reason"]).endswith("(it said so)")


def test_a_flawed_trajectory_is_a_failure_whichever_variant_it_is_of() -> None:
    stopped_early = answer("source", [0, 1.0], [(0, 0), (4, 0)])
    found = row(straight(3.0), stopped_early)
    assert (found["edited"], found["source"], found["cts"]) == ("ok", "short", None)
    assert found["hcc"] is not None
    assert found["reason"] == "source: it ends before the horizon"
    nothing = row(Predicted(PAIR, "edited", "ok"))
    assert (nothing["edited"], nothing["source"], nothing["ur"]) == ("length", "missing", None)
    assert "edited: times, positions" in str(nothing["reason"])
    assert "source: there is no prediction" in str(nothing["reason"])


def test_rows_are_those_of_the_table_one_a_pair_sorted() -> None:
    regions = [region(square(20.0, 0.0), pair_id=name) for name in ("b", "a", "c")]
    found = score(regions, [])
    assert found.columns == list(SCORES.columns)
    assert found["pair_id"].to_list() == ["a", "b", "c"]
    assert found["edited"].to_list() == ["missing"] * 3
    assert SCORES.decode(SCORES.encode(found), "scores").equals(found)


def test_predictions_of_other_pairs_or_two_of_one_case_are_refused() -> None:
    with pytest.raises(ScoreInputError, match="no such pair"):
        score([region(square(9.0, 0.0), pair_id="other")], [straight(3.0)])
    with pytest.raises(ScoreInputError, match="answered twice"):
        score([AHEAD], [straight(3.0), straight(3.0)])


@pytest.mark.parametrize(("clearance_m", "factor"), [(5e-324, 0.001), (1e-6, 5e-324), (5e-324, 0.5)])
def test_a_clearance_that_its_factor_makes_nothing_is_refused(clearance_m: float, factor: float) -> None:
    near = region(square(20.0, 0.0), clearance_m)
    with pytest.raises(ScoreInputError, match=rf"^{PAIR}: clearance_m {clearance_m} times .* is not above 0"):
        score([near], [straight(3.0)], ScoreSettings(clearance_factor=factor))


def test_wrong_settings_are_refused() -> None:
    for wrong in ({"body": "van"}, {"horizon_s": 0.0}, {"clearance_factor": -1.0}, {"horizon_s": float("nan")}):
        with pytest.raises(ValidationError):
            ScoreSettings.model_validate(wrong)


def test_totals_leave_failures_out_of_plain_means_count_them_in_strict_ones_and_ineligible_in_neither() -> None:
    regions = [region(square(20.0, 0.0), pair_id=name) for name in "abcde"]
    edited = [straight(1.0), straight(7.0), failed("edited", "parse_failed"), failed("edited", "ineligible")]
    predicted = [Predicted(name, "edited", one.status, one.t, one.xy) for name, one in zip("abcd", edited, strict=True)]
    scores = score(regions, predicted)
    means = {(total.metric, total.mode): (total.n, total.mean) for total in totals(scores)}
    assert means["ur", "plain"] == (2, 0.5)
    assert means["ur", "strict"] == (4, 0.75)
    assert means["hcc", "plain"] == (2, 0.5)
    assert means["hcc", "strict"] == (4, 0.25)
    assert means["cts", "plain"] == (0, None)
    assert ("d", "strict") not in means
    assert fates(scores) == {"ok": 2, "ineligible": 1, "missing": 1, "parse_failed": 1}
    assert scores.filter(pl.col("edited") == "ok")["ur"].mean() == 0.5
