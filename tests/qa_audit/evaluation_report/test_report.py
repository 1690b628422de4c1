"""What a report is made from, without a browser."""

import dataclasses
import io
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchmarks.made_up.evaluation import MadeUp, made_up
from data_registry.evaluation import DIFFERENCES, SCORES, Predicted
from flows.evaluation_assembly import DEFAULT_NAME
from qa_audit.evaluation_report import EvaluationPage, PageError, choose_pairs, render_report
from qa_audit.evaluation_report.page import PICTURE_WIDTH, report_jpeg
from qa_audit.evaluation_report.payload import as_json, payload
from qa_audit.evaluation_report.tables import Tables


def test_the_same_evaluation_gives_the_same_report(evaluation: EvaluationPage) -> None:
    shuffled = dataclasses.replace(
        evaluation,
        pairs=list(reversed(evaluation.pairs)),
        predictions={name: list(reversed(found)) for name, found in reversed(list(evaluation.predictions.items()))},
        pictures=dict(reversed(list(evaluation.pictures.items()))),
        scores=dict(reversed(list(evaluation.scores.items()))),
    )
    assert render_report(shuffled) == render_report(evaluation)


def test_the_policy_allows_our_style_and_script_alone_and_the_page_names_no_other_file(
    evaluation: EvaluationPage,
) -> None:
    report = render_report(evaluation)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', report)
    assert policy is not None
    directives = dict(part.split(" ", 1) for part in policy[1].replace("&#39;", "'").split("; "))
    assert directives.pop("style-src").startswith("'sha256-")
    assert directives.pop("script-src").startswith("'sha256-")
    nothing = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
    assert directives == {**nothing, "img-src": "data:"}
    outside = report.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(|\bsrc=", outside)


def test_data_cannot_leave_its_block() -> None:
    text = as_json(["</script>", "<!--", "]]>", "\u2028", "&lt;", "'"])
    assert not set("<>&'\u2028") & set(text)
    assert text.isascii()


def test_oracles_have_no_rank_and_stand_last(evaluation: EvaluationPage) -> None:
    board = Tables(evaluation).leaderboard()
    assert [(row.planner.name, row.rank) for row in board] == [
        ("swerve", 1),
        ("lane_keep", 2),
        ("brake_on_hazard", None),
    ]


def test_the_leaderboard_has_strict_plain_and_task_means_each_over_its_own_pairs(evaluation: EvaluationPage) -> None:
    figures = Tables(evaluation).leaderboard()[0].figures
    frame = evaluation.scores["swerve"]
    by_task = frame.with_columns(pl.col("hcc").fill_null(0.0)).group_by("task").agg(pl.mean("hcc"))["hcc"].to_numpy()
    means = [frame["hcc"].fill_null(0.0).to_numpy(), frame["hcc"].drop_nulls().to_numpy(), by_task]
    shown = [figures[name] for name in ("hcc", "other_hcc", "by_task_hcc")]
    assert [cell.text for cell in shown] == [f"{100 * float(values.mean()):.1f}" for values in means]
    assert [cell.n for cell in shown] == [30, 27, 30]


def test_planners_with_equal_figures_share_a_rank() -> None:
    page = made_up(MadeUp(pairs=10, planners=("slow", "stop"), pictured=0))
    first = page.planners[0].name
    equal = page.summary.filter(planner=first)
    other = equal.with_columns(planner=pl.lit(page.planners[1].name))
    tables = Tables(dataclasses.replace(page, summary=pl.concat([equal, other]).sort("planner")))
    assert [row.rank for row in tables.leaderboard()] == [1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda page: {"coverage": page.coverage.with_columns(scored=pl.col("scored") + 1)},
            "overall '': scored is 31, scores have 30",
        ),
        (lambda page: {"summary": page.summary.with_columns(n=pl.col("n") + 1)}, "hcc strict: n 7, scores have 6"),
        (
            lambda page: {"sensitivity": page.sensitivity.with_columns(n=pl.col("n") - 1)},
            "sensitivity of 'lane_keep' to body, hcc: n 26, scores have 27",
        ),
        (lambda page: {"pairs": page.pairs[1:]}, "are not about the 29 listed pairs"),
        (lambda page: {"scores": {}}, "no scores of planner 'swerve'"),
        (lambda page: {"planners": page.planners[:2]}, "scores of planner 'lane_keep', which is not listed"),
        (lambda page: {"pictures": {"elsewhere": []}}, "pictures of pair 'elsewhere'"),
        (lambda page: {"summary": page.summary.drop("n")}, "table summary has columns"),
    ],
)
def test_parts_that_do_not_agree_are_refused(
    evaluation: EvaluationPage, change: Callable[[EvaluationPage], dict[str, Any]], message: str
) -> None:
    with pytest.raises(PageError, match=re.escape(message)):
        render_report(dataclasses.replace(evaluation, **change(evaluation)))


