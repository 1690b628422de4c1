"""Light and colour of a hazard and of what surrounds it inside the edit mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qa_audit.colours import brightness_ratio, cast_inside, over_range_levels, ring_cast, ring_exposure
from qa_audit.evidence import ViewSubject
from tests.qa_audit.views import changed, grain, plain, view


def turned(subject: ViewSubject, share: float, where: str) -> ViewSubject:
    """The same with a colour cast: more red, less blue."""
    mask = subject.pixels.edit_mask if where == "edit" else subject.pixels.object_mask
    edited = subject.pixels.edited.astype(float)
    edited[mask] *= np.array([1 + share, 1.0, 1 - share])
    return changed(subject, edited)


def test_a_good_edit_has_neither_cast_nor_wrong_exposure() -> None:
    good = view()

    assert ring_exposure(good).value == 0
    assert ring_cast(good).value == 0
    assert (cast_inside(good).value or 0) < 0.03
    assert over_range_levels(good).value == pytest.approx(0, abs=0.5)
    assert brightness_ratio(good).value == pytest.approx(1.2, abs=0.25)


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_a_cast_of_the_whole_edit_shows_around_the_hazard(share: float) -> None:
    assert ring_cast(turned(view(), share, "edit")).value == pytest.approx(share, abs=0.03)


def test_a_shadow_is_dark_and_no_cast() -> None:
    good = view()
    shadow = good.pixels.edited.astype(float)
    shadow[~good.pixels.object_mask] *= 0.6

    dark = changed(good, shadow)

    assert ring_exposure(dark).value == pytest.approx(-45, abs=15)
    assert (ring_cast(dark).value or 0) < 0.01


def test_a_cast_of_the_hazard_alone_shows_in_its_greys() -> None:
    cast = turned(view(), 0.4, "hazard")

    assert ring_cast(cast).value == 0
    assert cast_inside(cast).value == pytest.approx(0.38, abs=0.06)


def test_a_red_hazard_with_grey_parts_has_no_cast() -> None:
    red = plain(1) + grain(3, 1)
    red[:, np.arange(800) % 20 < 16] *= np.array([1.6, 0.5, 0.5])

    assert (cast_inside(view(red)).value or 0) < 0.05


def test_a_hazard_lighter_than_everything_around_is_told_by_how_much() -> None:
    assert over_range_levels(view(np.full((450, 800, 3), 245.0))).value == pytest.approx(55, abs=10)


def test_a_hazard_in_deep_shade_has_no_light_parts() -> None:
    assert (brightness_ratio(view(0.3 * plain(1))).value or 1) < 0.45


def test_a_hazard_as_dark_as_night_has_no_colour_and_a_speck_no_brightness() -> None:
    good = view()
    speck = np.zeros_like(good.pixels.object_mask)
    speck[200:204, 400:404] = True
    small = replace(good, pixels=replace(good.pixels, object_mask=speck))

    assert cast_inside(view(np.full((450, 800, 3), 10.0))).value is None
    assert over_range_levels(small).value is None
    assert brightness_ratio(small).note.startswith("too little of the hazard")
