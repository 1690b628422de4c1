"""A report in a real Chromium: what a reader clicks, sees, and sends to a colleague."""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
import shapely
from playwright.sync_api import Page, expect

from benchmarks.made_up.evaluation import MadeUp, made_up
from data_registry.evaluation import Predicted
from data_registry.geometry import Array
from data_registry.paths import path_of, tube
from qa_audit.evaluation_report import EvaluationPage, render_report

Visit = Callable[..., Page]
PLANNER = "swerve"
EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&{{7*7}} onclick="


def _expect_pairs(page: Page, count: int) -> None:
    expect(page.locator("#count b").first).to_have_text(str(count))


def _pairs(page: Page) -> list[int]:
    found = page.locator("#list [data-pair]")
    return [int(one.get_attribute("data-pair") or -1) for one in found.all()]


def _column(evaluation: EvaluationPage, planner: str, metric: str) -> list[Any]:
    return evaluation.scores[planner][metric].to_list()


def test_every_number_of_the_report_opens_as_many_pairs_as_it_is_made_of(visit: Visit, report: Path) -> None:
    page = visit(report)
    links = page.locator('main a.fig[href^="#pairs"][title]')
    wanted = [
        (link["href"], int(link["title"].split()[0].replace(",", "")))
        for link in links.evaluate_all("all => all.map(a => ({href: a.getAttribute('href'), title: a.title}))")
    ]
    assert len(wanted) > 300
    found = page.evaluate(
        "all => all.map(href => listed(query(new URLSearchParams(href.split('?')[1]))).found.length)",
        [href for href, _ in wanted],
    )
    odd = [(href, n, opened) for (href, n), opened in zip(wanted, found, strict=True) if n != opened]
    assert odd == []


