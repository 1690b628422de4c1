"""Parametric shapes with believable silhouettes, a few hundred faces each.

Standing shapes take (length, width, height) in metres and fill that box: x forward, y left, z up, origin on the ground
below the centre. Surface shapes are made in place, on a height function. `SHAPES` names the standing ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array, GeometryError
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import Colour, Point, box, disc, ellipsoid, loft, panel, tube

HeightAt = Callable[[Array], Array]
"""Ground heights (N,) under plan points (N, 2), metres."""

GLASS: Final[Colour] = (0.028, 0.038, 0.048)
RUBBER: Final[Colour] = (0.012, 0.012, 0.013)
RIM: Final[Colour] = (0.30, 0.31, 0.32)
TRIM: Final[Colour] = (0.022, 0.022, 0.024)
LAMP: Final[Colour] = (0.75, 0.75, 0.70)
TAIL_LAMP: Final[Colour] = (0.36, 0.012, 0.012)
PLATE: Final[Colour] = (0.62, 0.62, 0.58)
SKIN: Final[Colour] = (0.46, 0.27, 0.19)
HAIR: Final[Colour] = (0.025, 0.016, 0.012)

CAR_STATIONS: Final = (
    # x / length, half width / half width, under side, waist, shoulder (shares of the height)
    (-0.500, 0.80, 0.24, 0.36, 0.50),
    (-0.470, 0.93, 0.19, 0.38, 0.60),
    (-0.400, 0.985, 0.15, 0.40, 0.635),
    (-0.200, 1.00, 0.13, 0.40, 0.625),
    (0.050, 1.00, 0.13, 0.40, 0.610),
    (0.220, 1.00, 0.13, 0.40, 0.590),
    (0.400, 0.975, 0.15, 0.38, 0.520),
    (0.470, 0.89, 0.18, 0.35, 0.460),
    (0.500, 0.72, 0.24, 0.33, 0.400),
)


def car(length: float, width: float, height: float, colour: Colour = (0.32, 0.05, 0.045)) -> Mesh:
    """Return a hatchback: body, cabin with windows, four wheels, lamps and plates."""
    half = width / 2
    rings = [
        np.array(
            [
                (x * (length - 0.05), side * half * share * wide, level * height)
                for side, wide, level in (
                    *((1, 0.90, under), (1, 1.0, waist), (1, 0.93, shoulder)),
                    *((-1, 0.93, shoulder), (-1, 1.0, waist), (-1, 0.90, under)),
                )
            ]
        )
        for x, share, under, waist, shoulder in CAR_STATIONS
    ]
    radius = 0.215 * height
    wheels = [
        _wheel((x * length, side * half, radius), radius, 0.13 * width, side) for x in (-0.30, 0.31) for side in (1, -1)
    ]
    body = joined(
        [loft(rings, colour), *_cabin(length, half, height, colour), *_car_details(length, half, height), *wheels]
    )
    return _fitted(body, (length, width, height))


def _cabin(length: float, half: float, height: float, colour: Colour) -> list[Mesh]:
    """Return the greenhouse: pillars and roof in the body's colour, glass panels a centimetre outside."""
    base = {"z": 0.60 * height, "back": -0.47 * length, "front": 0.25 * length, "half": 0.90 * half}
    roof = {"z": 0.965 * height, "back": -0.36 * length, "front": 0.07 * length, "half": 0.70 * half}

    def at(along: float, across: float, up: float) -> Point:
        """Give a point of the cabin's skin: along 0 (back) to 1 (front), across -1..1, up 0 (waist) to 1 (roof)."""
        mixed = {key: base[key] + up * (roof[key] - base[key]) for key in base}
        return mixed["back"] + along * (mixed["front"] - mixed["back"]), across * mixed["half"], mixed["z"]

    rings = [np.array([at(1, 1, up), at(0, 1, up), at(0, -1, up), at(1, -1, up)]) for up in (0.0, 1.0)]
    crown = rings[1] * (0.93, 0.88, 1.0)
    crown[:, 2] = height
    glass: list[Mesh] = []
    for side in (1.012, -1.012):
        for start, end in ((0.09, 0.46), (0.50, 0.90)):
            corners = [
                at(start, side, 0.12),
                at(end, side, 0.12),
                at(end - 0.02, side, 0.90),
                at(start + 0.03, side, 0.90),
            ]
            glass.append(panel(corners, GLASS))
    for along in (1.012, -0.012):
        glass.append(
            panel([at(along, -0.9, 0.08), at(along, 0.9, 0.08), at(along, 0.88, 0.94), at(along, -0.88, 0.94)], GLASS)
        )
    return [loft([*rings, crown], colour), *glass]


