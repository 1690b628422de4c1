"""What a stored edited view means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.blobs import Blobs
from data_registry.edits import (
    EditFormError,
    bounding_window,
    compose,
    full_edit_mask,
    full_object_mask,
    materialise,
)
from data_registry.pictures import encode_png
from data_registry.records import ViewEdit


def _noise(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 256, shape, dtype=np.uint8)


@given(st.integers(0, 10), st.integers(0, 10), st.integers(1, 10), st.integers(1, 10), st.integers(0, 99))
def test_composing_changes_exactly_the_masked_pixels(left: int, top: int, width: int, height: int, seed: int) -> None:
    source, crop = _noise((20, 20, 3), seed), _noise((height, width, 3), seed + 1)
    mask = np.where(_noise((height, width), seed + 2) > 127, 255, 0).astype(np.uint8)
    picture = compose(source, (left, top, left + width, top + height), crop, mask)
    full = np.zeros((20, 20), bool)
    full[top : top + height, left : left + width] = mask > 0
    np.testing.assert_array_equal(picture[~full], source[~full])
    np.testing.assert_array_equal(picture[top : top + height, left : left + width][mask > 0], crop[mask > 0])


@pytest.fixture
def stored(tmp_path: Path) -> tuple[ViewEdit, Blobs, np.ndarray, np.ndarray]:
    blobs = Blobs(str(tmp_path))
    crop = _noise((4, 6, 3), 3)
    mask = np.zeros((4, 6), np.uint8)
    mask[1:3, 2:5] = 255
    view = ViewEdit(
        sensor_id="CAM_FRONT",
        source_sha256="0" * 64,
        window=(2, 3, 8, 7),
        edited=blobs.put(encode_png(crop)),
        edit_mask=blobs.put(encode_png(mask)),
        object_mask=blobs.put(encode_png(np.where(mask > 0, 255, 0).astype(np.uint8))),
    )
    return view, blobs, crop, mask


def test_a_stored_view_comes_back_as_the_full_picture(stored: tuple[ViewEdit, Blobs, np.ndarray, np.ndarray]) -> None:
    view, blobs, crop, mask = stored
    source = _noise((10, 12, 3), 9)
    picture = materialise(source, view, blobs)
    np.testing.assert_array_equal(picture[3:7, 2:8][mask > 0], crop[mask > 0])
    changed = full_edit_mask(view, blobs, (10, 12))
    assert int((changed > 0).sum()) == int((mask > 0).sum())
    np.testing.assert_array_equal(picture[changed == 0], source[changed == 0])
    np.testing.assert_array_equal(full_object_mask(view, blobs, (10, 12)), changed)


def test_a_window_outside_the_picture_is_refused(stored: tuple[ViewEdit, Blobs, np.ndarray, np.ndarray]) -> None:
    view, blobs, _, _ = stored
    with pytest.raises(EditFormError, match="does not lie in a picture of 7x5"):
        materialise(_noise((5, 7, 3), 1), view, blobs)
    with pytest.raises(EditFormError, match="does not lie"):
        full_edit_mask(view, blobs, (5, 7))


def test_a_crop_of_another_size_than_its_window_is_refused(
    stored: tuple[ViewEdit, Blobs, np.ndarray, np.ndarray],
) -> None:
    view, blobs, _, _ = stored
    wider = view.model_copy(update={"window": (2, 3, 9, 7)})
    with pytest.raises(EditFormError, match="do not have the size of window"):
        materialise(_noise((10, 12, 3), 1), wider, blobs)
    with pytest.raises(EditFormError, match="size of window"):
        full_object_mask(wider, blobs, (10, 12))


def test_the_window_is_tight_and_an_empty_mask_has_none() -> None:
    mask = np.zeros((10, 12), np.uint8)
    mask[3, 2] = mask[6, 7] = 255
    assert bounding_window(mask) == (2, 3, 8, 7)
    with pytest.raises(EditFormError, match="empty"):
        bounding_window(np.zeros((3, 3), np.uint8))


def test_masks_that_make_no_sense_together_are_refused(stored: tuple[ViewEdit, Blobs, np.ndarray, np.ndarray]) -> None:
    view, blobs, _, mask = stored
    outside = mask.copy()
    outside[0, 0] = 255
    bad = {
        "the object mask leaves the edit mask": {"object_mask": blobs.put(encode_png(outside))},
        "the edit mask is empty": {"edit_mask": blobs.put(encode_png(np.zeros_like(mask)))},
        "differ in size": {"object_mask": blobs.put(encode_png(mask[1:]))},
    }
    for words, change in bad.items():
        for read in (materialise, lambda source, view, blobs: full_object_mask(view, blobs, source.shape)):
            with pytest.raises(EditFormError, match=words):
                read(_noise((10, 12, 3), 1), view.model_copy(update=change), blobs)
