"""Task files: the shipped ones are right, and a bad one is refused with every problem at once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from prompts.facts import FACTS
from prompts.taxonomy import (
    CAUTION,
    LARGEST_FILE,
    SHIPPED,
    TaskFileError,
    TaskSpec,
    UnknownTaskError,
    choose,
    load_taxonomy,
)

GOOD = SHIPPED / "lane_blockage" / "large_vehicle_blocking_lane.yaml"
BAD = Path(__file__).parents[1] / "golden" / "taxonomy_bad"
"""Each `<problem>.yaml` is a bad task file; `<problem>.txt` beside it says what must be told, one text a line."""


def _put(folder: Path, text: str, name: str = "lane_blockage/large_vehicle_blocking_lane.yaml") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _content(**changes: Any) -> dict[str, Any]:
    return yaml.safe_load(GOOD.read_text(encoding="utf-8")) | changes


def test_the_shipped_tasks_are_read_sorted_with_distinct_digests() -> None:
    tasks = load_taxonomy()
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)
    assert {"collapsed_road_surface", "large_vehicle_blocking_lane", "occluded_pedestrian"} <= {t.id for t in tasks}
    assert len({task.payload_digest for task in tasks}) == len(tasks)


def test_the_21_tasks_of_the_six_families_ship_each_in_its_folder_under_its_own_title() -> None:
    tasks = load_taxonomy()
    assert Counter(task.family for task in tasks) == {
        "sudden_emergence": 5,
        "lane_blockage": 4,
        "bypass_and_gap_conflict": 4,
        "signal_and_rule_conflict": 2,
        "intersection_conflict": 3,
        "road_surface_hazard": 3,
    }
    assert len(tasks) == len({task.id for task in tasks}) == len({task.title for task in tasks}) == 21
    files = {path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*") if path.is_file()}
    assert files == {f"{task.family}/{task.id}.yaml" for task in tasks}


@pytest.mark.parametrize("task", load_taxonomy(), ids=lambda task: task.id)
def test_a_shipped_task_says_in_sentences_what_it_is_and_why_it_is_refused(task: TaskSpec) -> None:
    for sentence in (task.risk, *task.suitable_when, *task.reject_when):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    assert task.words.question.endswith("?")
    codes = [predicate.reason_code for predicate in task.predicates]
    assert len(set(codes)) == len(codes)
    assert task.placement.gap_m.high < 60


@pytest.mark.parametrize("task", load_taxonomy(), ids=lambda task: task.id)
def test_a_shipped_task_keeps_the_required_clearance_of_its_kind(task: TaskSpec) -> None:
    people = {"pedestrian", "child", "ball", "cyclist", "dog", "deer", "traffic_controller"}
    shapes = {appearance.shape for appearance in task.appearances}
    if (task.region.rule == "conflict" and shapes != {"traffic_controller"}) or task.placement.kind == "surface":
        assert task.required_clearance_m == 0.5
    else:
        assert task.required_clearance_m == (1.5 if shapes <= people else 1.0)


@pytest.mark.parametrize("task", load_taxonomy(), ids=lambda task: task.id)
def test_a_shipped_task_is_consistent(task: TaskSpec) -> None:
    assert task.least_cautious_acceptable == min(task.acceptable_strategies, key=CAUTION.index)
    assert {predicate.fact for predicate in task.predicates} <= set(FACTS)
    for appearance in task.appearances:
        assert task.appearance(appearance.name) is appearance
    with pytest.raises(KeyError, match=f"task {task.id} has no appearance absent"):
        task.appearance("absent")


def test_a_digest_sees_each_change_and_no_layout(tmp_path: Path) -> None:
    (shipped,) = choose(load_taxonomy(), ("large_vehicle_blocking_lane",))
    _put(tmp_path, "# a comment\n" + yaml.safe_dump(_content(), sort_keys=True))
    (again,) = load_taxonomy(tmp_path)
    assert again.payload_digest == shipped.payload_digest
    changed = shipped.model_copy(update={"version": shipped.version + 1})
    assert changed.payload_digest != shipped.payload_digest
    with pytest.raises(ValidationError):
        shipped.model_copy(update={"version": 0})


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_bad_file_is_refused_with_its_message(path: Path, tmp_path: Path) -> None:
    _put(tmp_path, path.read_text(encoding="utf-8"))
    with pytest.raises(TaskFileError) as caught:
        load_taxonomy(tmp_path)
    for expected in path.with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        assert f"lane_blockage/large_vehicle_blocking_lane.yaml: {expected}" in str(caught.value)


def test_all_problems_of_all_files_come_at_once_and_bounded(tmp_path: Path) -> None:
    _put(tmp_path, yaml.safe_dump(_content(version=0, title=3)))
    _put(tmp_path, "a: [", "road_surface_hazard/broken.yaml")
    _put(tmp_path, "x: 1", "road_surface_hazard/empty.yaml")
    with pytest.raises(TaskFileError) as caught:
        load_taxonomy(tmp_path)
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(f"problems in the task files of {tmp_path}:")
    count = int(lines[0].split()[0])
    assert count > 15
    assert len(lines) == 1 + 10 + 1 + 1
    assert lines[11] == f"  ... and {count - 10} more"
    assert "large_vehicle_blocking_lane.yaml: version: " in lines[1] or "title: " in lines[1]
    assert any("broken.yaml: not YAML" in line for line in lines)


@pytest.mark.parametrize("name", ["stray.yaml", "lane_blockage/deep/task.yaml", "lane_blockage/task.yml"])
def test_a_file_that_would_not_be_read_is_told(name: str, tmp_path: Path) -> None:
    _put(tmp_path, GOOD.read_text(encoding="utf-8"))
    _put(tmp_path, "", name)
    with pytest.raises(TaskFileError, match=f"{name}: would not be read; task files are <family>/<task>.yaml"):
        load_taxonomy(tmp_path)


@pytest.mark.parametrize("name", ["road_surface_hazard/large_vehicle_blocking_lane.yaml", "lane_blockage/other.yaml"])
def test_file_folder_and_content_must_agree(name: str, tmp_path: Path) -> None:
    _put(tmp_path, GOOD.read_text(encoding="utf-8"), name)
    with pytest.raises(TaskFileError, match="holds task lane_blockage/large_vehicle_blocking_lane; file, folder"):
        load_taxonomy(tmp_path)


def test_two_tasks_cannot_share_an_id(tmp_path: Path) -> None:
    _put(tmp_path, yaml.safe_dump(_content()))
    other = yaml.safe_dump(_content(family="sudden_emergence"))
    _put(tmp_path, other, "sudden_emergence/large_vehicle_blocking_lane.yaml")
    with pytest.raises(TaskFileError, match="2 tasks share the id large_vehicle_blocking_lane"):
        load_taxonomy(tmp_path)


def test_a_folder_without_task_files_is_told(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(TaskFileError, match=r"no task file found; expected <family>/<task>.yaml"):
            load_taxonomy(folder)


def test_wanted_tasks_are_chosen_and_unknown_ones_named_at_once() -> None:
    tasks = load_taxonomy()
    assert choose(tasks, ()) == tasks
    chosen = choose(tasks, ("occluded_pedestrian", "collapsed_road_surface", "occluded_pedestrian"))
    assert [task.id for task in chosen] == ["collapsed_road_surface", "occluded_pedestrian"]
    with pytest.raises(UnknownTaskError, match="absent, other; the taxonomy has blocked_junction, broken_down_car"):
        choose(tasks, ("other", "absent", "occluded_pedestrian"))


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_raise_nothing_but_a_task_file_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "family").mkdir()
    (folder / "family" / "task.yaml").write_bytes(content)
    with pytest.raises(TaskFileError, match=r"family/task.yaml: "):
        load_taxonomy(folder)


def test_endless_nesting_is_a_task_file_error(tmp_path: Path) -> None:
    _put(tmp_path, "[" * 1500)
    with pytest.raises(TaskFileError, match=r"large_vehicle_blocking_lane.yaml: not YAML: maximum recursion"):
        load_taxonomy(tmp_path)


def test_a_file_that_is_too_large_is_refused_unread_and_the_largest_is_read(tmp_path: Path) -> None:
    text = GOOD.read_text(encoding="utf-8")
    _put(tmp_path, text + "#" * (LARGEST_FILE - len(text.encode())))
    assert len(load_taxonomy(tmp_path)) == 1
    _put(tmp_path, "[" * (LARGEST_FILE + 1))
    with pytest.raises(TaskFileError, match=r"large_vehicle_blocking_lane.yaml: is larger than 100,000 bytes"):
        load_taxonomy(tmp_path)


def test_a_folder_that_is_named_like_a_task_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "lane_blockage" / "x.yaml").mkdir(parents=True)
    with pytest.raises(TaskFileError, match=r"lane_blockage/x.yaml: is not a file"):
        load_taxonomy(tmp_path)
