"""Explaining a combination from its release alone."""

import json
from pathlib import Path

import pytest

from data_registry.release import Release, open_release
from tasks.publication import ends_of
from tasks.publish import publish
from tasks.show import WIDTH, UnknownCombinationError, explained_facts, show
from tests.tasks.publications import DRAWN_ENDS, build

BENCHMARK = "streetset/town/aaaa/collapsed_road_surface"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("release")
    return open_release(publish(build(folder), folder / "releases").path)


def test_a_benchmark_pair_is_explained_from_screening_to_decision(release: Release):
    about = show(release, BENCHMARK)
    assert about.outcome == "benchmark"
    assert about.pair is not None
    assert about.pair["placement"]["kind"] == "standing"
    assert about.pair["facts"][0]["name"] == "speed"
    assert about.region is not None
    assert about.decision is not None
    assert {row["chosen"] for row in about.measurements} == {True, False}
    assert [row["stage"] for row in about.lineage][:2] == ["screen", "edit"]
    assert about.lineage[-1]["stage"] == "decide"
    assert not about.rejections
    assert [view["is_edited"] for view in about.views] == [True, True, False, False]


@pytest.mark.parametrize(
    ("item_id", "outcome"),
    [
        ("streetset/town/aaaa/large_vehicle_blocking_lane", "auxiliary"),
        ("streetset/town/bbbb/collapsed_road_surface", "screen: ego_standing"),
        ("streetset/town/bbbb/large_vehicle_blocking_lane", "edit: truncated_picture"),
        ("streetset/town/cccc/collapsed_road_surface", "decide: low_realism"),
        ("streetset/town/cccc/large_vehicle_blocking_lane", "decide: low_realism"),
        ("streetset/town/dddd", "source: no_pictures"),
    ],
)
def test_whatever_a_combination_came_to_is_explained(release: Release, item_id: str, outcome: str):
    about = show(release, item_id)
    assert about.outcome == outcome
    assert json.loads(json.dumps(about.as_json()))["outcome"] == outcome
    assert about.rejections or outcome == "benchmark"


def test_a_drawn_combination_says_why_screening_left_it_out(tmp_path: Path):
    made = build(tmp_path, ends=DRAWN_ENDS)
    drawing = open_release(publish(made, tmp_path / "releases").path)
    outcomes = {name: show(drawing, name) for name in sorted(made.draw.ids)}
    assert sorted(about.outcome for about in outcomes.values()) == [
        "auxiliary",
        "screen: ego_standing",
        "screen: ego_standing",
    ]
    for about in outcomes.values():
        assert about.drawn
        assert "Screening left it out (ego_standing); it was drawn for auxiliary" in about.as_markdown()
    left = next(name for name, end in ends_of(made).items() if end == "rejected" and name not in made.draw.ids)
    assert not show(drawing, left).drawn
    assert not show(drawing, made.decided.kept[0].id).drawn


def test_the_lost_candidate_shows_under_its_pair(release: Release):
    stages = [row["stage"] for row in show(release, "streetset/town/cccc/large_vehicle_blocking_lane").rejections]
    assert stages == ["localize", "decide"]


def test_the_text_says_what_was_held_against_which_limit(release: Release):
    text = show(release, "streetset/town/bbbb/collapsed_road_surface").as_markdown()
    assert "Not kept by screen" in text
    assert "| speed | 8 | 1 | - | False |" in text
    text = show(release, "streetset/town/cccc/collapsed_road_surface").as_markdown()
    assert "| low_realism | 0.2 | 0.5 |" in text
    text = show(release, BENCHMARK).as_markdown()
    assert "| speed | 8 | 1 | - | False |" not in text
    assert "| speed | 8 | 1 | - | True |" in text
    assert (
        "- evidence: a.jpg is truncated"
        in show(release, "streetset/town/bbbb/large_vehicle_blocking_lane").as_markdown()
    )


def test_the_text_says_everything_once_in_lines_of_a_terminal(tmp_path: Path):
    made = build(tmp_path, ends=DRAWN_ENDS)
    drawing = open_release(publish(made, tmp_path / "releases").path)
    drawn = next(entry.id for entry in made.decided.recorded if entry.id in made.draw.ids and entry.record)
    for name in (drawn, BENCHMARK):
        text = show(drawing, name).as_markdown()
        assert max(map(len, text.splitlines())) <= WIDTH
        assert text.count("| speed | 8 | 1 |") == 1
        assert text.count(name) == 2  # the heading and the folder of its deltas
        assert "Not measured: contact (not for this kind)." in text
    text = show(drawing, drawn).as_markdown()
    assert "- evidence: the screening facts above" in text
    assert "- evidence: the findings above" in text


def test_facts_that_nothing_rests_on_are_told_in_a_line():
    facts = [
        {"name": "speed", "value": 6.0, "at_least": 1.0, "at_most": None, "holds": True},
        {"name": "nominal_conflict", "value": "both", "at_least": None, "at_most": None, "holds": True},
        {"name": "turn_deg", "value": None, "at_least": None, "at_most": None, "holds": True},
        {"name": "free_length_m", "value": 46.3, "at_least": None, "at_most": None, "holds": True},
        {"name": "<b>", "value": [1], "holds": True},
        {},
    ]
    lines = explained_facts("Facts", facts)
    assert [line.split(" | ")[0] for line in lines if line.startswith("| ")] == [
        "| name",
        "| speed",
        "| nominal_conflict",
    ]
    assert "Also measured: free_length_m 46.3, &lt;b&gt; (1)." in lines
    assert "Unknown: turn_deg, None." in lines


def test_an_unknown_id_is_answered_with_ids_that_are_like_it(release: Release):
    with pytest.raises(UnknownCombinationError, match=r"knows nothing about 'aaaa'.*\n  streetset/town/aaaa/coll"):
        show(release, "aaaa")
    with pytest.raises(UnknownCombinationError, match="and 3 more"):
        show(release, "")
    with pytest.raises(UnknownCombinationError, match="It has\n  streetset/town/aaaa/collapsed_road_surface\n"):
        show(release, "streetset/town/aaaa/collapsed_road_surfaces/")  # misspelt: the nearest first
    with pytest.raises(UnknownCombinationError) as raised:
        show(release, "streetset/town/bbbb/no_such_task")  # else those of the keyframe, and no others
    offered = [line.strip() for line in str(raised.value).splitlines()[1:]]
    assert offered
    assert all(name.startswith("streetset/town/bbbb/") for name in offered)