def _car_details(length: float, half: float, height: float) -> list[Mesh]:
    front, back = 0.5 * length, -0.5 * length
    parts = [
        box((front - 0.10, -0.62 * half, 0.20 * height), (front, 0.62 * half, 0.285 * height), TRIM),
        box((back, -0.74 * half, 0.20 * height), (back + 0.10, 0.74 * half, 0.29 * height), TRIM),
        box((front - 0.05, -0.15 * half, 0.30 * height), (front, 0.15 * half, 0.355 * height), PLATE),
        box((back, -0.28 * half, 0.37 * height), (back + 0.05, 0.28 * half, 0.44 * height), PLATE),
    ]
    for side in (1, -1):
        inner, outer = sorted((side * 0.50 * half, side * 0.80 * half))
        parts.append(box((0.42 * length, inner, 0.375 * height), (front - 0.012, outer, 0.445 * height), LAMP))
        inner, outer = sorted((side * 0.56 * half, side * 0.885 * half))
        parts.append(box((-0.493 * length, inner, 0.47 * height), (-0.455 * length, outer, 0.575 * height), TAIL_LAMP))
        inner, outer = sorted((side * 0.90 * half, side * 1.0 * half))
        parts.append(box((0.205 * length, inner, 0.62 * height), (0.235 * length, outer, 0.70 * height), TRIM))
    return parts


def _fitted(mesh: Mesh, size: tuple[float, float, float]) -> Mesh:
    """Stretch a shape that nearly fills its box so that it does exactly: boxes and pixels then tell the same size."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    corner = np.array([-size[0] / 2, -size[1] / 2, 0.0])
    return Mesh(corner + (mesh.vertices - low) * (np.array(size) / (high - low)), mesh.faces, mesh.colours)


def _wheel(hub: Point, radius: float, thickness: float, side: int) -> Mesh:
    """Return a wheel flush with the body's side, with a dark arch behind it and a rim on its outer face."""
    x, y, z = hub
    tyre = tube((x, y, z), (x, y - side * thickness, z), (radius, radius), RUBBER, sides=14)
    arch = disc((x, y - side * 0.004, z + 0.22 * radius), 1.20 * radius, TRIM)
    rim = disc((x, y + side * 0.004, z), 0.64 * radius, RIM, sides=10)
    hole = disc((x, y + side * 0.006, z), 0.20 * radius, TRIM, sides=6)
    return joined([tyre, arch, rim, hole])


def box_truck(length: float, width: float, height: float, colour: Colour = (0.62, 0.63, 0.64)) -> Mesh:
    """Return a delivery truck: cargo box with rear doors, cab with windscreen, chassis, four wheels, lamps."""
    half, front, back = width / 2, length / 2, -length / 2
    cab_back = front - min(0.30 * length, 2.1)
    floor = min(0.30 * height, 1.0)
    radius = min(0.47, 0.16 * height + 0.02)
    cargo = box((back + 0.02, -half, floor), (cab_back - 0.12, half, height), colour)
    chassis = box((back + 0.15, -0.45 * half, 0.55 * floor), (front - 0.4, 0.45 * half, floor), TRIM)
    wheels = [
        _wheel((x, side * 0.97 * half, radius), radius, 0.28, side)
        for x in (back + 0.22 * length, front - 0.55 * (front - cab_back))
        for side in (1, -1)
    ]
    cab_top = min(0.80 * height, floor + 1.7)
    body = joined(
        [cargo, chassis, *_truck_rear(back, half, floor, height), *_cab(cab_back, front, half, cab_top), *wheels]
    )
    return _fitted(body, (length, width, height))