def test_a_picture_that_is_no_jpeg_is_refused(evaluation: EvaluationPage) -> None:
    pair, (picture, *_) = next(iter(evaluation.pictures.items()))
    odd = dataclasses.replace(picture, edited=b"<svg onload=alert(1)>")
    with pytest.raises(PageError, match="is no JPEG"):
        render_report(dataclasses.replace(evaluation, pictures={pair: [odd]}))


def test_flawed_trajectories_are_drawn_where_they_are_a_way_at_all(evaluation: EvaluationPage) -> None:
    pair, t = evaluation.pairs[0].pair_id, np.array([0.0, 1.0])
    ways = {
        "drawn": Predicted(pair, "edited", "ok", t, np.array([[0.5, 0.0], [4.0, 0.0]])),  # starts elsewhere, ends early
        "nan": Predicted(pair, "edited", "ok", t, np.array([[0.0, 0.0], [np.nan, 0.0]])),
        "order": Predicted(pair, "edited", "ok", t[::-1], np.zeros((2, 2))),
        "length": Predicted(pair, "edited", "ok", t, np.zeros((3, 2))),
        "far": Predicted(pair, "edited", "ok", t, np.array([[0.0, 0.0], [1e300, 0.0]])),
    }
    for name, predicted in ways.items():
        page = dataclasses.replace(evaluation, predictions={**evaluation.predictions, "swerve": [predicted]})
        data = payload(page)
        place = data["pairs"]["id"].index(pair)
        assert (data["planners"][0]["edited_path"][place] >= 0) == (name == "drawn")
        assert data["planners"][0]["source_path"][place] == -1


def test_planners_that_ignore_the_pictures_store_each_way_once() -> None:
    data = payload(made_up(MadeUp(pairs=10, planners=("lane_keep",), pictured=0)))
    (planner,) = data["planners"]
    assert planner["source_path"] == planner["edited_path"]
    assert len(data["paths"]["text"]) == 9  # one case is ineligible


def test_chosen_pairs_spread_over_families_and_tasks_and_both_ends_of_the_scale() -> None:
    page = made_up(MadeUp(pairs=120, pictured=0))
    chosen = choose_pairs(page.scores, 24)
    frame = next(iter(page.scores.values())).filter(pl.col("pair_id").is_in(chosen))
    assert len(chosen) == len(set(chosen)) == frame.height == 24
    assert set(Counter(frame["family"].to_list()).values()) == {4}
    assert set(frame["task"].to_list()) == {pair.task for pair in page.pairs}
    hcc = (
        pl.concat(page.scores.values()).filter(pl.col("pair_id").is_in(chosen)).group_by("pair_id").agg(pl.mean("hcc"))
    )
    assert hcc["hcc"].min() == 0.0
    assert hcc["hcc"].max() == 1.0


def test_the_choice_of_pairs_hangs_on_the_scores_alone(evaluation: EvaluationPage) -> None:
    shuffled = {
        name: frame.sample(fraction=1.0, shuffle=True, seed=3)
        for name, frame in reversed(list(evaluation.scores.items()))
    }
    assert choose_pairs(shuffled, 12) == choose_pairs(evaluation.scores, 12)
    assert choose_pairs(evaluation.scores, 7) == choose_pairs(evaluation.scores, 12)[:7]
    assert len(choose_pairs(evaluation.scores, 1000)) == 30
    assert choose_pairs(evaluation.scores, 0) == choose_pairs({}, 5) == []


