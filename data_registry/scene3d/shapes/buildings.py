"""A simple block with windows."""

from __future__ import annotations

from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import GLASS
from data_registry.scene3d.solids import Colour, box, panel


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
