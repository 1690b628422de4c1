"""What a camera picture of a town costs: CPU seconds of `render` with shadows, grain, fog and lamps, loops compiled.

The alternative that it is held against is the painter's algorithm: Pillow fills the same faces from the far ones to the
near ones, at the same number of samples and in one flat colour each, without any light, shadow or texture.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from data_registry.geometry import Array, PinholeCamera, Transform, yaw_rotation
from data_registry.scene3d.light import Air, Lamp, Light
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.rasteriser import render
from data_registry.scene3d.shadows import cast_shadows
from data_registry.scene3d.shapes import car
from data_registry.scene3d.solids import box, panel

WIDTH, HEIGHT, SAMPLES = 1600, 900, 2
LEAVES = 36_000
REPEATS = 5
EYE: Array = np.array([0.0, 0.0, 1.6])
AHEAD: Array = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def town() -> Mesh:
    """Return a street of about 40,000 faces: road, houses, cars, and trees of loose leaves."""
    rng = np.random.default_rng(0)
    tops = np.stack([rng.uniform(10, 120, LEAVES), rng.choice([-8.0, 9.0], LEAVES), rng.uniform(2.5, 5, LEAVES)], 1)
    leaves = (tops[:, None] + rng.normal(size=(LEAVES, 3, 3)) * 0.2).reshape(-1, 3)
    tiles = [
        panel([(x, -60, 0), (x + 10, -60, 0), (x + 10, 60, 0), (x, 60, 0)], (0.11, 0.11, 0.11)).made_of(
            Material.ASPHALT
        )
        for x in range(-20, 300, 10)
    ]
    rows = [(x, y) for x in range(15, 150, 22) for y in (-22, 12)]
    houses = [box((x, y, 0), (x + 18, y + 10, 8), (0.5, 0.4, 0.3)).made_of(Material.MASONRY) for x, y in rows]
    spots = [(12.0 + 9 * k, (-3.0, 3.0)[k % 2]) for k in range(12)]
    cars = [car(4.4, 1.8, 1.5).placed(Transform(yaw_rotation(0), np.array([x, y, 0.0]))) for x, y in spots]
    faces = np.arange(3 * LEAVES).reshape(-1, 3)
    trees = Mesh(leaves, faces, np.tile((0.06, 0.12, 0.03), (LEAVES, 1))).made_of(Material.FOLIAGE)
    return joined([*tiles, *houses, *(body.made_of(Material.PAINTWORK) for body in cars), trees])


def painted(mesh: Mesh, camera: PinholeCamera) -> Array:
    """Fill the faces with Pillow from far to near; those that reach behind the camera are left out."""
    triangles = camera.ego_to_camera.apply(mesh.triangles().reshape(-1, 3)).reshape(-1, 3, 3)
    shown = np.flatnonzero((triangles[:, :, 2] > 0.1).all(axis=1))
    order = shown[np.argsort(-triangles[shown, :, 2].mean(axis=1), kind="stable")]
    flat = np.einsum("mki,ji->mkj", triangles[order], camera.intrinsics)
    corners = ((flat[:, :, :2] / flat[:, :, 2:] + 0.5) * SAMPLES).reshape(len(order), 6)
    corners = np.clip(corners, -1e5, 1e5)
    colours = (mesh.colours[order] * 255).astype(np.uint8)
    image = Image.new("RGB", (WIDTH * SAMPLES, HEIGHT * SAMPLES))
    pen = ImageDraw.Draw(image)
    for corner, (red, green, blue) in zip(corners.tolist(), colours.tolist(), strict=True):
        pen.polygon(corner, (red, green, blue))
    return np.asarray(image.reduce(SAMPLES), dtype=np.float64)


def cpu_s(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the cheapest of some runs: what other work on the machine disturbed least."""
    spent: list[float] = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    """Measure and print."""
    intrinsics = np.array([[1260.0, 0.0, WIDTH / 2], [0.0, 1260.0, HEIGHT / 2], [0.0, 0.0, 1.0]])
    camera = PinholeCamera(intrinsics, Transform(AHEAD, -(AHEAD @ EYE)), WIDTH, HEIGHT)
    sun = np.array([-0.3, 0.75, 0.55]) / np.linalg.norm([-0.3, 0.75, 0.55])
    lamps = tuple(Lamp(np.array([10.0 + 9 * k, -3.0, 6.0]), np.full(3, 14.0)) for k in range(12))
    dry = Light(sun, np.full(3, 0.7), np.full(3, 0.3), lamps, Air(np.full(3, 0.6), 300.0))
    wet = replace(dry, air=Air(np.full(3, 0.6), 300.0, wetness=1.0))
    mesh = town()
    start = time.process_time()
    render([mesh], camera, dry, shadows=cast_shadows([mesh], camera, dry))
    first = time.process_time() - start
    plain = cpu_s(lambda: painted(mesh, camera))
    print(f"a {WIDTH} x {HEIGHT} picture of {len(mesh.faces)} faces, {SAMPLES} x {SAMPLES} samples, CPU seconds")
    print(f"  first in this process          {first:6.3f}  compiled loops from the cache, if it holds them")
    for name, light in (("dry, no lamps", replace(dry, lamps=())), ("dry, 12 lamps", dry), ("wet, 12 lamps", wet)):
        casting = cpu_s(lambda light=light: cast_shadows([mesh], camera, light))
        shadows = cast_shadows([mesh], camera, light)
        drawing = cpu_s(lambda light=light, shadows=shadows: render([mesh], camera, light, shadows=shadows))
        total = casting + drawing
        print(f"  {name:14} {casting:6.3f} + {drawing:6.3f} = {total:6.3f}  {total / plain:5.2f} x painter's algorithm")
    print(f"  painter's algorithm, unlit     {plain:6.3f}")


if __name__ == "__main__":
    main()
