"""Trajectories as short text: some 45,000 of them must fit into a page that opens at once.

Each value is a whole number (centimetres, milliradians); what is written is its second difference, nearly always one
letter: zigzag, then groups of five bits, low ones first, each a letter of the base64 alphabet, 32 added when another
follows. Times are kept once for all trajectories that share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from data_registry.evaluation import Predicted
from data_registry.geometry import Array
from data_registry.paths import cut

_LETTERS: Final = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
_PER_METRE: Final = 100
_PER_RADIAN: Final = 1000
_PER_SECOND: Final = 1000
_FARTHEST_M: Final = 10_000.0
"""Positions beyond this are not drawn: nobody drives there within the horizon."""


@dataclass(slots=True)
class TrajectoryWriter:
    """Collects trajectories and writes them all at once."""

    horizon_s: float
    times: list[list[int]] = field(default_factory=lambda: [])
    """Time grids, milliseconds."""
    _grids: dict[bytes, int] = field(default_factory=lambda: {})
    _values: list[npt.NDArray[np.int64]] = field(default_factory=lambda: [])
    _known: dict[tuple[int, bytes], int] = field(default_factory=lambda: {})
    _grid_of: list[int] = field(default_factory=lambda: [])

    def add(self, predicted: Predicted) -> int:
        """Return the trajectory's number, -1 when there is none that can be drawn; equal ones share a number."""
        path = drawable(predicted, self.horizon_s)
        if path is None:
            return -1
        grid = self._grid(np.rint(path[0] * _PER_SECOND).astype(np.int64))
        values = np.rint(path[1] * _PER_METRE).T
        if path[2] is not None:
            values = np.vstack([values, np.unwrap(path[2]) * _PER_RADIAN])
        whole = np.rint(values).astype(np.int64)
        key = (grid, whole.tobytes())
        if key not in self._known:
            self._known[key] = len(self._values)
            self._values.append(whole)
            self._grid_of.append(grid)
        return self._known[key]

    def _grid(self, milliseconds: npt.NDArray[np.int64]) -> int:
        key = milliseconds.tobytes()
        if key not in self._grids:
            self._grids[key] = len(self.times)
            self.times.append(milliseconds.tolist())
        return self._grids[key]

    def written(self) -> dict[str, Any]:
        """Return grids, the grid of each trajectory, and their texts: x, then y, then headings where given."""
        return {"grids": self.times, "grid": self._grid_of, "text": _texts(self._values)}


def drawable(predicted: Predicted, horizon_s: float) -> tuple[Array, Array, Array | None] | None:
    """Return times (N,), positions (N, 2) and given headings (N,) up to the horizon; None when nothing can be drawn.

    A flawed trajectory is drawn where it makes sense as a path: an auditor should see what is wrong with it.
    """
    t, xy, heading = predicted.t, predicted.xy, predicted.heading
    if t is None or xy is None or not len(t) or t.shape != (len(t),) or xy.shape != (len(t), 2):
        return None
    if heading is not None and heading.shape != t.shape:
        return None
    columns = np.column_stack([t, xy, np.zeros(len(t)) if heading is None else heading])
    if not np.isfinite(columns).all() or np.abs(columns).max() > _FARTHEST_M or not (np.diff(t) > 0).all():
        return None
    if t[-1] > horizon_s > t[0]:
        columns = cut(columns, horizon_s)
    return columns[:, 0], columns[:, 1:3], None if heading is None else columns[:, 3]


def _texts(trajectories: Sequence[npt.NDArray[np.int64]]) -> list[str]:
    """Return each trajectory's values (rows of x, y and perhaps headings) as text."""
    if not trajectories:
        return []
    differences = [_second_differences(values).ravel() for values in trajectories]
    letters, counts = _letters(np.concatenate(differences))
    text = letters.tobytes().decode("ascii")
    ends = np.cumsum(counts)[np.cumsum([len(one) for one in differences]) - 1].tolist()
    return [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _second_differences(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    once = np.diff(values, axis=1, prepend=0)
    return np.diff(once, axis=1, prepend=0)


def _letters(values: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the letters of all values (N,), one after the other, and how many each takes (N,)."""
    zigzag = np.where(values < 0, -2 * values - 1, 2 * values)
    counts = np.ones(len(values), np.int64)
    for group in range(1, 8):
        counts += zigzag >> (5 * group) > 0
    place = np.arange(counts.max())
    used = place < counts[:, None]
    digits = (zigzag[:, None] >> (5 * place)) & 31
    digits += 32 * (place + 1 < counts[:, None])
    return _LETTERS[digits[used]], counts


def planned(predictions: Iterable[Predicted]) -> dict[tuple[str, str], Predicted]:
    """Return predictions by pair id and variant."""
    return {(one.pair_id, one.variant): one for one in predictions}