def _truck_rear(back: float, half: float, floor: float, height: float) -> list[Mesh]:
    """Return what one sees from behind: doors with seams and hinges, lamps, an underrun bar, a plate."""
    x = back + 0.012

    def patch(y0: float, y1: float, z0: float, z1: float, colour: Colour, out: float = 0.0) -> Mesh:
        return panel([(x - out, y0, z0), (x - out, y1, z0), (x - out, y1, z1), (x - out, y0, z1)], colour)

    door: Colour = (0.52, 0.53, 0.54)
    parts = [
        patch(0.02, 0.94 * half, floor + 0.08, height - 0.08, door),
        patch(-0.94 * half, -0.02, floor + 0.08, height - 0.08, door),
        patch(-0.02, 0.02, floor, height - 0.05, TRIM, 0.004),
        box((back, -0.9 * half, 0.45 * floor), (back + 0.1, 0.9 * half, 0.58 * floor), TRIM),
        box((back, -0.22 * half, 0.62 * floor), (back + 0.05, 0.22 * half, 0.75 * floor), PLATE),
    ]
    for side in (1, -1):
        y0, y1 = sorted((side * 0.62 * half, side * 0.88 * half))
        parts.append(box((back, y0, 0.70 * floor), (back + 0.08, y1, 0.88 * floor), TAIL_LAMP))
        rod0, rod1 = sorted((side * 0.30 * half, side * 0.33 * half))
        parts.append(patch(rod0, rod1, floor + 0.1, height - 0.1, RIM, 0.006))
    return parts


def _cab(back: float, front: float, half: float, top: float) -> list[Mesh]:
    """Return a cab with a raked windscreen, side windows, bumper, lamps and mirrors."""
    paint: Colour = (0.10, 0.16, 0.34)
    rake, low, waist = 0.22, 0.32, 0.55 * top
    outline = [
        (back, low),
        (front, low),
        (front, waist),
        (front - rake, top - 0.06),
        (front - rake - 0.12, top),
        (back, top),
    ]
    body = loft([np.array([(x - 0.02, y, z) for x, z in outline]) for y in (0.96 * half, -0.96 * half)], paint)
    screen = [(front - 0.008, y, waist + 0.06) for y in (-0.84 * half, 0.84 * half)]
    screen += [(front - rake + 0.004, y, top - 0.12) for y in (0.80 * half, -0.80 * half)]
    parts = [body, panel(screen, GLASS), box((front - 0.12, -0.96 * half, low), (front, 0.96 * half, low + 0.22), TRIM)]
    for side in (1, -1):
        y = side * 0.968 * half
        window = [
            (back + 0.35, waist),
            (front - 0.18, waist),
            (front - rake - 0.14, top - 0.16),
            (back + 0.35, top - 0.16),
        ]
        parts.append(panel([(x, y, z) for x, z in window], GLASS))
        y0, y1 = sorted((side * 0.58 * half, side * 0.88 * half))
        parts.append(box((front - 0.05, y0, low + 0.26), (front, y1, low + 0.42), LAMP))
        y0, y1 = sorted((side * 0.965 * half, side * half))
        parts.append(box((front - rake - 0.2, y0, waist + 0.05), (front - rake - 0.12, y1, waist + 0.42), TRIM))
    return parts


