"""What lies on the ground: carriageways, kerbs, pavements, verges, markings, covers, junction areas.

Everything runs along an `Alignment`: offsets are metres to its left, lifts metres above it, reaches metres along it
(None: its whole length). Markings and other decals lie `DECAL_M` above what they are painted on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import shapely

from data_registry.geometry import Array, GeometryError
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.scene3d.shapes import ground_polygon
from data_registry.scene3d.solids import Colour
from data_registry.sources.streetset.alignment import Alignment, Reach, height_near

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
CONCRETE: Final = Finish((0.30, 0.29, 0.27), Material.PAVING)
SLABS: Final = Finish((0.27, 0.258, 0.238), Material.PAVING)
GRANITE: Final = Finish((0.33, 0.325, 0.315), Material.PAVING)
GRASS: Final = Finish((0.082, 0.108, 0.040), Material.GRASS)
EARTH: Final = Finish((0.16, 0.12, 0.08), Material.GRASS)
WHITE: Final = Finish((0.62, 0.62, 0.60), Material.MARKING)
YELLOW: Final = Finish((0.60, 0.40, 0.06), Material.MARKING)
IRON: Final = Finish((0.07, 0.068, 0.065), Material.PAVING)


def lattice(
    axis: Alignment, stations: Array, edges: Sequence[tuple[float, float]], colours: Array, material: Material
) -> Mesh:
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


def strip(
    axis: Alignment, right: float, left: float, finish: Finish, reach: Reach | None = None, lift: float = 0.0
) -> Mesh:
    """Return an even strip between two offsets, `lift` metres above the axis."""
    edges = [(right, lift), (left, lift)]
    return lattice(axis, axis.cuts(reach, STEP_M), edges, np.array(finish.colour), finish.material)


def slope(
    axis: Alignment, low: tuple[float, float], high: tuple[float, float], finish: Finish, reach: Reach | None = None
) -> Mesh:
    """Return a strip from one (offset, lift) to another: embankments, kerb faces, retaining walls, tunnels' sides."""
    return lattice(axis, axis.cuts(reach, STEP_M), [low, high], np.array(finish.colour), finish.material)


def carriageway(
    axis: Alignment, right: float, left: float, seed: int = 0, reach: Reach | None = None, lanes: Sequence[float] = ()
) -> Mesh:
    """Return an asphalt road with darker gutters and, about the `lanes` (offsets of lane centres), wheel tracks."""
    stations = axis.cuts(reach, STEP_M)
    offsets = np.linspace(right, left, max(2, int(np.ceil((left - right) / 0.25)) + 1))
    middle = (offsets[:-1] + offsets[1:]) / 2
    tone = 1.0 - 0.20 * np.exp(-np.minimum(middle - right, left - middle) / 0.22)
    for track in [lane + side for lane in lanes for side in (-0.78, 0.78)]:
        tone -= 0.09 * np.exp(-(((middle - track) / 0.27) ** 2))
    for lane in lanes:
        tone -= 0.05 * np.exp(-(((middle - lane) / 0.30) ** 2))  # oil drips between the wheels
    along = 1.0 + 0.05 * wavering(stations[:-1], seed, 9.0)
    colours = (along[:, None] * tone)[:, :, None] * np.array(ASPHALT.colour)
    return lattice(axis, stations, [(float(offset), 0.0) for offset in offsets], colours, ASPHALT.material)


def wavering(s: Array, seed: int, pitch: float) -> Array:
    """Return a smooth random curve about -1..1 at places s, with a knot every `pitch` metres."""
    knots = raw_bytes(seed + 31, 256).astype(np.float64) / 127.5 - 1.0
    return np.interp(s / pitch % 255.0, np.arange(256), knots)


def kerb(axis: Alignment, edge: float, side: int, reach: Reach | None = None, height: float = KERB_M) -> Mesh:
    """Return kerb stones whose face stands at offset `edge`, and whose top reaches KERB_STONE_M on.

    `side` +1: the pavement is to the left of the edge; -1: to its right.
    """
    stations = _joints(axis, reach, 1.0, 0.015)
    gap, stone = _pattern(stations, 1.0, 0.015)
    grey = 0.92 + 0.16 * _shuffled(stone, 5)
    shade: Array = np.where(gap, np.full(len(grey), 0.6), grey)
    tone = shade[:, None] * np.array([[0.72, 1.0]])
    profile = [(edge, -0.02), (edge + 0.015 * side, height), (edge + KERB_STONE_M * side, height)]
    return lattice(axis, stations, profile, tone[:, :, None] * np.array(GRANITE.colour), GRANITE.material)


