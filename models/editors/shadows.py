"""How a hazard darkens the ground: it keeps the sky away close by, and the sun along its shadow.

Both are the same question asked of two lights. The hazard's faces fall along the light onto a plan grid that remembers
how high each one was; then each level spreads in proportion to its height, since a light that is no point makes
shadows that touch sharply and end softly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw
from scipy import ndimage

from data_registry.geometry import Array, GroundPlane
from data_registry.scene3d.mesh import Mesh

Bools = npt.NDArray[np.bool_]

CELLS: Final = 360
"""Cells of the plan grid along its longer side, at most."""
FINEST_M: Final = 0.015
LEVELS_M: Final = (0.04, 0.10, 0.2, 0.4, 0.7, 1.1, 1.6, 2.4, 100.0)
"""Upper ends of the heights that spread alike."""
SKY_SPREAD: Final = 0.38
"""Spread of the missing sky per metre of height: it comes from everywhere."""
SKY_LEAST_M: Final = 0.035
"""Least spread of the missing sky: even what lies flat on the ground takes some light from beside it."""
TRUNCATE: Final = 2.5
"""Sigmas beyond which nothing spreads."""
LONGEST_M: Final = 14.0
"""Shadows are cut off this far from the hazard: a low sun would throw them out of the picture."""


_CELLS_KEY: Final = 512
_DIGITS: Final = _CELLS_KEY ** np.arange(6)
"""Six coordinates below 512 as the digits of one number."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanShade:
    """Shares (rows, columns) of a light kept away from the ground, on a plan grid in the ego frame."""

    share: Array
    origin: Array
    cell_m: float

    def at(self, points: Array) -> Array:
        """Return the shares (N,) at plan points (N, 2), 0 outside the grid."""
        rows, columns = ((points[:, axis] - self.origin[axis]) / self.cell_m for axis in (1, 0))
        return ndimage.map_coordinates(self.share, [rows, columns], order=1, mode="constant")

    def corners(self) -> Array:
        """Return the plan corners (4, 2) of what is shaded noticeably; none when nothing is."""
        rows, columns = np.nonzero(self.share > 0.02)
        if not len(rows):
            return np.zeros((0, 2))
        low = self.origin + self.cell_m * np.array([columns.min(), rows.min()])
        high = self.origin + self.cell_m * np.array([columns.max(), rows.max()])
        return np.array([low, (high[0], low[1]), high, (low[0], high[1])])


def sun_shade(mesh: Mesh, direction: Array, spread: float, ground: GroundPlane) -> PlanShade | None:
    """Return where a mesh keeps the sun away; None when the sun is below the ground's horizon.

    Args:
        mesh: in the ego frame.
        direction: unit vector towards the sun.
        spread: growth of the shadow's edge (sigma) per metre of way, metres.
        ground: what it falls onto.
    """
    normal = np.array([-ground.slope_x, -ground.slope_y, 1.0])
    climb = float(direction @ normal)
    if climb < 0.05:
        return None
    slope = -direction[:2] / climb
    reach = float(np.hypot(*slope))
    slope = slope * min(1.0, LONGEST_M / max(reach * float(_heights(mesh.vertices, ground).max()), 1e-6))
    return _fallen(mesh, slope, (spread * float(np.hypot(1.0, reach)), 0.0), ground)


def sky_shade(mesh: Mesh, ground: GroundPlane) -> PlanShade:
    """Return where a mesh keeps the sky away: below it and close around."""
    return _fallen(mesh, np.zeros(2), (SKY_SPREAD, SKY_LEAST_M), ground)


def _heights(points: Array, ground: GroundPlane) -> Array:
    return np.maximum(
        points[..., 2] - ground.height_m - points[..., 0] * ground.slope_x - points[..., 1] * ground.slope_y, 0.0
    )


def _fallen(mesh: Mesh, slope: Array, spread: tuple[float, float], ground: GroundPlane) -> PlanShade:
    """Let faces fall `slope` metres sideways per metre of height; each spreads per metre of height, and by a least."""
    growth, least = spread
    faces = _cut(mesh.triangles(), ground)
    heights = _heights(faces, ground)
    plan = faces[..., :2] + heights[..., None] * slope
    pad = 0.1 + 2.5 * min(growth * float(heights.max()) + least, 1.5)
    low, high = plan.reshape(-1, 2).min(axis=0) - pad, plan.reshape(-1, 2).max(axis=0) + pad
    cell = max(FINEST_M, float((high - low).max()) / CELLS)
    columns, rows = (np.ceil((high - low) / cell).astype(int) + 1).tolist()
    level = np.searchsorted(LEVELS_M, heights.mean(axis=1))
    corners = (plan - low) / cell
    share = np.zeros((rows, columns))
    taken: Bools = np.zeros((rows, columns), dtype=np.bool_)
    for index, upper in enumerate(LEVELS_M):
        chosen = corners[level == index]
        if not len(chosen):
            continue
        mask = _filled(chosen, (columns, rows)) & ~taken
        taken |= mask
        middle = (upper + (LEVELS_M[index - 1] if index else 0.0)) / 2 if upper < 50 else 3.0
        sigma = min(growth * middle + least, 1.5) / cell
        _add_spread(share, mask, max(sigma, 0.6))
    return PlanShade(np.clip(share, 0.0, 1.0), low, cell)


def _add_spread(share: Array, mask: Bools, sigma: float) -> None:
    """Add a mask's blur, working only where it reaches: shadows are long, one level of them is not."""
    reach = int(TRUNCATE * sigma + 0.5) + 1
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return
    part = tuple(slice(max(0, int(at[0]) - reach), int(at[-1]) + reach + 1) for at in (rows, columns))
    share[part] += ndimage.gaussian_filter(mask[part].astype(np.float32), sigma, truncate=TRUNCATE)


def _cut(faces: Array, ground: GroundPlane) -> Array:
    """Cut faces (M, 3, 3) that span much height into four, up to three times, so that each has one level."""
    for _ in range(3):
        heights = _heights(faces, ground)
        tall = np.ptp(heights, axis=1) > np.maximum(0.15, 0.4 * heights.mean(axis=1))
        if not tall.any():
            break
        a, b, c = np.moveaxis(faces[tall], 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [np.stack(part, axis=1) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        faces = np.concatenate([faces[~tall], *parts])
    return faces


def _filled(corners: Array, size: tuple[int, int]) -> Bools:
    """Return the cells (rows, columns) that triangles (M, 3, 2) in cell units cover."""
    picture = Image.new("1", size)
    fill = ImageDraw.Draw(picture).draw.draw_polygon  # `polygon` itself takes longer to look at its colours
    # Pillow cuts coordinates to whole cells, where many small triangles are one and the same
    rings = np.unique(corners.reshape(len(corners), 6).astype(np.int64) @ _DIGITS)
    for ring in (rings[:, None] // _DIGITS % _CELLS_KEY).tolist():
        fill(ring, 1, 1)
    return np.array(picture, dtype=np.bool_)
