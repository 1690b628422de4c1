"""House fronts: four rows of buildings around the street, drawn pixel by pixel on the planes that they stand on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from data_registry.sources.streetset.layout import PAVEMENT_Z, STREET_END, WALL_LEFT, WALL_RIGHT
from data_registry.sources.streetset.noise import Single, band, hashed, raw_bytes, rgb, texture

PAINTS: Final = np.array(
    [
        (0.36, 0.17, 0.12),
        (0.52, 0.46, 0.36),
        (0.30, 0.30, 0.30),
        (0.46, 0.30, 0.20),
        (0.58, 0.56, 0.52),
        (0.28, 0.20, 0.17),
        (0.44, 0.42, 0.34),
    ],
    dtype=np.float32,
).T
SIGNS: Final = np.array(
    [(0.10, 0.16, 0.22), (0.30, 0.06, 0.05), (0.07, 0.17, 0.10), (0.05, 0.05, 0.06), (0.36, 0.27, 0.08)],
    dtype=np.float32,
).T
STONE: Final = rgb(0.50, 0.47, 0.42)
GLASS: Final = rgb(0.030, 0.037, 0.045)
REFLECTED: Final = rgb(0.30, 0.36, 0.43)
CURTAIN: Final = rgb(0.42, 0.39, 0.33)
SHOP_TOP: Final = 3.3
SIGN_TOP: Final = 3.95


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A row of houses along one line: arrays over the houses.

    Attributes:
        edges: (N + 1,) where houses begin and end, metres along the line.
        heights: (N,) metres.
        paints: (3, N) reflectances.
        signs: (3, N) reflectances of the shop signs.
        storeys: (N,) height of an upper storey, metres.
        bays: (N,) width of a window bay, metres.
        windows: (N,) width of a window, metres.
    """

    edges: Single
    heights: Single
    paints: Single
    signs: Single
    storeys: Single
    bays: Single
    windows: Single

    def house(self, along: Single) -> npt.NDArray[np.int64]:
        """Return the index of the house at places along the line."""
        return np.clip(np.searchsorted(self.edges, along, side="right") - 1, 0, len(self.heights) - 1)


@lru_cache(maxsize=8)
def row(seed: int, start: float, end: float, low: float, high: float) -> Row:
    """Return a row of houses of 9 to 16 m width and `low` to `high` m height between two places."""
    count = max(1, round((end - start) / 12.5))
    random = raw_bytes(seed, 8 * count).reshape(8, count).astype(np.float32) / 255
    widths = 9 + 7 * random[0]
    edges = start + np.concatenate([[0.0], np.cumsum(widths)]) * (end - start) / widths.sum()
    first = int(random[1, 0] * 100)
    return Row(
        edges.astype(np.float32),
        low + (high - low) * random[2],
        PAINTS[:, (first + np.arange(count) * 3) % PAINTS.shape[1]] * (0.85 + 0.3 * random[3]),
        SIGNS[:, (first + np.arange(count) * 2) % SIGNS.shape[1]],
        3.0 + 0.4 * random[4],
        2.3 + 0.9 * random[5],
        1.0 + 0.4 * random[6],
    )


RIGHT_ROW: Final = (11, -30.0, STREET_END + 30.0, 10.5, 15.5)
LEFT_ROW: Final = (23, -30.0, STREET_END + 30.0, 8.6, 11.0)
END_ROW: Final = (37, WALL_RIGHT - 20.0, WALL_LEFT + 20.0, 13.0, 17.0)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """Points on a row's plane: place along it, height, how much of both a pixel covers (all (N,), metres)."""

    along: Single
    height: Single
    reach_along: Single
    reach_height: Single


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """Patches with the house that each belongs to: index, place from the house's edge, width of the house."""

    patch: Patch
    house: npt.NDArray[np.int64]
    local: Single
    width: Single

    def part(self, index: npt.NDArray[np.int64]) -> Front:
        """Return some of the points."""
        patch = self.patch
        spot = Patch(patch.along[index], patch.height[index], patch.reach_along[index], patch.reach_height[index])
        return Front(spot, self.house[index], self.local[index], self.width[index])


def reflectance(houses: Row, patch: Patch, sunlit: bool) -> Single:
    """Return linear reflectances (3, N) of house fronts, fixed shading such as window recesses included."""
    house = houses.house(patch.along)
    front = Front(patch, house, patch.along - houses.edges[house], houses.edges[house + 1] - houses.edges[house])
    grain = texture(patch.along, patch.height, np.maximum(patch.reach_along, patch.reach_height), 1.5)
    seam = band(np.minimum(front.local, front.width - front.local), -1.0, 0.05, patch.reach_along)
    colour = houses.paints[:, house] * ((1 + 0.10 * grain) * _courses(patch) * (1 - 0.45 * seam))
    border = SIGN_TOP + patch.reach_height
    upper, lower = np.flatnonzero(patch.height > SIGN_TOP), np.flatnonzero(patch.height < border)
    for place, draw in ((upper, _upper_windows), (lower, _shop)):
        part = colour[:, place]
        draw(part, houses, front.part(place), sunlit)
        colour[:, place] = part
    _cornice(colour, houses.heights[house], patch)
    return colour


def _mix(colour: Single, paint: Single, share: Single) -> None:
    """Lay paint (3, 1) or (3, N) over a colour (3, N), in place."""
    colour += (paint - colour) * share