def _joints(axis: Alignment, reach: Reach | None, pitch: float, width: float) -> Array:
    """Return stations at both sides of the joints every `pitch` metres, and at the axis' own points."""
    marks = axis.cuts(reach, STEP_M)
    if not len(marks):
        return marks
    joints = np.arange(np.ceil(marks[0] / pitch), np.floor(marks[-1] / pitch) + 1) * pitch
    both = np.concatenate([joints, joints + width])
    merged = np.unique(np.concatenate([marks, both[(both > marks[0]) & (both < marks[-1])]]))
    return merged[np.concatenate([[True], np.diff(merged) > 1e-6])]


def _pattern(stations: Array, pitch: float, width: float) -> tuple[npt.NDArray[np.bool_], Array]:
    """Tell which pieces between stations are joints, and number the slab that each belongs to."""
    middle = (stations[:-1] + stations[1:]) / 2
    slab = np.floor(middle / pitch)
    return middle - slab * pitch < width, slab


def _shuffled(numbers: npt.NDArray[Any], seed: int) -> Array:
    """Return a random value in 0..1 for each whole number; it repeats after 1024."""
    return (raw_bytes(seed, 1024).astype(np.float64) / 255)[numbers.astype(np.int64) % 1024]


def pavement(
    axis: Alignment, right: float, left: float, seed: int = 0, reach: Reach | None = None, lift: float = KERB_M
) -> Mesh:
    """Return slabs of uneven grey with joints between two offsets; leave KERB_STONE_M for the kerb."""
    stations = _joints(axis, reach, 1.2, 0.02)
    count = max(1, round((left - right) / 0.9))
    width = (left - right) / count
    offsets = np.concatenate([right + np.arange(count)[:, None] * width + [0.0, width - 0.02], [[left, left]]]).ravel()
    offsets = offsets[:-1]
    gap, slab = _pattern(stations, 1.2, 0.02)
    column = np.arange(len(offsets) - 1)
    shade = 0.91 + 0.16 * _shuffled(slab[:, None] * 7 + column // 2 * 131, seed + 17)
    tone: Array = np.where(gap[:, None] | (column % 2 == 1), 0.68, shade)
    edges = [(float(offset), lift) for offset in offsets]
    return lattice(axis, stations, edges, tone[:, :, None] * np.array(SLABS.colour), SLABS.material)


def verge(
    axis: Alignment, right: float, left: float, seed: int = 0, reach: Reach | None = None, lift: float = 0.0
) -> Mesh:
    """Return grass in uneven greens between two offsets (tufts: vegetation.tufts)."""
    stations = axis.cuts(reach, 1.2)
    offsets = np.linspace(right, left, max(2, int(np.ceil((left - right) / 0.8)) + 1))
    edges = [(float(offset), lift) for offset in offsets]
    if len(stations) < 2:
        return joined([])
    rows = [1.0 + 0.16 * wavering(stations[:-1], seed + index // 2, 3.0) for index in range(len(offsets) - 1)]
    return lattice(axis, stations, edges, np.stack(rows, axis=1)[:, :, None] * np.array(GRASS.colour), GRASS.material)


def line(
    axis: Alignment, offset: float, width: float = 0.12, finish: Finish = WHITE, reach: Reach | None = None
) -> Mesh:
    """Return a solid marking centred on an offset."""
    return strip(axis, offset - width / 2, offset + width / 2, finish, reach, DECAL_M)


def dashes(
    axis: Alignment,
    offset: float,
    pattern: tuple[float, float] = (3.0, 6.0),
    reach: Reach | None = None,
    width: float = 0.12,
    finish: Finish = WHITE,
) -> Mesh:
    """Return dashes; pattern: length of a dash and of the gap after it; the reach begins with a dash."""
    low, high = reach or (0.0, axis.length)
    starts = np.arange(low, min(high, axis.length) - 1e-9, sum(pattern)).tolist()
    return joined([line(axis, offset, width, finish, (s, min(s + pattern[0], high))) for s in starts])


def zebra(axis: Alignment, reach: Reach, right: float, left: float, pitch: float = 1.0) -> Mesh:
    """Return a zebra crossing over the road: bars along the axis, half a pitch wide, between two offsets."""
    count = int((left - right + pitch / 2) / pitch)
    first = (right + left - (count - 0.5) * pitch) / 2
    starts = [first + index * pitch for index in range(count)]
    return joined([strip(axis, offset, offset + pitch / 2, WHITE, reach, DECAL_M) for offset in starts])


def stop_bar(axis: Alignment, s: float, right: float, left: float, width: float = 0.45) -> Mesh:
    """Return a stop bar across a lane from station s on, `width` metres long along the axis."""
    return strip(axis, right, left, WHITE, (s, s + width), DECAL_M)


def give_way_teeth(axis: Alignment, s: float, right: float, left: float, against: bool = False) -> Mesh:
    """Return a row of triangles across a lane; their tips look back along the axis, forward if `against`."""
    count = max(1, int((left - right) / 0.75))
    middles = right + (np.arange(count) + 0.5) * (left - right) / count
    base, tip = (0.0, 0.6) if against else (0.6, 0.0)
    teeth = [[(base, y - 0.25), (base, y + 0.25), (tip, y)] for y in middles.tolist()]
    return joined([_decal(axis, (s, 0.0), tooth, WHITE) for tooth in teeth])


def _decal(
    axis: Alignment,
    place: tuple[float, float],
    outline: Sequence[tuple[float, float]],
    finish: Finish,
    lift: float = DECAL_M,
) -> Mesh:
    """Return a convex outline, (along, across) metres about a (station, offset), painted on the road."""
    plan = np.array(outline) + place
    vertices = axis.at(plan[:, 0], plan[:, 1], lift)
    faces = np.array([(0, k, k + 1) for k in range(1, len(plan) - 1)], dtype=np.int64)
    return Mesh(vertices, faces, np.tile(finish.colour, (len(faces), 1))).made_of(finish.material)


Piece = tuple[tuple[float, float], ...]

_SHAFT: Final[tuple[Piece, ...]] = tuple(
    ((x, -0.07), (x + 0.8, -0.07), (x + 0.8, 0.07), (x, 0.07)) for x in (0.0, 0.8, 1.6)
)
_AHEAD: Final[tuple[Piece, ...]] = (
    *_SHAFT,
    ((2.4, -0.07), (2.6, -0.07), (2.6, 0.07), (2.4, 0.07)),
    ((2.6, -0.28), (4.0, 0.0), (2.6, 0.28)),
)
_LEFT: Final[tuple[Piece, ...]] = (
    *_SHAFT,
    ((2.2, -0.07), (2.4, 0.07), (3.0, 0.45), (3.0, 0.25)),
    ((2.55, 0.42), (3.55, 0.30), (3.15, 0.95)),
)
_RIGHT: Final[tuple[Piece, ...]] = tuple(tuple((x, -y) for x, y in piece) for piece in _LEFT)


def _earlier(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return a turning branch that leaves the shaft 1.1 m earlier, below the head of the way ahead."""
    return tuple(tuple((x - 1.1, y) for x, y in piece) for piece in pieces)


ARROWS: Final[dict[str, tuple[Piece, ...]]] = {
    "ahead": _AHEAD,
    "left": _LEFT,
    "right": _RIGHT,
    "ahead_left": (*_AHEAD, *_earlier(_LEFT[3:])),
    "ahead_right": (*_AHEAD, *_earlier(_RIGHT[3:])),
}
"""Lane arrows as convex pieces (along, left), metres."""


def arrow(axis: Alignment, s: float, offset: float, kind: str = "ahead", against: bool = False) -> Mesh:
    """Return a lane arrow of 4 m that begins at station s; kind: ahead, left, right, ahead_left, ahead_right.

    `against`: for traffic that runs against the axis; then it begins at s and points back.
    """
    way = -1.0 if against else 1.0
    pieces = [[(way * x, way * y) for x, y in piece] for piece in ARROWS[kind]]
    # Pieces of one arrow may overlap: each lies a hair above the one before.
    return joined([_decal(axis, (s, offset), p, WHITE, DECAL_M + 0.0004 * k) for k, p in enumerate(pieces)])


def bays(axis: Alignment, kerb_offset: float, edge: float, reach: Reach, pitch: float = 6.0) -> Mesh:
    """Return marks of parking bays along a kerb: a broken line at offset `edge`, and bars every `pitch` metres."""
    right, left = sorted((kerb_offset, edge))
    bars = np.arange(reach[0], reach[1] + 1e-6, pitch).tolist()
    marks = [strip(axis, right, left, WHITE, (s, s + 0.1), DECAL_M) for s in bars]
    return joined([*marks, dashes(axis, edge, (1.0, 1.0), reach, 0.10)])


def manhole(axis: Alignment, s: float, offset: float, radius: float = 0.32) -> Mesh:
    """Return an iron cover with a ring, level with the road."""
    turn = np.arange(20) * (2 * np.pi / 20)
    inner = [(0.8 * radius * np.cos(a), 0.8 * radius * np.sin(a)) for a in turn]
    outer = [(radius * np.cos(a), radius * np.sin(a)) for a in turn]
    ring = Finish((0.16, 0.155, 0.15), Material.PAVING)
    rim = _decal(axis, (s, offset), outer, ring, DECAL_M - 0.003)
    return joined([rim, _decal(axis, (s, offset), inner, IRON)])


def gully(axis: Alignment, s: float, offset: float) -> Mesh:
    """Return a drain grating 0.5 x 0.35 m, level with the road."""
    frame = strip(
        axis, offset - 0.175, offset + 0.175, Finish((0.015, 0.015, 0.015), Material.MATTE), (s, s + 0.5), 0.006
    )
    bars = [
        strip(axis, offset - 0.16, offset + 0.16, IRON, (s + x, s + x + 0.04), DECAL_M) for x in np.arange(6) * 0.09
    ]
    return joined([frame, *bars])


def patch(axis: Alignment, reach: Reach, right: float, left: float, finish: Finish = NEW_ASPHALT) -> Mesh:
    """Return a repair of the road's surface with a tar seam around it; it lies below the markings."""
    stations = axis.cuts(reach, STEP_M)
    stations = np.concatenate([stations[:1], stations[:1] + 0.05, stations[1:-1], stations[-1:] - 0.05, stations[-1:]])
    seam = np.ones((len(stations) - 1, 3))
    seam[[0, -1], :] = seam[:, [0, -1]] = 0.6
    edges = [(offset, DECAL_M / 2) for offset in (right, right + 0.05, left - 0.05, left)]
    return lattice(axis, stations, edges, seam[:, :, None] * np.array(finish.colour), finish.material)


def area(
    polygon: Any, height_at: Callable[[Array], Array], finish: Finish, lift: float = 0.0, step: float = 4.0
) -> Mesh:
    """Return a plan polygon (shapely, holes included, or corners (K, 2)) on uneven ground, cut to cells of `step`.

    Where it overlaps a carriageway, lift it by a few millimetres.

    Raises:
        GeometryError: the polygon is invalid.
    """
    outline: Any = polygon if isinstance(polygon, shapely.Geometry) else shapely.Polygon(np.asarray(polygon))
    if not outline.is_valid:
        raise GeometryError(f"area is invalid ({shapely.is_valid_reason(outline)}): {outline.wkt[:200]}")
    west, south, east, north = outline.bounds
    columns = np.arange(west, east, step)
    cells = [shapely.box(x, y, x + step, y + step) for x in columns for y in np.arange(south, north, step)]

    def lifted(points: Array) -> Array:
        return height_at(points) + lift

    pieces = shapely.intersection(outline, np.array(cells, dtype=object))
    parts = [ground_polygon(piece, lifted, finish.colour) for piece in pieces if piece.area > 1e-9]
    return joined(parts).made_of(finish.material)


def land(axes: tuple[Alignment, ...], margin: float = 400.0, finish: Finish = GRASS, below: float = 0.3) -> Mesh:
    """Return the land about the axes out to `margin` metres: it follows their heights, `below` metres under them."""
    points = np.concatenate([axis.points for axis in axes])
    x, y = (_spread(float(points[:, k].min()), float(points[:, k].max()), margin) for k in (0, 1))
    plan = np.stack(np.meshgrid(x, y, indexing="ij"), axis=2).reshape(-1, 2)
    vertices = np.column_stack([plan, height_near(axes, plan) - below])
    rows, width = len(x), len(y)
    start = (np.arange(rows - 1)[:, None] * width + np.arange(width - 1)).ravel()
    a, b, c, d = start, start + 1, start + width + 1, start + width
    faces = np.stack([np.column_stack([a, b, c]), np.column_stack([a, c, d])], axis=1).reshape(-1, 3)
    tone = 0.85 + 0.3 * _shuffled(start, 77)
    return Mesh(vertices, faces, np.repeat(tone, 2)[:, None] * np.array(finish.colour)).made_of(finish.material)


def _spread(low: float, high: float, margin: float) -> Array:
    """Return coordinates: every 6 m from 30 m before low to 30 m after high, then ever wider out to the margin."""
    inside = np.linspace(low - 30, high + 30, int((high - low + 60) / 6) + 2)
    steps = np.array(
        [reach for reach in (10.0, 25.0, 50.0, 100.0, 200.0, 400.0) if reach < margin - 30] + [margin - 30]
    )
    return np.concatenate([inside[0] - steps[::-1], inside, inside[-1] + steps])
