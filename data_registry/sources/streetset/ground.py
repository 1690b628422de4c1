"""What lies on the ground: carriageways, kerbs, pavements, verges, markings, covers, junction areas.

Everything runs along an `Axis`: offsets are metres to its left, lifts metres above it, reaches metres along it (None:
its whole length). Markings and other decals lie `DECAL_M` above what they are painted on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes import ground_polygon
from data_registry.scene3d.solids import Colour
from data_registry.sources.streetset.axes import Axis, Reach
from data_registry.sources.streetset.noise import raw_bytes

DECAL_M: Final = 0.01
KERB_M: Final = 0.12
"""Usual height of a kerb, metres."""
KERB_STONE_M: Final = 0.15
"""Width of a kerb stone, metres; a pavement begins behind it."""
STEP_M: Final = 2.5
"""Strips are cut at least this often, metres."""


@dataclass(frozen=True, slots=True)
class Finish:
    """A colour (linear RGB reflectance) and a material."""

    colour: Colour
    material: Material


ASPHALT: Final = Finish((0.105, 0.105, 0.104), Material.ASPHALT)
NEW_ASPHALT: Final = Finish((0.055, 0.055, 0.057), Material.ASPHALT)
OLD_ASPHALT: Final = Finish((0.150, 0.146, 0.138), Material.ASPHALT)
CONCRETE: Final = Finish((0.30, 0.29, 0.27), Material.PAVING)
SLABS: Final = Finish((0.27, 0.258, 0.238), Material.PAVING)
GRANITE: Final = Finish((0.33, 0.325, 0.315), Material.PAVING)
GRASS: Final = Finish((0.075, 0.115, 0.035), Material.GRASS)
EARTH: Final = Finish((0.16, 0.12, 0.08), Material.GRASS)
WHITE: Final = Finish((0.62, 0.62, 0.60), Material.MARKING)
YELLOW: Final = Finish((0.60, 0.40, 0.06), Material.MARKING)
IRON: Final = Finish((0.07, 0.068, 0.065), Material.METAL)


def lattice(axis: Axis, stations: Array, edges: Sequence[tuple[float, float]], colours: Array, material: Material) -> Mesh:
    """Return a skin over stations (S,) and edges (K pairs of offset, lift).

    Args:
        axis: what it runs along.
        stations: rising, metres along the axis.
        edges: across it, from one side to the other.
        colours: linear RGB, anything that broadcasts to (S - 1, K - 1, 3).
        material: of every face.
    """
    size, width = len(stations), len(edges)
    if size < 2:
        return joined([])
    rows = [axis.at(stations, offset, lift) for offset, lift in edges]
    vertices = np.stack(rows, axis=1).reshape(-1, 3)
    start = (np.arange(size - 1)[:, None] * width + np.arange(width - 1)).ravel()
    a, b, c, d = start, start + 1, start + width + 1, start + width
    faces = np.stack([np.column_stack([a, b, c]), np.column_stack([a, c, d])], axis=1).reshape(-1, 3)
    paint = np.broadcast_to(np.asarray(colours, dtype=np.float64), (size - 1, width - 1, 3)).reshape(-1, 3)
    return Mesh(vertices, faces, np.repeat(paint, 2, axis=0)).made_of(material)


def strip(axis: Axis, right: float, left: float, finish: Finish, reach: Reach | None = None, lift: float = 0.0) -> Mesh:
    """Return an even strip between two offsets, `lift` metres above the axis."""
    edges = [(right, lift), (left, lift)]
    return lattice(axis, axis.cuts(reach, STEP_M), edges, np.array(finish.colour), finish.material)


def slope(
    axis: Axis, low: tuple[float, float], high: tuple[float, float], finish: Finish, reach: Reach | None = None
) -> Mesh:
    """Return a strip from one (offset, lift) to another: embankments, kerb faces, retaining walls, tunnels' sides."""
    return lattice(axis, axis.cuts(reach, STEP_M), [low, high], np.array(finish.colour), finish.material)