def _courses(patch: Patch) -> Single:
    """Return the joints between courses of stone, 0.3 m apart, which fade with distance."""
    joint = band(np.mod(patch.height, np.float32(0.3)), 0.0, 0.02, patch.reach_height)
    return 1 - 0.25 * joint * np.clip(1.5 - patch.reach_height * 8, 0, 1)


def _upper_windows(colour: Single, houses: Row, front: Front, sunlit: bool) -> None:
    """Draw rows of sash windows with frames, panes, glazing bars, recesses and sills."""
    patch, house, local, width = front.patch, front.house, front.local, front.width
    bays = np.maximum(np.floor((width - 0.8) / houses.bays[house]), 1)
    pitch = (width - 0.8) / bays
    place = (local - 0.4) / pitch
    bay = np.clip(np.floor(place), 0, bays - 1)
    across = (place - bay - 0.5) * pitch
    storey_height = houses.storeys[house]
    storeys = np.floor((houses.heights[house] - 0.6 - SIGN_TOP) / storey_height)
    storey = np.clip(np.floor((patch.height - SIGN_TOP) / storey_height), 0, storeys - 1)
    up = patch.height - SIGN_TOP - storey * storey_height
    half = houses.windows[house] / 2
    frame = band(across, -half - 0.12, half + 0.12, patch.reach_along) * band(up, 0.70, 2.42, patch.reach_height)
    _mix(colour, STONE, frame * 0.8)
    pane = band(across, -half, half, patch.reach_along) * band(up, 0.85, 2.30, patch.reach_height)
    chance = hashed(house, bay.astype(np.int64), storey.astype(np.int64))
    shine = 0.12 + 0.55 * chance * np.clip(up / 2.3, 0, 1)
    glass = GLASS + (REFLECTED - GLASS) * shine
    _mix(glass, CURTAIN * 0.6, ((chance * 17 % 1) > 0.72) * band(up, 1.5, 3.0, patch.reach_height) * 0.8)
    bars = band(np.abs(across), -1.0, 0.03, patch.reach_along) + band(
        np.abs(up - 1.55), -1.0, 0.025, patch.reach_height
    )
    _mix(glass, STONE, np.minimum(bars, 1) * 0.8)
    recess = band(up, 2.12, 2.32, patch.reach_height) * (0.65 if sunlit else 0.35)
    glass *= 1 - recess
    _mix(colour, glass, pane)
    sill = band(across, -half - 0.15, half + 0.15, patch.reach_along) * band(up, 0.60, 0.70, patch.reach_height)
    colour *= 1 - 0.4 * sill


def _shop(colour: Single, houses: Row, front: Front, sunlit: bool) -> None:
    """Draw the ground floor: plinth, shop windows between pillars, a door, a sign board."""
    patch, house, local, width = front.patch, front.house, front.local, front.width
    pillars = np.maximum(np.round((width - 0.8) / 3.4), 1)
    pitch = (width - 0.8) / pillars
    place = np.clip((local - 0.4) / pitch, 0, pillars - 0.001)
    pane = np.floor(place)
    across = (place - pane - 0.5) * pitch
    half = pitch / 2 - 0.28
    up = patch.height - PAVEMENT_Z
    chance = hashed(house, pane.astype(np.int64) + 50)
    door = chance < 0.3
    low = np.where(door, np.float32(0.02), np.float32(0.55))
    opening = band(across, -half, half, patch.reach_along) * band(up, low, SHOP_TOP - 0.25, patch.reach_height)
    shine = 0.10 + 0.30 * chance * np.clip(up / 3, 0, 1)
    glass = GLASS + (REFLECTED - GLASS) * shine
    bars = band(np.abs(np.abs(across) - half * 0.5), -1.0, 0.03, patch.reach_along)
    bars = bars + band(np.abs(up - 2.45), -1.0, 0.03, patch.reach_height)
    _mix(glass, houses.signs[:, house] * 0.8, np.minimum(bars, 1))
    shade = 0.5 if sunlit else 0.3
    glass *= 1 - shade * band(up, SHOP_TOP - 0.55, SHOP_TOP, patch.reach_height)
    ground = band(patch.height, -1.0, SIGN_TOP, patch.reach_height)
    _mix(colour, STONE * 0.75, ground * 0.55)
    _mix(colour, glass, opening)
    board = band(patch.height, SHOP_TOP + 0.05, SIGN_TOP - 0.08, patch.reach_height)
    board *= band(np.minimum(local, width - local), 0.35, 99.0, patch.reach_along)
    _mix(colour, houses.signs[:, house], board)
    letters = band(np.abs(local - width / 2), -1.0, 0.18 * width, patch.reach_along)
    letters *= band(patch.height, SHOP_TOP + 0.20, SHOP_TOP + 0.42, patch.reach_height)
    strokes = hashed(house, np.floor(local / 0.14).astype(np.int64) + 900) > 0.4
    _mix(colour, STONE * 1.2, letters * strokes * np.clip(1.6 - patch.reach_along * 8, 0.25, 1))


def _cornice(colour: Single, height: Single, patch: Patch) -> None:
    top = height - patch.height
    _mix(colour, STONE * 1.05, band(top, -1.0, 0.40, patch.reach_height))
    colour *= 1 - 0.45 * band(top, 0.40, 0.62, patch.reach_height)