def pedestrian(length: float, width: float, height: float, colour: Colour = (0.05, 0.12, 0.30)) -> Mesh:
    """Return a person in mid-stride: head with hair, torso, arms, legs, shoes; `length` is the stride's extent."""
    stride, half, h = 0.5 * length, 0.5 * width, height
    legs: Colour = (0.045, 0.05, 0.06)
    hip, shoulder = 0.50 * h, 0.80 * h
    limb = 0.052 * h
    trunk = [
        np.array([(rx * np.cos(a), ry * np.sin(a), z) for a in np.arange(10) * (np.pi / 5)])
        for z, rx, ry in (
            *((0.46 * h, 0.05 * h, 0.55 * half), (0.52 * h, 0.065 * h, 0.60 * half), (0.62 * h, 0.06 * h, 0.54 * half)),
            *(
                (0.74 * h, 0.07 * h, 0.68 * half),
                (0.81 * h, 0.055 * h, 0.66 * half),
                (0.845 * h, 0.03 * h, 0.25 * half),
            ),
        )
    ]
    parts = [loft(trunk, colour), tube((0, 0, 0.83 * h), (0, 0, 0.89 * h), (0.03 * h, 0.028 * h), SKIN)]
    parts.append(ellipsoid((0.005 * h, 0, 0.927 * h), (0.052 * h, 0.042 * h, 0.062 * h), SKIN, 10))
    parts.append(ellipsoid((-0.012 * h, 0, 0.945 * h), (0.052 * h, 0.046 * h, 0.055 * h), HAIR, 10))
    for side in (1, -1):
        y, foot = side * 0.32 * half, side * (stride - 0.09 * h)
        knee = (0.55 * foot + 0.03 * h, y, 0.27 * h)
        parts.append(tube((0, y, hip), knee, (1.15 * limb, 0.8 * limb), legs))
        parts.append(tube(knee, (foot - 0.02 * h, y, 0.035 * h), (0.8 * limb, 0.5 * limb), legs))
        x0, x1 = sorted((foot - 0.05 * h, foot + 0.09 * h)) if side > 0 else (foot - 0.05 * h, foot + 0.09 * h)
        parts.append(box((max(x0, -stride), y - 0.026 * h, 0.0), (min(x1, stride), y + 0.026 * h, 0.04 * h), TRIM))
        arm, hand = (
            (-0.35 * foot, side * (half - 0.6 * limb), 0.63 * h),
            (-0.55 * foot, side * (half - 0.5 * limb), 0.48 * h),
        )
        parts.append(tube((0, side * 0.70 * half, shoulder), arm, (0.72 * limb, 0.6 * limb), colour))
        parts.append(tube(arm, hand, (0.6 * limb, 0.42 * limb), colour))
        parts.append(ellipsoid(hand, (0.5 * limb, 0.4 * limb, 0.65 * limb), SKIN, 6))
    return _fitted(joined(parts), (length, width, height))


def building(length: float, width: float, height: float, colour: Colour = (0.42, 0.30, 0.24)) -> Mesh:
    """Return a block with a cornice and rows of windows on all four sides."""
    x, y = length / 2, width / 2
    parts = [box((-x, -y, 0), (x, y, height), colour), box((-x, -y, height - 0.4), (x, y, height), (0.5, 0.48, 0.44))]
    for storey in range(max(1, int(height / 3.2))):
        low = storey * 3.2 + 1.0
        for count, reach, turned in ((int(length / 3), y + 0.01, False), (int(width / 3), x + 0.01, True)):
            for index in range(count):
                centre = (index - (count - 1) / 2) * 3.0
                flat = [(centre + dx, low + dz) for dx, dz in ((-0.6, 0), (0.6, 0), (0.6, 1.6), (-0.6, 1.6))]
                for side in (reach, -reach):
                    parts.append(panel([(side, u, z) if turned else (u, side, z) for u, z in flat], GLASS))
    return joined(parts)


def ground_polygon(polygon: Any, height_at: HeightAt, colour: Colour) -> Mesh:
    """Return a polygon (K, 2) or any shapely area, holes included, laid onto the ground.

    Raises:
        GeometryError: the polygon is invalid.
    """
    area: Any = polygon if isinstance(polygon, shapely.Geometry) else shapely.Polygon(np.asarray(polygon))
    if not area.is_valid:
        raise GeometryError(f"ground polygon is invalid ({shapely.is_valid_reason(area)}): {area.wkt[:200]}")
    pieces = [part for part in shapely.get_parts(area) if part.geom_type == "Polygon" and part.area > 0]
    triangles = [triangle for part in pieces for triangle in _triangulated(part)]
    if not triangles:
        return joined([])
    plan = np.concatenate(triangles)
    faces = np.arange(len(plan), dtype=np.int64).reshape(-1, 3)
    return Mesh(np.column_stack([plan, height_at(plan)]), faces, np.tile(colour, (len(faces), 1)))


def _triangulated(polygon: Any) -> list[Array]:
    """Cut a polygon into triangles (3, 2): the Delaunay triangles of its corners, cut at its outline."""
    shapely.prepare(polygon)
    triangles = shapely.get_parts(shapely.delaunay_triangles(polygon))
    inside = shapely.covers(polygon, triangles)
    across = triangles[~inside & shapely.intersects(polygon, triangles)]
    result = [np.asarray(shapely.get_coordinates(triangles[inside])).reshape(-1, 4, 2)[:, :3].reshape(-1, 2)]
    for piece in shapely.get_parts(shapely.intersection(polygon, across)):
        # Convex: a Delaunay triangle has no corner of the outline inside it, so only whole chords cut it.
        if piece.geom_type == "Polygon" and piece.area > 1e-12:
            hull = np.asarray(piece.exterior.coords)[:-1]
            result += [hull[[0, index, index + 1]] for index in range(1, len(hull) - 1)]
    return result


