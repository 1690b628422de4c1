"""A camera sees the world as it stands when the camera fires, not when the keyframe does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.cameras import pinhole
from data_registry.geometry import GeometryError, Transform, yaw_rotation
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
    with pytest.raises(GeometryError, match=f"{flat.sensor_id} of {samples.KEYFRAME.id}: .* singular"):
        pinhole(samples.KEYFRAME, flat)
    twisted = Pose(translation=(0, 0, 0), rotation=(1, 1, 0, 0))
    with pytest.raises(GeometryError, match="not a unit quaternion"):
        pinhole(samples.KEYFRAME, samples.CAMERA.model_copy(update={"camera_to_ego": twisted}))


turns = st.floats(-3.1, 3.1)
shifts = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000), st.floats(-20, 20))


@given(turns, shifts, turns, st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-0.1, 0.1)))
@settings(deadline=None, max_examples=40)
def test_static_things_are_seen_by_the_pose_of_the_cameras_own_time(turn: float, shift, way: float, moved) -> None:
    ego = Transform(yaw_rotation(turn), np.array(shift))
    fired = ego @ Transform(yaw_rotation(way / 30), np.array(moved))
    keyframe = samples.KEYFRAME.model_copy(update={"ego_to_global": Pose.of(ego)})
    camera = samples.CAMERA.model_copy(update={"ego_to_global": Pose.of(fired)})
    in_camera = np.array([[0.5, 0.2, 9.0], [-3.0, 1.0, 25.0]])
    in_global = fired.apply(camera.camera_to_ego.transform().apply(in_camera))

    pixels, depth = pinhole(keyframe, camera).project(ego.inverse().apply(in_global))

    image = in_camera @ np.array(camera.intrinsics).T
    assert np.allclose(pixels, image[:, :2] / image[:, 2:], atol=0.01)
    assert np.allclose(depth, in_camera[:, 2], atol=1e-4)
