"""A camera sees the world as it stands when the camera fires, not when the keyframe does."""

import numpy as np
import pytest

from data_registry.cameras import pinhole
from data_registry.geometry import GeometryError, Transform
from data_registry.records import Pose
from tests import samples


def test_a_camera_that_fires_later_has_moved_with_the_vehicle() -> None:
    keyframe, camera = samples.KEYFRAME, samples.CAMERA
    assert np.allclose(pinhole(keyframe, camera).position, [0.4 + 1.7, 0.0, 1.5])
    pixels, depth = pinhole(keyframe, camera).project(np.array([[12.1, 0.0, 1.5]]))
    assert np.allclose(pixels, [[816.3, 491.5]])
    assert depth[0] == pytest.approx(10.0)


def test_what_is_seen_does_not_depend_on_where_the_map_starts() -> None:
    shift = Transform.from_quaternion((600.0, -1500.0, 3.0), (0.6, 0.0, 0.0, 0.8))
    moved = samples.KEYFRAME.model_copy(update={"ego_to_global": Pose.of(shift)})
    camera = samples.CAMERA.model_copy(
        update={"ego_to_global": Pose.of(shift @ samples.CAMERA.ego_to_global.transform())}
    )
    points = np.array([[12.0, 1.0, 0.0], [30.0, -4.0, 2.0]])
    here, there = pinhole(samples.KEYFRAME, samples.CAMERA), pinhole(moved, camera)
    assert np.allclose(here.project(points)[0], there.project(points)[0], atol=1e-3)
    assert (there.width, there.height) == (1600, 900)


def test_a_calibration_that_is_none_is_refused() -> None:
    flat = samples.CAMERA.model_copy(update={"intrinsics": ((1, 0, 0), (0, 1, 0), (0, 0, 0))})
    with pytest.raises(GeometryError, match="singular"):
        pinhole(samples.KEYFRAME, flat)
    twisted = Pose(translation=(0, 0, 0), rotation=(1, 1, 0, 0))
    with pytest.raises(GeometryError, match="not a unit quaternion"):
        pinhole(samples.KEYFRAME, samples.CAMERA.model_copy(update={"camera_to_ego": twisted}))
