"""Publishing: every item ends somewhere, the bytes do not depend on any order, and nothing unfit gets in."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data_registry.blobs import BlobMissingError
from data_registry.manifest import ReleasePathError
from data_registry.pictures import encode_png
from data_registry.records import Decision
from data_registry.release import Release, open_release
from data_registry.verify import verify
from tasks.auxiliary import NOTHING_DRAWN
from tasks.publication import (
    IncompleteError,
    Publication,
    PublicationError,
    ReconciliationError,
    ends_of,
    funnel,
    pair_of,
    reasons_of,
)
from tasks.publish import publish
from tests.tasks.publications import DRAWN_ENDS, ENDS, STAGES, Named, build, candidate, unsettle

FIELDS = ("screened", "edited", "measured", "localized", "judged", "decided")
BENCHMARK = "streetset/town/aaaa/collapsed_road_surface"


@pytest.fixture(scope="module")
def publication(tmp_path_factory: pytest.TempPathFactory) -> Publication:
    return build(tmp_path_factory.mktemp("publication"))


@pytest.fixture(scope="module")
def release(publication: Publication, tmp_path_factory: pytest.TempPathFactory) -> Release:
    return open_release(publish(publication, tmp_path_factory.mktemp("releases")).path)


def change(publication: Publication, field: str, index: int, **changes: Any) -> Publication:
    """Change one settled entry of a stage."""
    results = getattr(publication, field)
    entries = list(results.settled)
    entries[index] = dataclasses.replace(entries[index], **changes)
    return dataclasses.replace(publication, **{field: dataclasses.replace(results, settled=tuple(entries))})


def drop(publication: Publication, field: str, index: int = 0) -> Publication:
    """Lose one settled entry of a stage."""
    results = getattr(publication, field)
    rest = tuple(entry for number, entry in enumerate(results.settled) if number != index)
    return dataclasses.replace(publication, **{field: dataclasses.replace(results, settled=rest)})


def test_every_combination_ends_somewhere(publication: Publication):
    assert sorted(ends_of(publication).values()) == [
        "auxiliary",
        "benchmark",
        "failed_permanent",
        "rejected",
        "rejected",
        "rejected",
    ]
    counts = funnel(publication)
    assert counts["source"] == {"kept": 3, "skipped": 1, "total": 4}
    assert counts["localize"]["failed_permanent"] == 1
    assert counts["release"]["total"] == counts["screen"]["total"] == 6


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Publication:
    return build(tmp_path_factory.mktemp("drawing"), ends=DRAWN_ENDS)


def test_a_drawn_combination_is_auxiliary_or_stays_rejected_for_the_reason_of_screening(
    drawing: Publication, tmp_path: Path
):
    ends = ends_of(drawing)
    assert sorted(ends[name] for name in drawing.draw.ids) == ["auxiliary", "rejected", "rejected"]
    counts = funnel(drawing)
    assert counts["draw"] == {"kept": 3, "total": 3}
    assert counts["edit"]["total"] == counts["screen"]["kept"] + counts["draw"]["kept"]
    assert counts["release"] == {
        **{"benchmark": 2, "auxiliary": 1, "rejected": 3, "failed_permanent": 0, "unsettled": 0},
        "total": 6,
    }
    assert {reasons_of(drawing)[name] for name in drawing.draw.ids} == {"ego_standing"}
    assert drawing.complete  # an edit that fails for good is an answer
    release = publish(drawing, tmp_path)
    assert verify(release.path, deep=True).ok
    pairs = open_release(release.path).frame("hazards", "pairs").filter(subset="auxiliary").to_dicts()
    assert [(row["pair_id"] in drawing.draw.ids, row["reason_code"]) for row in pairs] == [(True, "ego_standing")]


def test_a_drawn_combination_whose_edit_has_no_result_leaves_the_release_incomplete(
    drawing: Publication, tmp_path: Path
):
    index = next(n for n, entry in enumerate(drawing.edited.settled) if entry.record is None)
    name = drawing.edited.settled[index].id
    broken = unsettle(drawing, "edited", index)
    assert name in drawing.draw.ids
    assert (ends_of(drawing)[name], ends_of(broken)[name]) == ("rejected", "unsettled")
    with pytest.raises(IncompleteError):
        publish(broken, tmp_path)


def test_only_drawn_combinations_may_be_edited_although_screening_left_them_out(drawing: Publication):
    with pytest.raises(ReconciliationError, match="edit: "):
        funnel(dataclasses.replace(drawing, draw=NOTHING_DRAWN))
    index = next(n for n, entry in enumerate(drawing.edited.settled) if entry.id in drawing.draw.ids)
    with pytest.raises(ReconciliationError, match="edit: "):
        funnel(drop(drawing, "edited", index))


def test_the_manifest_counts_pairs_by_family_and_task(drawing: Publication, tmp_path: Path):
    counts = open_release(publish(drawing, tmp_path).path).manifest.components["hazards"].strata
    assert sum(part["benchmark"] for name, part in counts.items() if "/" in name) == 2
    assert sum(part["auxiliary"] for name, part in counts.items() if "/" not in name) == 1
    assert all(part["total"] == part["benchmark"] + part["auxiliary"] for part in counts.values())


def test_rejections_hold_every_item_that_a_stage_did_not_keep(release: Release):
    rows = {(row["stage"], row["status"]): row for row in release.frame("hazards", "rejections").to_dicts()}
    assert rows["source", "skipped"]["reason_code"] == "no_pictures"
    assert rows["source", "skipped"]["evidence"] == "a.jpg is missing"  # without this machine's folders
    assert rows["edit", "failed_permanent"]["evidence"] == "a.jpg is truncated"
    assert json.loads(rows["screen", "rejected"]["evidence"])[0]["name"] == "speed"
    assert json.loads(rows["decide", "rejected"]["evidence"])[0] == {"code": "low_realism", "limit": 0.5, "value": 0.2}
    assert rows["localize", "failed_permanent"]["item_id"].partition("@")[2]


def test_views_list_every_picture_that_a_planner_sees_and_only_lost_ones_are_missing(release: Release):
    views = release.frame("hazards", "views").filter(pair_id=BENCHMARK).to_dicts()
    assert [(view["sensor_id"], view["frame_offset"], view["is_edited"]) for view in views] == [
        ("CAM_FRONT", -1, False),
        ("CAM_FRONT", 0, True),
        ("CAM_FRONT_LEFT", -1, False),
        ("CAM_FRONT_LEFT", 0, True),
    ]
    assert views[1]["delta"] == f"deltas/{BENCHMARK}/CAM_FRONT.png"
    assert views[1]["edit_mask"] == f"deltas/{BENCHMARK}/CAM_FRONT.edit_mask.png"


def test_the_chosen_candidate_is_the_one_that_is_published(publication: Publication, release: Release):
    entry = next(entry for entry in publication.decided.settled if entry.id == BENCHMARK)
    chosen = entry.item.edit.candidates[1]
    row = release.frame("hazards", "pairs").filter(pair_id=BENCHMARK).to_dicts()[0]
    assert (row["edit_digest"], row["seed"], row["attempt"]) == (chosen.edit_digest, chosen.seed, 1)
    delta = release.read(f"deltas/{BENCHMARK}/CAM_FRONT.png")
    assert delta == publication.blobs.get(next(v.edited for v in chosen.views if v.sensor_id == "CAM_FRONT"))


def test_lineage_names_every_outcome_with_its_key_and_back_end(publication: Publication, release: Release):
    rows = release.frame("hazards", "lineage").filter(pair_id=BENCHMARK).to_dicts()
    assert sorted(row["stage"] for row in rows) == sorted([*STAGES, "measure", "localize", "judge"])
    keys = {entry.key for results in publication.results for entry in results.settled}
    assert {row["key"] for row in rows} <= keys
    assert {(row["stage_version"], row["backend"]) for row in rows} == {
        (3, '{"backend":"rules","revision":"1","threshold":0.5}')
    }


def test_measurements_cover_the_candidates_of_rejected_pairs_too(release: Release):
    decided = set(release.frame("hazards", "decisions")["pair_id"])
    assert set(release.frame("hazards", "measurements")["pair_id"]) == decided
    assert len(decided) == 4


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_order_of_results_does_not_reach_the_bytes(
    publication: Publication, release: Release, tmp_path: Path, data: st.DataObject
):
    def mixed(results: Any) -> Any:
        return dataclasses.replace(results, settled=tuple(data.draw(st.permutations(results.settled))))

    shuffled = dataclasses.replace(publication, **{field: mixed(getattr(publication, field)) for field in FIELDS})
    published = publish(shuffled, tmp_path)
    assert published.digest == release.digest
    for path in release.by_path:
        assert (published.path / path).read_bytes() == (release.path / path).read_bytes()


def test_a_store_elsewhere_gives_the_same_release(release: Release, tmp_path: Path):
    assert publish(build(tmp_path, order=-1), tmp_path / "releases").digest == release.digest


@pytest.mark.parametrize("field", FIELDS)
def test_an_incomplete_set_is_refused_unless_it_was_allowed(publication: Publication, tmp_path: Path, field: str):
    index = {"screened": 2, "edited": 2}.get(field, 0)
    part = unsettle(publication, field, index, error="LeaseLost: host-7/4711 lost its lease at /srv/store")
    part = _without_followers(part, field)
    with pytest.raises(IncompleteError, match=r"1 items have no result yet.*\(LeaseLost: host-7.*--allow-incomplete"):
        publish(part, tmp_path)
    with pytest.raises(IncompleteError):
        publish(dataclasses.replace(part, version="1.0.0"), tmp_path, allow_incomplete=True)
    published = publish(part, tmp_path, allow_incomplete=True)
    assert not published.manifest.complete
    report = verify(published.path, deep=True)
    assert report.ok, report.text()
    rows = open_release(published.path).frame("hazards", "rejections").filter(status="unsettled").to_dicts()
    assert [(row["evidence"], row["split"]) for row in rows] == [("LeaseLost", "val")]
    assert b"Not complete" in (published.path / "README.md").read_bytes()


def _without_followers(publication: Publication, field: str) -> Publication:
    """Take away what later stages made of an item that has no result: they never saw it."""
    item_id = getattr(publication, field).unsettled[0].id
    candidate_wise = field in {"measured", "localized"}
    later = ("judged", "decided") if candidate_wise else FIELDS[FIELDS.index(field) + 1 :]
    for name in later:
        results = getattr(publication, name)
        gone = {item_id, pair_of(item_id)} if candidate_wise else {item_id}
        rest = tuple(
            entry
            for entry in results.settled
            if entry.id not in gone and (candidate_wise or pair_of(entry.id) != pair_of(item_id))
        )
        publication = dataclasses.replace(publication, **{name: dataclasses.replace(results, settled=rest)})
    return publication


def test_a_complete_set_is_complete_even_where_less_was_allowed(publication: Publication, tmp_path: Path):
    assert publish(publication, tmp_path, allow_incomplete=True).manifest.complete


@pytest.mark.parametrize("field", FIELDS)
def test_an_item_that_got_lost_between_stages_is_refused(publication: Publication, tmp_path: Path, field: str):
    index = {"screened": 5}.get(field, 0)
    with pytest.raises(ReconciliationError, match="got lost between stages"):
        publish(drop(publication, field, index), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_keyframe_without_combinations_is_refused(publication: Publication, tmp_path: Path):
    selection = dataclasses.replace(publication.selection, keyframes=publication.selection.keyframes[:2])
    with pytest.raises(ReconciliationError, match="screen: streetset/town/cccc"):
        publish(dataclasses.replace(publication, selection=selection), tmp_path)


def _decision(publication: Publication, change_record: Callable[[Decision], dict[str, Any]]) -> Publication:
    for index, entry in enumerate(publication.decided.settled):
        if entry.id == BENCHMARK and entry.record is not None:
            changed = Decision.model_validate({**entry.record.model_dump(), **change_record(entry.record)})
            return change(publication, "decided", index, record=changed)
    raise AssertionError


def test_a_decision_for_a_candidate_that_does_not_exist_is_refused(publication: Publication, tmp_path: Path):
    with pytest.raises(PublicationError, match="which its edit lacks"):
        publish(_decision(publication, lambda _: {"edit_digest": "0" * 64}), tmp_path)


def test_a_benchmark_pair_without_approval_or_region_is_refused(publication: Publication, tmp_path: Path):
    with pytest.raises(PublicationError, match="without approval or region"):
        publish(_decision(publication, lambda _: {"approved": False}), tmp_path)
    entry = next(entry for entry in publication.decided.settled if entry.id == BENCHMARK)
    index = publication.decided.settled.index(entry)
    bare = dataclasses.replace(entry.item, candidates=())
    with pytest.raises(PublicationError, match="without approval or region"):
        publish(change(publication, "decided", index, item=bare), tmp_path)


def _with_view(publication: Publication, **changes: Any) -> Publication:
    """Change the first edited view of the benchmark pair's chosen candidate."""
    entry = next(entry for entry in publication.decided.settled if entry.id == BENCHMARK)
    index = publication.decided.settled.index(entry)
    first, chosen = entry.item.edit.candidates
    view = chosen.views[0].model_copy(update=changes)
    changed = chosen.model_copy(update={"views": (view, *chosen.views[1:])})
    changed = type(changed).model_validate(changed.model_dump())
    edit = entry.item.edit.model_copy(update={"candidates": (first, changed)})
    judged = entry.item.candidates[1]
    edited = dataclasses.replace(judged.examined.edited, candidate=changed)
    judged = dataclasses.replace(judged, examined=dataclasses.replace(judged.examined, edited=edited))
    assert entry.record is not None
    record = entry.record.model_copy(update={"edit_digest": changed.edit_digest})
    item = dataclasses.replace(entry.item, edit=edit, candidates=(entry.item.candidates[0], judged))
    return change(publication, "decided", index, item=item, record=record)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"window": (40, 8, 70, 32)}, "window"),
        ({"window": (10, 8, 41, 32)}, "window"),
        ({"source_sha256": "0" * 64}, "made from another picture"),
        ({"sensor_id": "CAM_BACK"}, "no picture for the edited views"),
        ({"frame_offset": -2}, "lost its picture"),
    ],
)
def test_an_edited_view_that_does_not_fit_its_source_is_refused(
    publication: Publication, tmp_path: Path, changes: dict[str, Any], problem: str
):
    with pytest.raises(PublicationError, match=problem):
        publish(_with_view(publication, **changes), tmp_path)