def carriageway(
    axis: Axis, right: float, left: float, seed: int = 0, reach: Reach | None = None, lanes: Sequence[float] = ()
) -> Mesh:
    """Return an asphalt road with darker gutters and, about the `lanes` (offsets of lane centres), wheel tracks."""
    raise NotImplementedError


def kerb(axis: Axis, edge: float, side: int, reach: Reach | None = None, height: float = KERB_M) -> Mesh:
    """Return kerb stones whose face stands at offset `edge`, and whose top reaches KERB_STONE_M on.

    `side` +1: the pavement is to the left of the edge; -1: to its right.
    """
    raise NotImplementedError


def pavement(
    axis: Axis, right: float, left: float, seed: int = 0, reach: Reach | None = None, lift: float = KERB_M
) -> Mesh:
    """Return slabs of uneven grey with joints between two offsets; leave KERB_STONE_M for the kerb."""
    raise NotImplementedError


def verge(
    axis: Axis, right: float, left: float, seed: int = 0, reach: Reach | None = None, lift: float = 0.0
) -> Mesh:
    """Return grass in uneven greens between two offsets (tufts: vegetation.tufts)."""
    raise NotImplementedError


def line(axis: Axis, offset: float, width: float = 0.12, finish: Finish = WHITE, reach: Reach | None = None) -> Mesh:
    """Return a solid marking centred on an offset."""
    raise NotImplementedError


def dashes(
    axis: Axis, offset: float, pattern: tuple[float, float] = (3.0, 6.0), reach: Reach | None = None,
    width: float = 0.12, finish: Finish = WHITE,
) -> Mesh:
    """Return dashes; pattern: length of a dash and of the gap after it; the reach begins with a dash."""
    raise NotImplementedError


def zebra(axis: Axis, reach: Reach, right: float, left: float, pitch: float = 1.0) -> Mesh:
    """Return a zebra crossing over the road: bars along the axis, half a pitch wide, between two offsets."""
    raise NotImplementedError


def stop_bar(axis: Axis, s: float, right: float, left: float, width: float = 0.45) -> Mesh:
    """Return a stop bar across a lane from station s on, `width` metres long along the axis."""
    raise NotImplementedError


def give_way_teeth(axis: Axis, s: float, right: float, left: float, against: bool = False) -> Mesh:
    """Return a row of triangles across a lane; their tips look back along the axis, forward if `against`."""
    raise NotImplementedError


def arrow(axis: Axis, s: float, offset: float, kind: str = "ahead", against: bool = False) -> Mesh:
    """Return a lane arrow of 4 m that begins at station s; kind: ahead, left, right, ahead_left, ahead_right.

    `against`: for traffic that runs against the axis; then it begins at s and points back.
    """
    raise NotImplementedError


def bays(axis: Axis, kerb_offset: float, edge: float, reach: Reach, pitch: float = 6.0) -> Mesh:
    """Return marks of parking bays along a kerb: a broken line at offset `edge`, and bars every `pitch` metres."""
    raise NotImplementedError


def manhole(axis: Axis, s: float, offset: float, radius: float = 0.32) -> Mesh:
    """Return an iron cover with a ring, level with the road."""
    raise NotImplementedError


def gully(axis: Axis, s: float, offset: float) -> Mesh:
    """Return a drain grating 0.5 x 0.35 m, level with the road."""
    raise NotImplementedError


def patch(axis: Axis, reach: Reach, right: float, left: float, finish: Finish = NEW_ASPHALT) -> Mesh:
    """Return a repair of the road's surface with a tar seam around it."""
    raise NotImplementedError


def area(polygon: Any, height_at: Callable[[Array], Array], finish: Finish, lift: float = 0.0, step: float = 4.0) -> Mesh:
    """Return a plan polygon (shapely, holes included, or corners (K, 2)) on uneven ground, cut to cells of `step`."""
    raise NotImplementedError


def land(axes: tuple[Axis, ...], margin: float = 400.0, finish: Finish = GRASS, below: float = 0.3) -> Mesh:
    """Return the land about the axes out to `margin` metres: it follows their heights, `below` metres under them."""
    raise NotImplementedError
