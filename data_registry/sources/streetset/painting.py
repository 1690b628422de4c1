"""Pictures of worlds: meshes rendered, sky behind, then lens and sensor, then JPEG. One function draws any scene."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy.ndimage import gaussian_filter

from data_registry.geometry import PinholeCamera
from data_registry.scene3d.grain import Single
from data_registry.scene3d.light import Lamp, Light
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.rasteriser import photograph
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.sources.streetset.conditions import Condition, Sensor
from data_registry.sources.streetset.sky import Sky

if TYPE_CHECKING:
    from data_registry.sources.streetset.film import Backdrop

QUALITY: Final = 95
SUBSAMPLING: Final = "4:2:0"
MOST_LAMPS: Final = 14
HALO_STEP: Final = 8
HALO_LEVEL: Final = 0.55
SHADOW_REACH_M: Final = 30.0
"""How far from a camera's view things may stand that cast shadows into it, metres."""


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
    from data_registry.scene3d.shadows import cast_shadows
    from data_registry.sources.streetset.film import developed, exposed, srgb_table

    meshes = [in_reach(joined(world.static), camera), *world.things]
    light = replace(world.light, lamps=lamps_that_matter(world.light.lamps, camera))
    rgb, coverage = photograph(meshes, camera, light, cast_shadows(meshes, camera, light))
    sensor = world.sensor
    backdrop = _backdrop(world, camera)
    arrived = exposed(rgb, coverage, backdrop, sensor.exposure, sensor.vignette)
    dice = raw_bytes(seed, 5 * camera.height * camera.width).reshape(5, camera.height, camera.width)
    look = sensor.softness, sensor.noise, sensor.dark_noise
    return developed(arrived, _halo(arrived, sensor.bloom), HALO_STEP, look, dice, srgb_table())


def jpeg(world: World, camera: PinholeCamera, seed: int) -> bytes:
    """Return `picture` as JPEG with fixed settings."""
    stream = io.BytesIO()
    Image.fromarray(picture(world, camera, seed)).save(stream, "JPEG", quality=QUALITY, subsampling=SUBSAMPLING)
    return stream.getvalue()


def in_reach(mesh: Mesh, camera: PinholeCamera) -> Mesh:
    """Return the faces that a camera may see or that may cast a shadow into its view: most of a town is behind it."""
    seen = camera.ego_to_camera.apply(mesh.vertices)
    spread = 1.1 * camera.width / 2 / float(camera.intrinsics[0, 0])
    ahead = seen[:, 2] > -SHADOW_REACH_M
    near = ahead & (np.abs(seen[:, 0]) < spread * np.maximum(seen[:, 2], 0) + SHADOW_REACH_M)
    # One byte a vertex, so that the faces' corners are looked up once: near, on either side, not behind.
    marks = near + 2 * (seen[:, 0] > 0) + 4 * (seen[:, 0] <= 0) + np.uint8(8) * ahead
    first, second, third = mesh.faces.T
    found = marks[first] | marks[second] | marks[third]
    # A face with all corners out of reach may still cross the view when they are on both sides of it.
    kept = ((found & 1 != 0) | (found & 6 == 6)) & (found & 8 != 0)
    return Mesh(mesh.vertices, mesh.faces[kept], mesh.colours[kept], mesh.materials[kept])


def lamps_that_matter(lamps: Sequence[Lamp], camera: PinholeCamera) -> tuple[Lamp, ...]:
    """Return the lamps whose light a camera may see: at most MOST_LAMPS, the nearest to the middle of its view.

    Every lamp costs time in every pixel.
    """
    if not lamps:
        return ()
    seen = camera.ego_to_camera.apply(np.array([lamp.position for lamp in lamps]))
    away = np.abs(seen[:, 2] - 15.0) + 0.5 * np.abs(seen[:, 0])
    chosen = np.sort(np.argsort(away, kind="stable")[:MOST_LAMPS])
    return tuple(lamps[index] for index in chosen.tolist() if seen[index, 2] > -25.0)


def _backdrop(world: World, camera: PinholeCamera) -> Backdrop:
    from data_registry.sources.streetset.film import Backdrop, cloud_tile

    sky, air = world.sky, world.light.air
    colours = np.array([sky.zenith, sky.horizon, sky.ground, sky.glow, sky.cloud], dtype=np.float64)
    rays = np.ascontiguousarray(camera.ego_to_camera.rotation.T @ np.linalg.inv(camera.intrinsics))
    far = np.zeros(3) if air is None else np.asarray(air.colour, dtype=np.float64)
    fog = 0.0 if air is None else 1.0 / air.sight_m
    sun = np.asarray(world.light.direction, dtype=np.float64)
    return Backdrop(rays, colours, sun, sky.cloud_share, sky.steepness, far, fog, cloud_tile(sky.seed))


def _halo(light: Single, share: float) -> Single:
    """Return what very bright places spread about themselves in the lens, in blocks of HALO_STEP pixels."""
    from data_registry.sources.streetset.film import overflow

    if share <= 0.0:
        return np.zeros((0, 0, 3), dtype=np.float32)
    more = overflow(light, HALO_STEP, HALO_LEVEL)
    wide = gaussian_filter(more, (9.0, 9.0, 0.0), mode="constant")
    near = gaussian_filter(more, (2.2, 2.2, 0.0), mode="constant")
    return (share * (0.5 * wide + 0.5 * near)).astype(np.float32)
