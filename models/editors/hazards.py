"""The hazard's body in the ego frame: which shape, which colours, where; an open door also leaves a hole."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from data_registry.cameras import pinhole
from data_registry.geometry import Array, Transform
from data_registry.records import Annotation, Attached, Box, Mounted, Placement, Standing, Surface
from data_registry.scene3d.light import Light
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes import MOUNTED, SHAPES, SURFACES
from data_registry.scene3d.shapes.parts import LAMP, TAIL_LAMP
from data_registry.scene3d.solids import Colour, Point, panel
from models.editors.appearance import linear
from models.editors.editor import EditRequest, UnknownShapeError

PAINTS: Final[tuple[Colour, ...]] = (
    *((0.62, 0.63, 0.64), (0.30, 0.31, 0.33), (0.05, 0.055, 0.06), (0.24, 0.30, 0.37)),
    *((0.36, 0.05, 0.045), (0.52, 0.49, 0.42), (0.04, 0.09, 0.20), (0.14, 0.15, 0.16)),
)
BOXES: Final[tuple[Colour, ...]] = ((0.62, 0.63, 0.64), (0.52, 0.49, 0.42), (0.24, 0.30, 0.37), (0.42, 0.35, 0.12))
CLOTHES: Final[tuple[Colour, ...]] = (
    *((0.07, 0.11, 0.20), (0.24, 0.08, 0.07), (0.10, 0.13, 0.09), (0.32, 0.30, 0.28)),
    *((0.04, 0.04, 0.05), (0.36, 0.30, 0.12), (0.10, 0.20, 0.28)),
)
FUR: Final[tuple[Colour, ...]] = ((0.16, 0.10, 0.06), (0.12, 0.085, 0.055), (0.28, 0.20, 0.12))
"""Linear RGB that the seed chooses from."""
PALETTES: Final[dict[str, tuple[Colour, ...]]] = {
    **dict.fromkeys(("pedestrian", "child", "cyclist", "motorcyclist"), CLOTHES),
    **dict.fromkeys(("dog", "deer"), FUR),
    **dict.fromkeys(("box_truck", "bus"), BOXES),
    **dict.fromkeys(("car", "van", "broken_down_car", "saloon", "suv", "car_door"), PAINTS),
}
"""Shapes that come in several colours; all others have their own."""
DRIVEN: Final = frozenset(("box_truck", "bus", "car", "saloon", "suv", "van"))
DIM_WORDS: Final = re.compile(r"\b(night|dark|dusk|dawn|rain|rainy|raining|fog|foggy|mist|misty)\b", re.IGNORECASE)
"""Which shapes are vehicles in traffic, and in what light these have their lamps on."""
LIGHTS: Final[tuple[tuple[Any, Colour], ...]] = ((LAMP, (2.4, 2.25, 1.95)), (TAIL_LAMP, (0.50, 0.015, 0.01)))
SILL_SHARE: Final = 0.12
LEAN: Final = 0.2
"""How far a car's side leans in at its roof, as a share of its half width."""
DARK_INSIDE: Final[Colour] = (0.012, 0.012, 0.014)
SEAT: Final[Colour] = (0.035, 0.035, 0.038)


def hazard_mesh(request: EditRequest, placement: Placement, light: Light | None = None) -> Mesh:
    """Return the hazard's mesh in the ego frame at time 0.

    Args:
        request: task, appearance and seed.
        placement: where it goes.
        light: light at the place, by which a door gets the paint of its car; without it the seed chooses.

    Raises:
        UnknownShapeError: the appearance's shape is not one that can be drawn, or not for this kind of placement.
    """
    shape = request.task.appearance(request.screening.appearance or "").shape
    if isinstance(placement, Surface):
        if shape not in SURFACES:
            raise _unknown(request, shape, placement)
        return SURFACES[shape](np.array(placement.polygon), request.keyframe.ground.height_at)
    if isinstance(placement, Mounted):
        return _mounted(request, shape, placement)
    if shape not in SHAPES:
        raise _unknown(request, shape, placement)
    build: Any = SHAPES[shape]
    colour = _colour(request, placement, shape, light)
    mesh: Mesh = build(*placement.box.size) if colour is None else build(*placement.box.size, colour=colour)
    if shape in DRIVEN and DIM_WORDS.search(request.keyframe.description):
        mesh = _with_lights(mesh)
    if isinstance(placement, Attached):
        mesh = mesh.scaled(_handed(request, placement))
    return mesh.placed(_foot(placement.box))


def _handed(request: EditRequest, placement: Attached) -> tuple[float, float, float]:
    """Return how to mirror a door, whose hinge is drawn at -x and outer side at +y, so that it fits its car's side."""
    note = _owner(request, placement)
    if note is None:
        return 1.0, 1.0, 1.0
    side = _side(note.box, placement.box)
    ends = placement.box.pose().apply(np.array([(x * placement.box.size[0] / 2, 0.0, 0.0) for x in (-1, 1)]))
    out = side * note.box.pose().inverse().apply(ends)[:, 1]
    along = 1.0 if out[0] <= out[1] else -1.0
    return along, -along * side, 1.0


def _with_lights(mesh: Mesh) -> Mesh:
    """Return a vehicle with its head and tail lamps lit."""
    colours, materials = mesh.colours.copy(), mesh.materials.copy()
    for finish, light in LIGHTS:
        lamps = (mesh.materials == finish.material) & np.isclose(mesh.colours, finish.colour).all(axis=1)
        colours[lamps], materials[lamps] = light, Material.GLOWING
    return Mesh(mesh.vertices, mesh.faces, colours, materials)