SINK_M: Final = 0.035
RIM_M: Final = 0.012
"""A pothole's depth and the height of its crumbled rim. Shallow: its floor must not show through the near edge."""


def pothole(polygon: Array, height_at: HeightAt) -> Mesh:
    """Return a collapsed patch of road inside a plan polygon (K, 2) that is star-shaped about its centroid.

    The outline is uneven, the same for the same polygon, and never leaves the polygon: a crumbled rim, a dark broken
    edge and a rough floor slightly below the road.
    """
    spokes = 48
    area = shapely.Polygon(np.asarray(polygon))
    centre = np.asarray(area.centroid.coords)[0]
    turn = np.arange(spokes) * (2 * np.pi / spokes)
    reach = _reach(area, centre, turn)
    phase = 7.0 * centre[0] + 13.0 * centre[1]
    rough = (
        0.5 + 0.25 * np.sin(3 * turn + phase) + 0.15 * np.sin(7 * turn + 2 * phase) + 0.10 * np.sin(17 * turn + phase)
    )
    outline = reach * (0.86 + 0.13 * rough)
    wobble = 0.5 + 0.5 * np.sin(11 * turn + 3 * phase)
    rings = (
        (1.0, 0.0),
        (0.955, RIM_M),
        (0.90, 0.0),
        (0.84, -0.6 * SINK_M),
        (0.60, -SINK_M),
        (0.30, -0.85 * SINK_M),
        (0.0, -SINK_M),
    )
    spread = np.stack([share * outline * (1 - 0.05 * wobble * (0.0 < share < 1.0)) for share, _ in rings])
    plan = centre + spread[:, :, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    level = height_at(plan.reshape(-1, 2)) + np.repeat([height for _, height in rings], spokes)
    return _ring_surface(np.column_stack([plan.reshape(-1, 2), level]), spokes)


def _reach(area: Any, centre: Array, turn: Array) -> Array:
    """Return how far the outline is from the centre in each direction (N,), metres."""
    far = 2 * float(np.hypot(*(np.asarray(area.bounds)[2:] - np.asarray(area.bounds)[:2]))) + 1.0
    ends = centre + far * np.column_stack([np.cos(turn), np.sin(turn)])
    rays = shapely.linestrings(np.stack([np.broadcast_to(centre, ends.shape), ends], axis=1))
    inside = shapely.length(shapely.intersection(rays, area))
    return np.asarray(inside, dtype=np.float64)


def _ring_surface(vertices: Array, spokes: int) -> Mesh:
    """Join concentric rings of points with a speckled colour for each ring."""
    shades = np.array([0.17, 0.13, 0.018, 0.022, 0.045, 0.055])
    level = np.repeat(np.arange(len(shades)), spokes)
    index = np.tile(np.arange(spokes), len(shades))
    after = (index + 1) % spokes
    a, b = level * spokes + index, level * spokes + after
    c, d = b + spokes, a + spokes
    faces = np.stack([np.column_stack([a, b, c]), np.column_stack([a, c, d])], axis=1).reshape(-1, 3)
    speckle = 0.75 + 0.5 * ((np.arange(len(faces)) * 7919 % 101) / 100.0)
    grey = np.repeat(shades[level], 2) * speckle
    return Mesh(vertices, faces, grey[:, None] * np.array([1.0, 0.96, 0.90]))


SHAPES: Final[dict[str, Callable[[float, float, float], Mesh]]] = {
    "box_truck": box_truck,
    "car": car,
    "pedestrian": pedestrian,
}
"""Standing shapes by name; each takes (length, width, height) in metres."""

SURFACES: Final[dict[str, Callable[[Array, Callable[[Array], Array]], Mesh]]] = {"pothole": pothole}
"""Shapes of the ground by name; each takes an outline (K, 2) and the ground's height under points."""