def test_a_delta_that_shows_more_than_its_mask_is_refused(publication: Publication, tmp_path: Path):
    full = publication.blobs.put(encode_png(np.full((24, 30, 3), 9, dtype=np.uint8)))
    with pytest.raises(PublicationError, match="not zero outside its edit mask"):
        publish(_with_view(publication, edited=full), tmp_path)


def test_a_blob_that_is_gone_is_told(publication: Publication, tmp_path: Path):
    with pytest.raises(BlobMissingError):
        publish(_with_view(publication, edited="0" * 64), tmp_path)


def test_a_stage_without_lineage_is_refused(publication: Publication, tmp_path: Path):
    with pytest.raises(PublicationError, match="no stage 'judge'"):
        publish(
            dataclasses.replace(publication, stages={name: Named(name) for name in STAGES if name != "judge"}), tmp_path
        )


def test_a_scene_whose_name_no_path_can_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from tests.tasks import publications

    def climbing(token: str, real: Any = publications.keyframe.__wrapped__) -> Any:
        return real(token).model_copy(update={"scene": "to\\wn"})

    monkeypatch.setattr(publications, "keyframe", climbing)
    with pytest.raises(ReleasePathError, match="not possible in a release"):
        publish(build(tmp_path, ends=("benchmark", *ENDS[1:])), tmp_path / "releases")
    assert not [path for path in (tmp_path / "releases/demo").iterdir() if path.name.startswith(".staging")]


def test_a_scene_may_have_an_at_sign(publication: Publication):
    assert pair_of("nuscenes/a@0123456789ab/t/x@0123456789ab") == "nuscenes/a@0123456789ab/t/x"
    assert candidate(publication.blobs, publication.screened.settled[0].item, 0).edit_digest


def test_records_of_rejected_items_are_their_evidence(publication: Publication, tmp_path: Path):
    result = dataclasses.replace(publication.judged.settled[0].result, status="rejected", reason_code="doubtful")
    changed = publication
    for field in ("localized", "judged"):
        changed = change(changed, field, 0, result=result)
    against = next(
        index for index, entry in enumerate(publication.edited.settled) if entry.id.startswith("streetset/town/cccc")
    )
    changed = change(changed, "edited", against, result=result)
    published = publish(changed, tmp_path)
    assert verify(published.path).ok
    rows = open_release(published.path).frame("hazards", "rejections").filter(reason_code="doubtful").to_dicts()
    evidence = {row["stage"]: json.loads(row["evidence"]) for row in rows}
    assert evidence["localize"]["method"] == "ground_plane"
    assert evidence["judge"]["realism"] == 0.7
    assert len(evidence["edit"]) == 1
