"""From camera records to pinhole cameras in the keyframe's ego frame."""

from __future__ import annotations

import numpy as np

from data_registry.geometry import GeometryError, PinholeCamera
from data_registry.records import Camera, Keyframe


def pinhole(keyframe: Keyframe, camera: Camera) -> PinholeCamera:
    """Return the camera as static things in the ego frame at time 0 see it.

    The way goes through global: ego at time 0 -> global -> ego at the camera's own time -> camera (DESIGN section 5).

    Raises:
        GeometryError: intrinsics that cannot project, or a pose that is none; the text names camera and keyframe.
    """
    try:
        camera_to_global = camera.ego_to_global.transform() @ camera.camera_to_ego.transform()
        ego_to_camera = camera_to_global.inverse() @ keyframe.ego_to_global.transform()
        return PinholeCamera(np.array(camera.intrinsics), ego_to_camera, camera.width, camera.height)
    except GeometryError as error:
        raise GeometryError(f"{camera.sensor_id} of {keyframe.id}: {error}") from error
