"""Pictures of worlds: meshes rendered, sky behind, then lens and sensor, then JPEG. One function draws any scene."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from data_registry.geometry import PinholeCamera
from data_registry.scene3d.light import Lamp, Light
from data_registry.scene3d.mesh import Mesh
from data_registry.sources.streetset.conditions import Condition, Sensor
from data_registry.sources.streetset.sky import Sky


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What a camera can see, in the scene's own frame (x, y level, z up, metres).

    Attributes:
        static: ground, houses, plants, furniture: few big meshes.
        things: actors as they stand at the camera's time.
        light: sun, ambient, lamps, air.
        sky: behind everything.
        sensor: exposure and noise.
    """

    static: tuple[Mesh, ...]
    things: tuple[Mesh, ...]
    light: Light
    sky: Sky
    sensor: Sensor


def world(
    condition: Condition, static: tuple[Mesh, ...], things: tuple[Mesh, ...], lamps: tuple[Lamp, ...] = ()
) -> World:
    """Return a world under a condition; the lamps shine where the condition has them lit."""
    return World(static, things, condition.light_with(lamps), condition.sky, condition.sensor)


def picture(world: World, camera: PinholeCamera, seed: int) -> npt.NDArray[np.uint8]:
    """Return what a camera records, (H, W, 3) sRGB; `camera` takes points of the scene's frame; seed: of the noise."""
    raise NotImplementedError


def jpeg(world: World, camera: PinholeCamera, seed: int) -> bytes:
    """Return `picture` as JPEG with fixed settings."""
    raise NotImplementedError