def test_a_click_on_a_number_lists_its_pairs_and_back_returns_to_it(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    page = visit(report, height=420)
    contacts = sum(value == 1 for value in _column(evaluation, PLANNER, "ur"))
    assert contacts > 0
    link = page.locator(f'.board tr[data-planner="{PLANNER}"] a[href*="outcome=contact"]')
    expect(link).to_have_text(str(contacts))
    page.evaluate("scrollTo(0, document.querySelector('.board').getBoundingClientRect().top - 80)")
    before = page.evaluate("scrollY")
    assert before > 100

    link.click()

    expect(page.locator("#count")).to_have_text(f"{contacts} of 30 pairs, planner {PLANNER}")
    expect(page.locator(".paircard .badge.contact")).to_have_count(contacts)
    expect(page.locator("#report-view")).to_be_hidden()
    page.locator(".paircard").first.click()
    expect(page.locator("#pair-view .bev")).to_be_visible()
    page.go_back()
    expect(page.locator(".paircard .badge.contact")).to_have_count(contacts)
    page.go_back()
    expect(page.locator("#leaderboard")).to_be_visible()
    assert page.evaluate("scrollY") == before


def test_a_family_cell_of_the_heat_map_lists_that_familys_pairs(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    page = visit(report)
    cell = page.locator("table.heat tbody tr").filter(has_text=PLANNER).locator('a[href*="family=lane_blockage"]')
    cell.click()
    frame = evaluation.scores[PLANNER].filter(pl.col("family") == "lane_blockage", pl.col("edited") != "ineligible")
    assert frame.height == 6
    _expect_pairs(page, 6)
    expect(page.locator('[name="family"]')).to_have_value("lane_blockage")


def test_filters_narrow_the_list_and_stand_in_the_address(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    page = visit(report, "#pairs")
    _expect_pairs(page, 30)
    page.select_option('[name="planner"]', PLANNER)
    page.select_option('[name="split"]', "val")
    frame = evaluation.scores[PLANNER].filter(pl.col("split") == "val")
    _expect_pairs(page, frame.height)
    page.select_option('[name="outcome"]', "failed:parse_failed")
    frame = frame.filter(pl.col("edited") == "parse_failed")
    assert frame.height == 3
    _expect_pairs(page, 3)
    expect(page.locator(".paircard .badge")).to_have_text(["failed: answer not readable"] * 3)
    address = page.evaluate("location.hash")

    again = visit(report, address)
    _expect_pairs(again, 3)
    again.locator("#reset").click()
    _expect_pairs(again, 30)
    again.fill('[name="q"]', "CROSSING ANIMAL")
    assert sum(pair.task == "crossing_animal" for pair in evaluation.pairs) == 3
    _expect_pairs(again, 3)
    again.fill('[name="q"]', "nothing like that")
    expect(again.locator("#list")).to_have_text("No pair fits these filters.")


def test_a_family_narrows_the_tasks_and_clears_one_that_it_does_not_have(visit: Visit, report: Path) -> None:
    page = visit(report, "#pairs")
    tasks = page.locator('[name="task"] option')
    expect(tasks).to_have_count(11)
    page.select_option('[name="task"]', "broken_down_car")
    page.select_option('[name="family"]', "lane_blockage")
    expect(tasks).to_have_text(["all", "Broken down car", "Construction closure"])
    expect(page.locator('[name="task"]')).to_have_value("broken_down_car")
    page.select_option('[name="family"]', "sudden_emergence")
    expect(page.locator('[name="task"]')).to_have_value("")
    assert "task" not in page.evaluate("location.hash")
    _expect_pairs(page, 6)
    page.evaluate("location.hash = '#pairs?family=sudden_emergence&task=broken_down_car'")
    expect(page.locator('[name="family"]')).to_have_class("active")
    _expect_pairs(page, 6)


def test_a_search_finds_pairs_in_which_all_words_occur_in_any_place_and_outcomes_as_they_are_shown(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    page = visit(report, f"#pairs?planner={PLANNER}")
    failed = evaluation.scores[PLANNER].filter(pl.col("edited") == "parse_failed").height
    ours = [pair for pair in evaluation.pairs if pair.task == "crossing_animal" and "scene-0003" in pair.scene]
    for words, count in {
        "answer not readable": failed,
        "Failed: not READABLE": failed,
        "0003  animal": len(ours),
        "animal sudden 0003": len(ours),
        "animal blockage": 0,
    }.items():
        page.fill('[name="q"]', words)
        _expect_pairs(page, count)
    assert failed == 3
    assert len(ours) == 1


def test_back_undoes_one_filter_after_the_other(visit: Visit, report: Path) -> None:
    page = visit(report, "#pairs")
    page.select_option('[name="task"]', "open_door")
    page.select_option('[name="split"]', "val")
    expect(page.locator('[name="split"]')).to_have_value("val")
    _expect_pairs(page, 1)
    page.go_back()
    expect(page.locator('[name="split"]')).to_have_value("")
    _expect_pairs(page, 3)
    page.go_back()
    expect(page.locator('[name="task"]')).to_have_value("")
    _expect_pairs(page, 30)


@pytest.mark.parametrize(("metric", "raised"), [("hcc", False), ("cts", True)])
def test_the_table_sorts_by_a_metric_both_ways_with_unscored_pairs_last(
    visit: Visit, report: Path, evaluation: EvaluationPage, metric: str, raised: bool
) -> None:
    values = _column(evaluation, PLANNER, metric)
    missing = [number for number, value in enumerate(values) if value is None]
    page = visit(report, f"#pairs?planner={PLANNER}&look=table")
    for descending in (raised, not raised):
        page.locator(f'button[data-sort="{metric}"]').click()
        sorted_by = page.locator(f'th[aria-sort="{"descending" if descending else "ascending"}"] button')
        expect(sorted_by).to_have_attribute("data-sort", metric)
        first = _pairs(page)
        page.locator('#pager [rel="next"]').click()
        expect(page.locator("#pager")).to_contain_text("page 2 of 2")
        order = first + _pairs(page)
        assert sorted(order) == list(range(30))
        assert order[-len(missing) :] == missing
        shown = [values[number] for number in order[: -len(missing)]]
        assert shown == sorted(shown, reverse=descending)


def test_paired_differences_list_the_pairs_that_both_have_scored(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    page = visit(report)
    row = page.locator("#differences table.m-hcc tbody tr").filter(has_text="lane_keep").filter(has_text=PLANNER)
    a, b = (evaluation.scores[name]["hcc"] for name in ("lane_keep", PLANNER))
    both = int((a.is_not_null() & b.is_not_null()).sum())
    row.locator("td a.fig").last.click()
    assert both < 30
    _expect_pairs(page, both)
    expect(page.locator("#with")).to_contain_text(f"Only pairs that {PLANNER} has scored too.")


def test_a_pairs_plan_view_draws_region_ring_both_ways_and_the_body_that_was_scored(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    pair = evaluation.pairs[1]
    page = visit(report, f"#pair?id={quote(pair.pair_id, safe='')}&planner={PLANNER}")
    plan = page.locator("#pair-view .bev").first
    expect(plan.locator(".ring")).to_have_count(1)
    expect(plan.locator("polyline.way.edited")).to_have_count(1)
    expect(plan.locator("polyline.way.source")).to_have_count(1)
    dashes = plan.locator("polyline.way").evaluate_all("all => all.map(one => getComputedStyle(one).strokeDasharray)")
    assert (dashes[0] == "none", dashes[1] == "none") == (False, True)

    expected = tube(_way(evaluation, pair.pair_id))
    swept = "id => sweep(trajectoryOf(PLANNERS.find(one => one.name === 'swerve'), PAIRS.id.indexOf(id), 'edited'))"
    hulls = page.evaluate(swept, pair.pair_id)
    drawn = shapely.union_all(np.array([shapely.Polygon(hull) for hull in hulls]))
    assert shapely.area(shapely.symmetric_difference(drawn, expected)) < 0.01 * shapely.area(expected)
    expect(plan.locator(".tube.edited polygon")).to_have_count(len(hulls))
    distance = evaluation.scores[PLANNER].filter(pl.col("pair_id") == pair.pair_id)["d"][0]
    expect(plan.locator(".gaptext")).to_have_text(f"{distance:.2f} m")


def _way(evaluation: EvaluationPage, pair_id: str) -> Array:
    wanted = (pair_id, "edited")
    found = next(one for one in evaluation.predictions[PLANNER] if (one.pair_id, one.variant) == wanted)
    assert found.t is not None
    assert found.xy is not None
    return path_of(found.t, found.xy)


def test_a_pair_with_pictures_shows_them_with_the_ways_and_switches_to_the_source(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    scored = evaluation.scores[PLANNER].filter(pl.col("edited") == "ok")["pair_id"].to_list()
    name = next(pair for pair in evaluation.pictures if pair in scored)
    page = visit(report, f"#pair?id={quote(name, safe='')}&planner={PLANNER}")
    picture = page.locator(".picture image")
    edited = picture.get_attribute("href")
    expect(page.locator(".picture polyline.way.edited")).not_to_have_count(0)
    expect(page.locator(".picture polygon.region")).to_have_count(1)
    assert (
        page.evaluate(
            "async href => { const one = new Image(); one.src = href; await one.decode(); return one.naturalWidth }",
            edited,
        )
        == 800
    )
    page.get_by_role("button", name="Source", exact=True).click()
    assert picture.get_attribute("href") != edited
    assert "variant=source" in page.evaluate("location.hash")


def test_planners_are_added_to_the_drawing_and_taken_out_of_it(visit: Visit, report: Path) -> None:
    page = visit(report, f"#pairs?planner={PLANNER}&outcome=contact")
    page.locator(".paircard").first.click()
    ways = page.locator("#pair-view .bev polyline.way.edited")
    expect(ways).to_have_count(1)
    legend = page.locator("#pair-view .key li")
    expect(legend.filter(has_text="on source pictures")).to_have_count(1)
    page.locator('.chip[data-planner="brake_on_hazard"]').click()
    expect(ways).to_have_count(2)
    page.locator(f'.chip[data-planner="{PLANNER}"]').click()
    page.locator('.chip[data-planner="brake_on_hazard"]').click()
    expect(ways).to_have_count(0)
    expect(legend).to_have_text(["hazard region", re.compile("clearance")])
    page.locator("#back").click()
    expect(page.locator('[name="outcome"]')).to_have_value("contact")


def test_several_planners_keep_their_source_ways_seconds_and_distances(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    clear = evaluation.scores["brake_on_hazard"].filter(pl.col("d") > 0)["pair_id"].to_list()
    scored = evaluation.scores[PLANNER].filter(pl.col("d") > 0)["pair_id"].to_list()
    pair = next(one for one in clear if one in scored)
    page = visit(report, f"#pair?id={quote(pair, safe='')}&show=brake_on_hazard,{PLANNER}")
    plan = page.locator("#pair-view .bev").first
    expect(plan.locator("polyline.way.source")).to_have_count(2)
    expect(plan.locator(".gap")).to_have_count(2)
    for name in ("brake_on_hazard", PLANNER):
        (number,) = evaluation.scores[name].filter(pl.col("pair_id") == pair)["d"]
        expect(plan.locator(".gaptext").filter(has_text=f"{number:.2f} m")).not_to_have_count(0)
    expect(plan.locator(".time").filter(has_text="1 s")).not_to_have_count(0)
    widths = plan.locator("polyline.way").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).strokeWidth))"
    )
    assert min(widths[:2]) > max(widths[2:]) + 3  # what lies under an equal edited way is seen on both sides of it


def test_a_way_that_ends_inside_the_body_lies_on_it_and_its_seconds_beside(visit: Visit, tmp_path: Path) -> None:
    page_of = made_up(MadeUp(pairs=4, planners=("stop",), pictured=0))
    pair, t = page_of.pairs[0].pair_id, np.linspace(0, 3, 7)
    short = Predicted(pair, "edited", "ok", t, np.column_stack([0.3 * np.minimum(t, 1), 0 * t]))
    others = [one for one in page_of.predictions["stop"] if (one.pair_id, one.variant) != (pair, "edited")]
    path = tmp_path / "report.html"
    path.write_text(
        render_report(dataclasses.replace(page_of, predictions={"stop": [short, *others]})), encoding="utf-8"
    )
    page = visit(path, f"#pair?id={quote(pair, safe='')}")
    plan = page.locator("#pair-view .bev").first
    order = plan.evaluate(
        "one => [...one.querySelectorAll('.ego, .way.edited, .tick')].map(part => part.getAttribute('class'))"
    )
    assert order == ["ego", "way edited", "tick", "tick", "tick"]
    expect(plan.locator(".time")).to_have_text(["1 – 3 s"])
    body = plan.locator(".ego").evaluate("one => Math.max(...[...one.points].map(point => point.x))")
    assert float(plan.locator(".time").get_attribute("x") or 0) > body


BROKEN_WORDS = """(cells) => {
  const found = [];
  for (const cell of document.querySelectorAll(cells)) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const match of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        if (new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size > 1) found.push(match[0]);
      }
    }
  }
  return found;
}"""


def test_leaderboard_and_scores_of_a_pair_with_a_failure_break_no_word_and_fit(visit: Visit, report: Path) -> None:
    page = visit(report)
    for width in (1400, 1024, 910):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BROKEN_WORDS, ".board th, .board td") == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.evaluate(f"location.hash = '#pairs?planner={PLANNER}&outcome=failed'")
    page.locator(".paircard").first.click()
    for width in (1400, 1361, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BROKEN_WORDS, ".results th, .results tr:not(.why) td") == []
        card = page.locator(".results")
        assert card.evaluate("one => one.querySelector('table').offsetWidth <= one.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_dots_of_intervals_stay_small_at_any_width(visit: Visit, report: Path) -> None:
    page = visit(report)
    for width in (390, 768, 1024, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        dots = page.locator(".plot .dot:visible").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().width)"
        )
        assert len(dots) > 5
        assert 4 < min(dots) <= max(dots) < 13


def test_the_menu_marks_what_one_sees_and_only_that(visit: Visit, report: Path) -> None:
    page = visit(report)
    current = page.locator(".top nav [aria-current]")
    expect(current).to_have_text(["Leaderboard"])
    plain, marked = (
        page.locator(f".top nav a:has-text('{name}')").evaluate("one => getComputedStyle(one).backgroundColor")
        for name in ("Pairs", "Leaderboard")
    )
    assert plain != marked
    page.get_by_role("link", name="Tables").click()
    expect(current).to_have_text(["Tables"])
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(current).to_have_text(["Coverage"])
    page.locator(".top").get_by_role("link", name="Pairs").click()
    expect(current).to_have_text(["Pairs"])
    expect(current).to_have_attribute("aria-current", "page")
    page.locator(".paircard").first.click()
    expect(current).to_have_text(["Pairs"])


def test_a_failed_prediction_is_shown_with_its_reason_and_without_an_invented_way(
    visit: Visit, report: Path, evaluation: EvaluationPage
) -> None:
    page = visit(report, f"#pairs?planner={PLANNER}&outcome=failed")
    page.locator(".paircard").first.click()
    row = page.locator(f'.results [data-planner="{PLANNER}"]')
    expect(row).to_contain_text("failed: answer not readable")
    assert row.inner_text().count("no list of points in the answer") == 1  # the scores' reason and the planner's own
    expect(page.locator("#pair-view .bev polyline.way.edited")).to_have_count(0)
    expect(page.locator("#pair-view .bev polyline.way.source")).to_have_count(1)


def test_a_pair_without_pictures_says_how_to_see_it(visit: Visit, report: Path, evaluation: EvaluationPage) -> None:
    pair = next(pair.pair_id for pair in evaluation.pairs if pair.pair_id not in evaluation.pictures)
    page = visit(report, f"#pair?id={quote(pair, safe='')}")
    expect(page.locator(".nopicture")).to_contain_text(f"exceptiondrive show {pair}")


def test_arrow_keys_go_through_the_filtered_pairs(visit: Visit, report: Path, evaluation: EvaluationPage) -> None:
    page = visit(report, "#pairs?task=open_door")
    page.locator(".paircard").first.focus()
    page.keyboard.press("Enter")
    ids = sorted(pair.pair_id for pair in evaluation.pairs if pair.task == "open_door")
    expect(page.locator("#pair-view .id")).to_have_text(ids[0])
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pair-view .id")).to_have_text(ids[1])
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#pair-view .id")).to_have_text(ids[0])


def test_tables_switch_between_metrics(visit: Visit, report: Path) -> None:
    page = visit(report)
    cells = page.locator('#tables table[data-level="split"] tbody tr').first.locator("td").first
    expect(cells.locator(".m-hcc")).to_be_visible()
    page.locator("#tables").get_by_role("button", name="Coverage").click()
    expect(cells.locator(".m-hcc")).to_be_hidden()
    expect(cells.locator(".m-coverage")).to_contain_text("/")


@pytest.mark.parametrize("address", ["", "#pairs", "#pairs?look=table", "pair"])
def test_a_phone_needs_no_sideways_scrolling(
    visit: Visit, report: Path, evaluation: EvaluationPage, address: str
) -> None:
    pair = quote(next(iter(evaluation.pictures)), safe="")
    page = visit(report, f"#pair?id={pair}" if address == "pair" else address, width=360, height=740)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => one.checkVisibility() && !one.closest('svg, .sr')"
        " && one.getBoundingClientRect().right > 361).map(one => one.outerHTML.slice(0, 80))"
    )
    assert wide == []
    spilling = page.evaluate(
        "[...document.querySelectorAll('main td, main th, main a')].filter(one => one.checkVisibility()"
        " && getComputedStyle(one).display !== 'inline' && one.scrollHeight > one.clientHeight + 2)"
        ".map(one => one.outerHTML.slice(0, 80))"
    )
    assert spilling == []


CONTRAST = """() => {
  const lit = (text) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = text.match(/[\\d.]+/g).map((v) => linear(Number(v) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return /, 0\\)$/.test(colour) ? ground(one.parentElement) : colour;
  };
  const bad = [];
  for (const one of document.querySelectorAll('main *, header *')) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const below = ground(one);
    if (!own || !one.checkVisibility() || one.closest('svg, option, .sr') || !below.startsWith('rgb(')) continue;
    const [a, b] = [lit(getComputedStyle(one).color), lit(below)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(one.outerHTML.slice(0, 100));
  }
  return bad;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(visit: Visit, report: Path, scheme: str) -> None:
    page = visit(report, color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(15, 20, 25)") == (scheme == "dark")
    assert page.evaluate(CONTRAST) == []
    page.evaluate("location.hash = '#pairs?planner=swerve'")
    expect(page.locator("#pairs-view")).to_be_visible()
    assert page.evaluate(CONTRAST) == []


def test_print_is_light_and_as_wide_as_the_paper(visit: Visit, report: Path) -> None:
    page = visit(report, width=760, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") == 760
    expect(page.locator("table.board thead")).to_be_visible()
    expect(page.locator(".top")).to_be_hidden()


def test_hostile_texts_stay_texts(visit: Visit, tmp_path: Path) -> None:
    page_of = _hostile(made_up(MadeUp(pairs=6, planners=("swerve",), pictured=1)))
    path = tmp_path / "report.html"
    path.write_text(render_report(page_of), encoding="utf-8")
    page = visit(path)  # a dialog, an error or a request would fail the test
    expect(page.locator("h1").first).to_have_text(f"{EVIL} · {EVIL}")
    expect(page.locator("img, iframe, object, [onclick], [onerror]")).to_have_count(0)
    page.locator(".board tbody a.fig").first.click()
    _expect_pairs(page, 6)
    expect(page.locator(".paircard .where").first).to_contain_text(EVIL)
    page.locator(".paircard").first.click()
    expect(page.locator("#pair-view .id")).to_contain_text(EVIL)
    expect(page.locator(".results")).to_contain_text(EVIL)
    page.go_back()
    page.go_back()
    page.locator('#coverage a[href*="failed%3A"]').click()  # a failure that nobody knows is named as the file names it
    expect(page.locator(".paircard .badge")).to_have_text(f"failed: {EVIL}")
    for address in (f"#pair?id={quote(EVIL)}", f"#pairs?planner={quote(EVIL)}&task=%zz&sort=__proto__", "#<b>"):
        page.evaluate("address => { location.hash = address }", address)
    expect(page.locator("#report-view")).to_be_visible()
    expect(page.locator("script")).to_have_count(2)


def _hostile(page: EvaluationPage) -> EvaluationPage:
    """Return the page with hostile planner, scene, task, split, family, ids and reasons."""
    evil = pl.lit(EVIL)
    name, scores = EVIL + "planner", page.scores["swerve"]
    scores = scores.with_columns(pl.col("edited").str.replace("^parse_failed$", EVIL.replace("$", "$$")))
    scores = scores.with_columns(
        pl.col("pair_id") + evil, pl.col("task", "family", "scene") + evil, split=evil, reason=evil
    )
    pairs = [
        dataclasses.replace(
            pair,
            pair_id=pair.pair_id + EVIL,
            task=pair.task + EVIL,
            family=pair.family + EVIL,
            scene=pair.scene + EVIL,
            split=EVIL,
        )
        for pair in page.pairs
    ]
    group = pl.when(pl.col("level").is_in(["family", "task"])).then(pl.col("group") + evil).otherwise("group")
    named = {"planner": pl.lit(name)}
    keep = pl.col("level") != "split"
    return dataclasses.replace(
        page,
        title=EVIL,
        name=EVIL,
        release_name=EVIL,
        settings={EVIL: EVIL},
        planners=[dataclasses.replace(page.planners[0], name=name, note=EVIL)],
        summary=page.summary.filter(keep).with_columns(group=group, **named),
        coverage=page.coverage.filter(keep).with_columns(group=group, **named),
        sensitivity=page.sensitivity.with_columns(**named),
        scores={name: scores},
        pairs=pairs,
        predictions={
            name: [
                dataclasses.replace(one, pair_id=one.pair_id + EVIL, reason=EVIL) for one in page.predictions["swerve"]
            ]
        },
        pictures={
            pair + EVIL: [dataclasses.replace(one, sensor_id=EVIL) for one in pictures]
            for pair, pictures in page.pictures.items()
        },
    )
