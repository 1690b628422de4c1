"""Camera pictures of the street: backdrop, shadows, things, sensor noise, JPEG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image

from data_registry.geometry import GroundPlane, PinholeCamera, rectangle
from data_registry.scene3d.light import srgb_from_linear
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.rasteriser import Rendering, render, shadow_polygon
from data_registry.scene3d.shapes import box_truck, car, ground_polygon, pedestrian
from data_registry.sources.streetset.backdrop import HAZE, HAZE_M, Shadows, draw, wall_shadow
from data_registry.sources.streetset.furniture import furniture
from data_registry.sources.streetset.layout import (
    ACTORS,
    CAMERAS,
    KERB_LEFT,
    KERB_RIGHT,
    PAVEMENT_Z,
    STREET_LIGHT,
    Actor,
    seconds,
    street_camera,
)
from data_registry.sources.streetset.noise import Single, raw_bytes

QUALITY: Final = 95
SUBSAMPLING: Final = "4:2:0"
NOISE: Final = 1.1
"""Standard deviation of the sensor's noise, in steps of 8-bit brightness."""
SHADOW_DEPTH: Final = 0.93
"""Share of the sun that a shadow takes: some light comes back from the houses."""
FAR_M: Final = 130.0
"""Things farther away than this cover less than a few pixels and are left out."""

PAINTED: Final[dict[str, Callable[[float, float, float, tuple[float, float, float]], Mesh]]] = {
    "box_truck": box_truck,
    "car": car,
    "pedestrian": pedestrian,
}


def actor_mesh(actor: Actor, time_us: int) -> Mesh:
    """Return an actor's mesh in the street frame at a time."""
    mesh = PAINTED[actor.shape](*actor.size, actor.colour)
    return mesh.placed(actor.pose(seconds(time_us)))


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """A mesh in the street frame, darkened where houses take its sun, and its shadow on the ground as a mesh."""

    mesh: Mesh
    shadow: Mesh


def _things(camera: PinholeCamera, time_us: int) -> list[Thing]:
    """Return what stands in a camera's reach: actors in their order, then trees and lamp posts."""
    actors = (actor_mesh(actor, time_us) for actor in ACTORS)
    moving = [_thing(mesh, mesh) for mesh in actors if _in_reach(mesh, camera)]
    return [*moving, *(thing for thing in _fixed_things() if _in_reach(thing.mesh, camera))]


@lru_cache(maxsize=1)
def _fixed_things() -> list[Thing]:
    return [_thing(mesh, caster) for mesh, caster in furniture()]


def _thing(mesh: Mesh, caster: Mesh) -> Thing:
    ground = GroundPlane(height_m=_ground_below(mesh))
    shadow = ground_polygon(shadow_polygon(caster, STREET_LIGHT, ground), ground.height_at, (1.0, 1.0, 1.0))
    return Thing(_weathered(mesh), shadow)


def picture(channel: str, time_us: int) -> npt.NDArray[np.uint8]:
    """Return what a camera records at a time, (H, W, 3) sRGB."""
    camera = street_camera(channel, time_us)
    near = _things(camera, time_us)
    backdrop = draw(camera, _shadows(near, camera, time_us))
    front = render([thing.mesh for thing in near], camera, STREET_LIGHT)
    light = _hazed(front) + backdrop * (1 - front.coverage.astype(np.float32))
    return _quantised(srgb_from_linear(light), channel, time_us)


def jpeg(channel: str, time_us: int) -> bytes:
    """Return a camera's picture as JPEG with fixed settings."""
    stream = io.BytesIO()
    Image.fromarray(picture(channel, time_us)).save(stream, "JPEG", quality=QUALITY, subsampling=SUBSAMPLING)
    return stream.getvalue()


def _in_reach(mesh: Mesh, camera: PinholeCamera) -> bool:
    """Tell whether a thing or its shadow may be in the picture: not behind, not far aside, not too far."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    seen = camera.ego_to_camera.apply((low + high)[None] / 2)[0]
    reach = float(np.linalg.norm(high - low)) / 2 + 6.0
    spread = camera.width / 2 / float(camera.intrinsics[0, 0]) * 1.15
    return bool(-reach < seen[2] < FAR_M and abs(seen[0]) < max(seen[2], 0.0) * spread + reach * (1 + spread))


def _weathered(mesh: Mesh) -> Mesh:
    """Darken what stands in the shadow of the houses: the renderer knows no cast shadows between things."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    s, t, z = ((low + high) / 2).tolist()
    lit = float(wall_shadow(np.array([s], dtype=np.float32), np.array([t], dtype=np.float32), z)[0])
    return Mesh(mesh.vertices, mesh.faces, mesh.colours * (0.55 + 0.45 * lit))


def _shadows(near: Sequence[Thing], camera: PinholeCamera, time_us: int) -> Shadows:
    """Return how much sun and sky the things take from the ground in each pixel."""
    sun = render([thing.shadow for thing in near], camera, STREET_LIGHT).coverage * SHADOW_DEPTH
    sky = np.zeros_like(sun)
    for grow, share in ((0.30, 0.22), (0.0, 0.38), (-0.30, 0.30)):
        feet = [_foot(actor, time_us, grow) for actor in ACTORS if actor.shape != "pedestrian"]
        sky += share * render([joined(feet)], camera, STREET_LIGHT, samples=1).coverage
    return Shadows(sun, sky)


def _ground_below(mesh: Mesh) -> float:
    t = float(mesh.vertices[:, 1].mean())
    return 0.0 if KERB_RIGHT <= t <= KERB_LEFT else PAVEMENT_Z


def _foot(actor: Actor, time_us: int, grow: float) -> Mesh:
    pose = actor.pose(seconds(time_us))
    length, width = actor.size[0] + grow, actor.size[1] + grow
    outline = rectangle(pose.translation[:2].tolist(), length, width, pose.yaw)
    return ground_polygon(outline, GroundPlane().height_at, (1.0, 1.0, 1.0))


def _hazed(front: Rendering) -> Single:
    """Return the things' light (3, H, W), premultiplied, through the haze before them."""
    result = np.moveaxis(front.rgb, 2, 0).astype(np.float32)
    hit = front.coverage > 0
    share = (1 - np.exp(-front.depth[hit] / HAZE_M)).astype(np.float32)
    result[:, hit] += (HAZE * front.coverage[hit].astype(np.float32) - result[:, hit]) * share
    return result


def _quantised(values: Single, channel: str, time_us: int) -> npt.NDArray[np.uint8]:
    """Round (3, H, W) in 0..1 to (H, W, 3) bytes after adding triangular noise.

    Each pixel gets one value for its brightness and a weaker one for each colour.
    """
    height, width = values.shape[1:]
    seed = time_us * len(CAMERAS) + sorted(CAMERAS).index(channel)
    dice = raw_bytes(seed, 5 * height * width).reshape(5, height, width).astype(np.float32)
    step = np.float32(NOISE / 104.5)  # standard deviation of the sum of two uniform bytes
    grey = (dice[0] + dice[1] - 255) * step
    tint = (dice[2:] - np.float32(127.5)) * (step * np.float32(0.7))
    noisy = np.clip(np.round(values * 255 + grey + tint), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(np.moveaxis(noisy, 0, 2))
