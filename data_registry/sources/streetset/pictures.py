"""Camera pictures of the scenes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from data_registry.sources.streetset import painting
from data_registry.sources.streetset.rig import CAMERAS, scene_camera, seconds
from data_registry.sources.streetset.scenery import condition_of, lamps, static_mesh, things
from data_registry.sources.streetset.world import Scene


def picture(scene: Scene, channel: str, time_us: int) -> npt.NDArray[np.uint8]:
    """Return what a camera records at a time, (H, W, 3) sRGB."""
    return painting.picture(_world(scene, time_us), scene_camera(scene, channel, time_us), _seed(channel, time_us))


def jpeg(scene: Scene, channel: str, time_us: int) -> bytes:
    """Return a camera's picture as JPEG with fixed settings."""
    return painting.jpeg(_world(scene, time_us), scene_camera(scene, channel, time_us), _seed(channel, time_us))


def _world(scene: Scene, time_us: int) -> painting.World:
    now = seconds(scene, time_us)
    return painting.world(condition_of(scene), (static_mesh(scene),), things(scene, now), lamps(scene, now))


def _seed(channel: str, time_us: int) -> int:
    """Return the seed of a reading's noise."""
    return time_us * len(CAMERAS) + sorted(CAMERAS).index(channel)
