"""What lies behind the last houses: a ring of far blocks and wooded hills, so that no street ends in nothing."""

from __future__ import annotations

import numpy as np

from data_registry.geometry import Transform, yaw_rotation
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.scene3d.solids import Colour
from data_registry.sources.streetset.fronts import PANE, RENDERS, Dice
from data_registry.sources.streetset.panes import blocks, panes, spanned


def skyline(centre: tuple[float, float, float], seed: int = 0, radius: float = 350.0, lit: float = 0.0) -> Mesh:
    """Return a ring of far blocks and, behind them, hills about a centre (x, y, z of the ground there)."""
    dice = Dice(raw_bytes(seed + 4000, 2048).astype(np.float64) / 256)
    parts: list[Mesh] = [_hills(centre, radius * 1.5, dice)]
    for ring, (share, count, tall) in enumerate(((0.75, 70, 14.0), (1.0, 80, 26.0))):
        turn = (np.arange(count) + 0.6 * dice.many(ring * 300, count)) * (2 * np.pi / count)
        wide = radius * share * 2 * np.pi / count * (0.45 + 0.5 * dice.many(ring * 300 + 90, count))
        high = tall * (0.35 + 1.1 * dice.many(ring * 300 + 180, count) ** 2)
        for number, angle in enumerate(turn.tolist()):
            colour = _faded(RENDERS[(number * 5 + ring) % len(RENDERS)])
            block = _far_block(float(wide[number]), float(high[number]), colour, lit, number + 100 * ring)
            place = np.array(centre) + radius * share * np.array([np.cos(angle), np.sin(angle), 0.0])
            parts.append(block.placed(Transform(yaw_rotation(angle - np.pi / 2), place)))
    return joined(parts)


def _faded(colour: Colour) -> Colour:
    """Return a colour half way to grey: far walls must not draw the eye."""
    grey = sum(colour) / 3
    return 0.5 * (colour[0] + grey), 0.5 * (colour[1] + grey), 0.5 * (colour[2] + grey)


def _far_block(width: float, height: float, colour: Colour, lit: float, seed: int) -> Mesh:
    """Return a block with a few bands of windows, centred at x = 0, its front at y = 0 looking to -y."""
    half = width / 2
    body = panes(blocks((-half, 0.0, -15.0), (half, 14.0, height)), colour, Material.MASONRY)
    levels = np.arange(1.2, height - 1.5, 3.2)
    columns = np.arange(-half + 1.0, half - 1.8, 3.0)
    if not len(levels) or not len(columns):
        return body
    x, z = np.repeat(columns, len(levels)), np.tile(levels, len(columns))
    corners = spanned((x, -0.1, z), (x + 1.4, -0.1, z + 1.5))
    glows = raw_bytes(seed + 9000, len(x)).astype(np.float64) / 256 < lit
    parts = [body]
    for chosen, paint, material in ((~glows, PANE, Material.MATTE), (glows, (0.42, 0.29, 0.14), Material.GLOWING)):
        if chosen.any():
            parts.append(panes(corners[chosen], paint, material))
    return joined(parts)


def _hills(centre: tuple[float, float, float], radius: float, dice: Dice) -> Mesh:
    """Return a wooded ridge all around, 15 to 45 m high."""
    count = 96
    turn = np.arange(count) * (2 * np.pi / count)
    rise = sum(
        (
            wave * np.sin(turn * k + 6.28 * dice.values[1500 + k])
            for k, wave in ((2, 8.0), (5, 5.0), (11, 2.5), (23, 1.0))
        ),
        start=np.full(count, 26.0),
    )
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(count)])
    low = np.array(centre) + radius * circle - (0.0, 0.0, 20.0)
    high = np.array(centre) + 1.25 * radius * circle + rise[:, None] * (0.0, 0.0, 1.0)
    after = np.roll(np.arange(count), -1)
    corners = np.stack([low, low[after], high[after], high], axis=1)
    tone = (0.8 + 0.4 * dice.many(700, count))[:, None]
    return panes(corners, tone * np.array((0.05, 0.075, 0.035)), Material.FOLIAGE)
