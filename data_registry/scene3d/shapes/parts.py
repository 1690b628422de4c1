"""Finishes and parts that many shapes share: wheels, lamps, plates, and the stretch into the asked-for box."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import Colour, Finish, Point, disc, loft, panel, sheet

Size = tuple[float, float, float]
"""Length, width, height, metres."""

GLASS: Final = Finish((0.028, 0.038, 0.048), Material.GLASS)
RUBBER: Final = Finish((0.014, 0.014, 0.015), Material.MATTE)
RIM: Final = Finish((0.34, 0.35, 0.36), Material.METAL)
STEEL: Final = Finish((0.18, 0.19, 0.20), Material.METAL)
DARK_STEEL: Final = Finish((0.05, 0.052, 0.055), Material.METAL)
TRIM: Final = Finish((0.022, 0.022, 0.024), Material.MATTE)
LAMP: Final = Finish((0.75, 0.76, 0.74), Material.GLASS)
TAIL_LAMP: Final = Finish((0.36, 0.012, 0.012), Material.PAINTWORK)
AMBER_LAMP: Final = Finish((0.55, 0.20, 0.01), Material.PAINTWORK)
PLATE: Final = Finish((0.66, 0.66, 0.62), Material.MATTE)
WHITE: Final = Finish((0.72, 0.72, 0.70), Material.MATTE)
RED: Final = Finish((0.50, 0.022, 0.018), Material.MATTE)
ORANGE: Final = Finish((0.70, 0.13, 0.012), Material.MATTE)
REFLECTIVE: Final = Finish((0.74, 0.76, 0.76), Material.MARKING)
LIT_RED: Final = Finish((1.0, 0.05, 0.03), Material.GLOWING)
LIT_AMBER: Final = Finish((1.0, 0.48, 0.04), Material.GLOWING)
SKIN: Final = Finish((0.46, 0.27, 0.19), Material.SKIN)
HAIR: Final = Finish((0.025, 0.016, 0.012), Material.MATTE)


def paint(colour: Colour) -> Finish:
    """Return a vehicle's varnish."""
    return Finish(colour, Material.PAINTWORK)


def cloth(colour: Colour) -> Finish:
    """Return cloth of a colour."""
    return Finish(colour, Material.MATTE)


def shaded(colour: Colour, share: float) -> Colour:
    """Return a colour that is darker (share below 1) or lighter, never above white."""
    red, green, blue = (min(1.0, share * value) for value in colour)
    return red, green, blue


def shifted(mesh: Mesh, offset: Point) -> Mesh:
    """Return the mesh moved by an offset, metres."""
    return Mesh(mesh.vertices + np.array(offset), mesh.faces, mesh.colours, mesh.materials)


def fitted(mesh: Mesh, size: Size) -> Mesh:
    """Stretch a shape that nearly fills its box so that it does exactly: boxes and pixels then tell the same size."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    corner = np.array([-size[0] / 2, -size[1] / 2, 0.0])
    vertices = corner + (mesh.vertices - low) * (np.array(size) / (high - low))
    return Mesh(vertices, mesh.faces, mesh.colours, mesh.materials)


def wheel(hub: Point, radius: float, thickness: float, spokes: int = 5) -> Mesh:
    """Return a left wheel whose outer face is at the hub's y: tyre with rounded shoulders, rim, spokes, nave."""
    x, y, z = hub
    turn = np.arange(18) * (2 * np.pi / 18)
    circle = np.column_stack([np.cos(turn), np.zeros(18), np.sin(turn)])
    profile = ((0.70, 0.012), (0.93, 0.0), (1.0, 0.14 * thickness), (1.0, 0.9 * thickness), (0.9, thickness))
    rings = [np.array([x, y - inward, z]) + share * radius * circle for share, inward in profile]
    from_side = y - 0.010
    parts = [_skin(rings), disc((x, from_side, z), 0.71 * radius, TRIM, sides=18)]
    for angle in np.arange(spokes) * (2 * np.pi / spokes) + np.pi / 2:
        tip = (x + 0.68 * radius * np.cos(angle), from_side + 0.004, z + 0.68 * radius * np.sin(angle))
        parts.append(_spoke((x, from_side + 0.006, z), tip, 0.13 * radius))
    parts += [_rim(x, from_side + 0.005, z, radius), disc((x, from_side + 0.009, z), 0.17 * radius, STEEL, sides=8)]
    return joined(parts)


def _skin(rings: list[Array]) -> Mesh:
    return loft(rings[::-1], RUBBER)


def _rim(x: float, y: float, z: float, radius: float) -> Mesh:
    turn = np.arange(19) * (2 * np.pi / 18)
    rings = [
        np.column_stack([x + r * radius * np.cos(turn), np.full(19, y), z + r * radius * np.sin(turn)])
        for r in (0.62, 0.71)
    ]
    return sheet(np.stack(rings), RIM)


def _spoke(nave: Point, tip: Point, width: float) -> Mesh:
    across = np.cross(np.subtract(tip, nave), (0.0, 1.0, 0.0))
    across *= width / np.linalg.norm(across)
    corners = [
        np.add(nave, across),
        np.subtract(nave, across),
        np.subtract(tip, 0.7 * across),
        np.add(tip, 0.7 * across),
    ]
    return panel([(float(a), float(b), float(c)) for a, b, c in corners], RIM)
