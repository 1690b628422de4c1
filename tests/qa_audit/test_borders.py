"""What is seen along the border of an edit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.calibration.faults import remasked
from qa_audit.borders import clipped_share, seam_step
from qa_audit.evidence import ViewSubject
from tests.qa_audit.views import changed, grain, view
from tests.verdict_cases import parked, pedestrian, street


def cut(subject: ViewSubject, share: float) -> ViewSubject:
    """The same with an edit mask that ends where a share of the hazard's columns is still to come."""
    columns = np.flatnonzero(subject.pixels.object_mask.any(axis=0))
    kept = np.zeros_like(subject.pixels.edit_mask)
    kept[:, : int(columns[0] + (1 - share) * len(columns))] = True
    masks = subject.pixels.edit_mask & kept, subject.pixels.object_mask & kept
    return replace(subject, pixels=remasked(subject.pixels, *masks))


def test_an_edit_that_fades_to_its_source_has_no_seam() -> None:
    assert seam_step(view()).value == 0


@pytest.mark.parametrize("step", [-12, 6, 12])
def test_a_seam_is_told_in_grey_levels(step: int) -> None:
    good = view()

    found = seam_step(changed(good, good.pixels.edited.astype(float) + step)).value

    assert found == pytest.approx(abs(step), abs=0.6)


def test_a_colour_that_ends_at_the_border_is_a_seam() -> None:
    good = view()

    found = seam_step(changed(good, good.pixels.edited + np.array([15.0, 0.0, -15.0]))).value

    assert found == pytest.approx(15, abs=0.6)


def test_new_noise_alone_is_no_seam() -> None:
    good = view()

    assert (seam_step(changed(good, good.pixels.edited + grain(6, 7))).value or 0) < 4


def test_an_edit_mask_as_large_as_the_picture_has_no_border() -> None:
    good = view()
    whole = replace(good.pixels, edit_mask=np.ones_like(good.pixels.edit_mask))

    assert seam_step(replace(good, pixels=whole)).note == "the edit mask has no border inside the picture"


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_a_hazard_that_its_mask_cuts_is_clipped_along_the_cut(share: float) -> None:
    assert clipped_share(view()).value == 0
    assert (clipped_share(cut(view(), share)).value or 0) > 0.1


def test_a_nearer_object_that_hides_a_hazard_does_not_clip_it() -> None:
    behind = view(placement=pedestrian(14, -1.5), keyframe=street([parked(9, -1.6)]))
    tight = behind.pixels.edit_mask & ~behind.expected.hidden

    hidden = replace(behind, pixels=remasked(behind.pixels, tight, behind.pixels.object_mask))

    assert clipped_share(hidden).value == 0


def test_the_edge_of_the_picture_clips_nothing() -> None:
    near = view(placement=pedestrian(4.5, 0))

    assert near.pixels.object_mask[-1].any()
    assert clipped_share(near).value == 0


def test_a_hazard_that_is_not_seen_has_no_outline() -> None:
    good = view()
    gone = replace(good.pixels, object_mask=np.zeros_like(good.pixels.object_mask))

    assert clipped_share(replace(good, pixels=gone)).value is None


def test_a_hazard_that_is_not_seen_is_told_as_that() -> None:
    good = view()
    gone = replace(good.pixels, object_mask=np.zeros_like(good.pixels.object_mask))

    assert clipped_share(replace(good, pixels=gone)).note == "the hazard is not seen"