def _mounted(request: EditRequest, shape: str, placement: Mounted) -> Mesh:
    """Return what hangs above the ground with what carries it, down to the ground."""
    if shape not in MOUNTED:
        raise _unknown(request, shape, placement)
    foot = _foot(placement.box)
    ground = float(request.keyframe.ground.height_at(foot.translation[None])[0])
    underside = float(foot.translation[2]) - ground
    build: Any = MOUNTED[shape]
    below = Transform(foot.rotation, foot.translation - foot.rotation @ np.array([0.0, 0.0, underside]))
    return build(*placement.box.size, underside).placed(below)


def _unknown(request: EditRequest, shape: str, placement: Placement) -> UnknownShapeError:
    return UnknownShapeError(
        f"task {request.task.id}: the compositor cannot draw shape {shape!r} ({placement.kind});"
        f" it has {', '.join(sorted({*SHAPES, *MOUNTED, *SURFACES}))}"
    )


def _foot(box: Box) -> Transform:
    """Return the frame on the ground below a box's centre."""
    pose = box.pose()
    return Transform(pose.rotation, pose.translation - pose.rotation @ np.array([0, 0, box.size[2] / 2]))


def _colour(request: EditRequest, placement: Placement, shape: str, light: Light | None) -> Colour | None:
    if isinstance(placement, Attached) and light is not None:
        found = _paint_of(request, placement, light)
        if found is not None:
            return found
    palette = PALETTES.get(shape)
    return None if palette is None else palette[request.seed % len(palette)]


def _owner(request: EditRequest, placement: Attached) -> Annotation | None:
    return next((note for note in request.keyframe.annotations if note.token == placement.annotation), None)


def _paint_of(request: EditRequest, placement: Attached, light: Light) -> Colour | None:
    """Return the paint of the car that a door belongs to: the middle colour of its near side over the light there."""
    note = _owner(request, placement)
    if note is None:
        return None
    name, picture = request.reference
    camera = pinhole(request.keyframe, request.keyframe.view(name))
    length, width, height = note.box.size
    side = _side(note.box, placement.box)
    grid = [
        (x, side * width / 2, z) for x in np.linspace(-0.3, 0.3, 9) * length for z in np.linspace(-0.2, 0.0, 5) * height
    ]
    pixels, _ = camera.project(note.box.pose().apply(np.array(grid)))
    pixels = np.rint(pixels[camera.contains(pixels)]).astype(np.int64)
    if len(pixels) < 8:
        return None
    normal = note.box.pose().rotation @ np.array([0.0, side, 0.0])
    shining = np.maximum(light.irradiance(normal[None])[0], 1e-3)
    red, green, blue = np.clip(np.median(linear(picture[pixels[:, 1], pixels[:, 0]]), axis=0) / shining, 0.01, 0.8)
    return float(red), float(green), float(blue)


def _side(car: Box, door: Box) -> float:
    """Return on which side of a car a door hangs: 1 left, -1 right."""
    return 1.0 if car.pose().inverse().apply(np.array([door.centre]))[0, 1] > 0 else -1.0


def doorway(request: EditRequest, placement: Placement) -> Mesh | None:
    """Return what the open door lays bare on its car's side, ego frame; None for anything but a door of a known car.

    The hole lies in the side of the annotated box, from the hinge (the door's end at the car) backwards.
    """
    if not isinstance(placement, Attached):
        return None
    note = _owner(request, placement)
    if note is None:
        return None
    pose = note.box.pose()
    door = pose.inverse().apply(placement.box.corners())
    side = _side(note.box, placement.box)
    hinge = float(door[np.argsort(side * door[:, 1], kind="stable")[:4], 0].mean())
    y = side * (note.box.size[1] / 2 - 0.01)
    low, high = float(door[:, 2].min()), float(door[:, 2].max())
    return joined(_hole(hinge, placement.box.size[0], y, (low + SILL_SHARE * (high - low), high))).placed(pose)


def _hole(hinge: float, length: float, y: float, levels: tuple[float, float]) -> list[Mesh]:
    low, high = levels
    waist, back = low + 0.55 * (high - low), hinge - 0.97 * length
    ring = [(hinge, low), (back, low), (back, waist), (back + 0.12 * length, high), (hinge - 0.4 * length, high)]
    ring.append((hinge - 0.02 * length, waist))
    seat = [(back + 0.18 * length, low), (back + 0.55 * length, low), (back + 0.45 * length, 0.8 * waist + 0.2 * high)]
    seat.append((back + 0.22 * length, 0.8 * waist + 0.2 * high))
    nearer = 0.004 if y > 0 else -0.004

    def at(x: float, z: float, out: float) -> Point:
        """Follow the car's side, which leans inwards above the waist."""
        return x, (y + out) * (1.0 - LEAN * max(0.0, z - waist) / (high - waist)), z

    return [panel([at(x, z, 0.0) for x, z in ring], DARK_INSIDE), panel([at(x, z, nearer) for x, z in seat], SEAT)]


def plan_centre(placement: Placement) -> Array:
    """Return the plan point (2,) of a placement's middle, ego frame, metres."""
    if isinstance(placement, Surface):
        return np.array(placement.polygon).mean(axis=0)
    return np.array(placement.box.centre[:2])


def casts(placement: Placement) -> bool:
    """Tell whether the hazard rises from the ground, so that it throws a shadow."""
    return isinstance(placement, Standing | Mounted | Attached)