def test_pictures_of_a_report_are_small_jpegs() -> None:
    wide = report_jpeg(np.full((900, 1600, 3), 128, np.uint8))
    assert len(wide) < 20_000
    assert Image.open(io.BytesIO(wide)).size == (PICTURE_WIDTH, 450)


def test_an_evaluation_without_pairs_is_shown_as_such() -> None:
    page = made_up(MadeUp(pairs=10, planners=("slow",), pictured=0))
    empty = {"pairs": [], "predictions": {"slow": []}, "scores": {"slow": SCORES.frame([])}}
    tables = {name: getattr(page, name).clear() for name in ("summary", "coverage", "differences", "sensitivity")}
    report = render_report(dataclasses.replace(page, **empty, **tables))
    assert "<b>0</b> pairs" in report


@pytest.mark.parametrize("name", ["", DEFAULT_NAME])
def test_a_name_that_nobody_gave_is_not_shown(evaluation: EvaluationPage, name: str) -> None:
    assert dataclasses.replace(evaluation, name=name).heading == evaluation.title


def test_an_evaluations_name_leads_title_header_and_heading(evaluation: EvaluationPage) -> None:
    report = render_report(dataclasses.replace(evaluation, name="mine & <more>"))
    shown = f"mine &amp; &lt;more&gt; · {evaluation.title}"
    assert f"<title>{shown}</title>" in report
    assert f'href="#top">{shown}</a>' in report
    assert f"<h1>{shown}</h1>" in report


def test_sensitivity_shows_a_change_only_over_the_same_pairs(evaluation: EvaluationPage) -> None:
    longer = (pl.col("planner") == "swerve") & (pl.col("setting") == "2.0 s")
    frame = evaluation.sensitivity.with_columns(
        n=pl.when(longer).then(pl.col("n") + 3).otherwise("n"), mean=pl.when(longer).then(0.99).otherwise("mean")
    )
    tables = Tables(dataclasses.replace(evaluation, sensitivity=frame)).sensitivity()
    assert [(one.parameter, one.has_other_pairs) for one in tables] == [
        ("body", False),
        ("clearance", False),
        ("horizon", True),
    ]
    horizon = next(by_metric["hcc"] for planner, by_metric in tables[2].rows if planner.name == "swerve")
    changed, own = horizon
    assert (changed.cell.text, changed.cell.n, changed.pairs) == ("99.0", 30, "30 pairs, not 27")
    assert (changed.change, changed.cell.href) == ("", "")
    assert (own.change, own.pairs, own.cell.n) == ("", "", 27)
    assert own.cell.href == "#pairs?planner=swerve&outcome=scored&sort=hcc"
    clearance = next(by_metric["hcc"] for planner, by_metric in tables[1].rows if planner.name == "swerve")
    assert [one.change[:1] for one in clearance] == ["+", "", "−"]
    assert all(one.cell.href == own.cell.href for one in clearance)


@pytest.mark.parametrize(
    ("scenes", "p", "verdict", "told"),
    [
        (8, 2 / 2**8, "cannot be shown", "cannot be shown with 8 scenes and 20 tests: the smallest adjusted p that"),
        (12, 2 / 2**12, "differ", ""),
        (12, 0.4, "not shown to differ", ""),
        (4, None, "not tested", ""),
    ],
)
def test_a_difference_is_not_called_unshown_where_no_difference_could_be_shown(
    evaluation: EvaluationPage, scenes: int, p: float | None, verdict: str, told: str
) -> None:
    names = [(f"a{number}", f"b{number}") for number in range(10)]
    adjusted = None if p is None else min(1.0, 20 * p)
    row = {"n": 0, "scenes": scenes, "difference": 0.5, "low": None, "high": None, "reason": "", "p": p}
    rows = [
        row | {"planner_a": a, "planner_b": b, "metric": metric, "p_adjusted": adjusted}
        for a, b in names
        for metric in ("ur", "hcc")
    ]
    page = dataclasses.replace(evaluation, differences=DIFFERENCES.frame(rows))
    _, comparisons = Tables(page).comparisons("hcc")
    assert {one.verdict for one in comparisons} == {verdict}
    assert {one.differs for one in comparisons} == {verdict == "differ"}
    report = render_report(page)
    assert ("cannot be shown with" in report) == bool(told)
    assert told in report
