"""What is left of the source behind a hazard and around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from benchmarks.calibration.faults import remasked
from qa_audit.evidence import ViewSubject
from qa_audit.traces import detail_kept_around, see_through, unexplained_share
from tests.qa_audit.views import Levels, changed, grain, plain, view


def widened(subject: ViewSubject, pixels: int = 30) -> ViewSubject:
    """The same with more room in the edit mask."""
    mask = ndimage.binary_dilation(subject.pixels.edit_mask, np.ones((3, 3)), iterations=pixels)
    return replace(
        subject, pixels=remasked(subject.pixels, np.asarray(mask, dtype=np.bool_), subject.pixels.object_mask)
    )


def around(subject: ViewSubject, levels: Levels, where: np.ndarray | None = None) -> ViewSubject:
    """The same with other colours around the hazard, which stays as it is."""
    there = ~subject.pixels.object_mask if where is None else ~subject.pixels.object_mask & where
    return changed(subject, np.where(there[..., None], levels, subject.pixels.edited.astype(float)))


def source(subject: ViewSubject) -> Levels:
    return subject.pixels.source.astype(float)


def beside(subject: ViewSubject) -> np.ndarray:
    """A strip beside the hazard, as wide as the widened edit mask, clear of the mask's border."""
    rows, columns = np.nonzero(subject.pixels.object_mask)
    strip = np.zeros_like(subject.pixels.object_mask)
    strip[rows.min() : rows.max(), columns.max() + 8 : columns.max() + 36] = True
    return strip


def test_an_edit_that_changes_nothing_around_its_hazard_leaves_nothing_to_explain() -> None:
    good = view()

    assert unexplained_share(good).value == 0
    assert detail_kept_around(good).note == "too little was changed around the hazard"
    assert see_through(good).value == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("light", [0.4, 0.8])
def test_a_shadow_keeps_the_source_s_detail_and_is_explained_though_its_edge_is_sharp(light: float) -> None:
    good = widened(view())
    shaded = around(good, light * source(good), beside(good))

    assert unexplained_share(shaded).value == pytest.approx(0, abs=0.01)
    assert (detail_kept_around(shaded).value or 0) > 0.7, "what its edge adds counts against it a little"


def test_a_gentle_glow_is_explained() -> None:
    good = widened(view())
    glow = 60 * np.asarray(ndimage.gaussian_filter(beside(good).astype(float), 12))[..., None]
    lit = around(good, source(good) + glow)

    assert unexplained_share(lit).value == pytest.approx(0, abs=0.01)
    assert detail_kept_around(lit).value == pytest.approx(1, abs=0.15)


def test_something_painted_beside_the_hazard_is_unexplained_by_its_area() -> None:
    good = widened(view())
    strip = beside(good)
    painted = around(good, plain(2) + grain(3, 2), strip)

    share = unexplained_share(painted).value or 0

    assert 0.3 * strip.sum() < share * good.pixels.object_mask.sum() < strip.sum()
    assert (detail_kept_around(painted).value or 0) < 0.2


def test_stripes_around_the_hazard_are_unexplained() -> None:
    good = widened(view())
    stripes = np.indices(good.pixels.object_mask.shape).sum(axis=0) % 20 < 10

    assert (unexplained_share(around(good, source(good) + 30, stripes)).value or 0) > 0.3


@pytest.mark.parametrize("blur", [3, 6])
def test_smeared_surroundings_have_lost_the_source_s_detail(blur: float) -> None:
    good = widened(view())
    smeared = around(good, np.asarray(ndimage.gaussian_filter(source(good), (blur, blur, 0))))

    assert detail_kept_around(smeared).value == pytest.approx(0, abs=0.1)


def test_a_hazard_of_which_the_object_mask_leaves_out_half_is_unexplained_there() -> None:
    good = view()
    mask = good.pixels.object_mask.copy()
    mask[:, : int(np.flatnonzero(mask.any(axis=0)).mean())] = False
    half = replace(good, pixels=replace(good.pixels, object_mask=mask))

    assert (unexplained_share(half).value or 0) > 0.2
    assert (detail_kept_around(half).value or 0) < 0.2


@pytest.mark.parametrize("opacity", [0.35, 0.5, 0.7])
def test_what_shines_through_a_hazard_is_told_by_its_share(opacity: float) -> None:
    good = view()
    ghost = changed(good, source(good) + opacity * (good.pixels.edited - source(good)))

    assert see_through(ghost).value == pytest.approx(1 - opacity, abs=0.15)


def test_before_a_source_without_detail_nothing_can_shine_through() -> None:
    good = view()
    empty = replace(good, pixels=replace(good.pixels, source=np.full_like(good.pixels.source, 90)))

    assert see_through(empty).note == "the source has no detail there"


def test_a_hazard_that_is_not_seen_explains_nothing() -> None:
    good = view()
    gone = replace(good, pixels=replace(good.pixels, object_mask=np.zeros_like(good.pixels.object_mask)))

    assert unexplained_share(gone).note == "the hazard is not seen"
    assert see_through(gone).note == "too little of the hazard is seen"
