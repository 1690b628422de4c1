"""The map expansion v1.3: lanes, crossings, walkways and the rest as polygons in the map's frame.

The JSON of a city takes seconds to read. What keyframes need of it is kept in the store under the file's digest, as
columns; opening them makes the polygons and one STRtree over all layers.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import shapely
from pydantic import BaseModel, ConfigDict

from data_registry import identity
from data_registry.blobs import write_atomically
from data_registry.geometry import Array
from data_registry.records import Lane, MapPatch, StopLine, StopLineKind, Xy
from data_registry.sources.nuscenes.columns import Columns, ColumnWriter, written
from data_registry.sources.nuscenes.map_reading import LAYERS, MapContent, read_map
from data_registry.sources.nuscenes.patches import GRID_M, Patch, parts, rings
from data_registry.sources.nuscenes.shelf import kept

MAP_SCHEMA: Final = 1
"""Raised whenever the content of a kept map changes: older ones are then read anew."""
CONTENTS: Final = "contents.json"
COLUMNS: Final = "columns.bin"


class MapContents(BaseModel):
    """What `contents.json` says of a kept map; everything else are columns."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layer_ends: dict[str, int]
    """Per layer, where its polygons end; they begin where those of the layer before end."""
    stop_kinds: dict[str, StopLineKind]
    """Per stop line."""
    columns: dict[str, list[Any]]
    """Where the arrays lie in `columns.bin`: type, first byte, length of each axis."""


def open_expansion(path: Path, digest: identity.Digest, home: Path) -> Expansion:
    """Return a map, reading its JSON when nobody has.

    Args:
        path: the JSON.
        digest: its sha256.
        home: folder inside the store for kept maps.

    Raises:
        MapError: the file is not such a map; all problems at once.
        StorageFullError: no room under `home`.
    """
    return kept(home / f"expansion-{MAP_SCHEMA}-{digest}", Expansion, lambda folder: _write(read_map(path), folder))


def _write(content: MapContent, folder: Path) -> None:
    entries = [entry for name in LAYERS for entry in content.polygons[name]]
    lanes = sorted(content.centrelines)
    with written(folder / COLUMNS) as file:
        writer = ColumnWriter(file)
        writer.texts("polygon-token", [token for token, _ in entries])
        _write_polygons(writer, [shape for _, shape in entries])
        writer.texts("lane-token", lanes)
        writer.array("lane-points_end", _ends(len(content.centrelines[token]) for token in lanes))
        writer.array("point-xy", np.concatenate([np.zeros((0, 2)), *(content.centrelines[token] for token in lanes)]))
        writer.array("lane-successors_end", _ends(len(content.successors[token]) for token in lanes))
        writer.texts("successor-token", [name for token in lanes for name in content.successors[token]])
    ends = _ends(len(content.polygons[name]) for name in LAYERS).tolist()
    contents = MapContents(
        layer_ends=dict(zip(LAYERS, ends, strict=True)), stop_kinds=content.stop_kinds, columns=writer.layout
    )
    write_atomically(folder / CONTENTS, contents.model_dump_json().encode())


def _ends(lengths: Any) -> npt.NDArray[np.int64]:
    return np.cumsum(list(lengths), dtype=np.int64)


def _write_polygons(writer: ColumnWriter, shapes: list[shapely.Polygon]) -> None:
    """Write points, where rings end in them, and where polygons end in the rings."""
    none: Any = (None, np.zeros((0, 2)), (np.zeros(1, np.int64), np.zeros(1, np.int64)))
    _, points, (rings_end, polygons_end) = shapely.to_ragged_array(shapes) if shapes else none
    writer.array("polygon-xy", points)
    writer.array("polygon-ring_offsets", rings_end)
    writer.array("polygon-offsets", polygons_end)


class Expansion:
    """One location's map."""

    def __init__(self, folder: Path) -> None:
        """Open a kept map.

        Raises:
            OSError, ValueError, TypeError, KeyError: it is not there, or it is damaged.
        """
        contents = MapContents.model_validate_json((folder / CONTENTS).read_bytes())
        columns = Columns(folder / COLUMNS, contents.columns)
        self._stop_kinds = contents.stop_kinds
        self._layer_ends = [0, *(contents.layer_ends[name] for name in LAYERS)]
        self._tokens = columns.texts("polygon-token").some(0, self._layer_ends[-1])
        self._shapes = _polygons(columns)
        self._tree = shapely.STRtree(self._shapes)
        self._read_lanes(columns)

    def _read_lanes(self, columns: Columns) -> None:
        points_ends, next_ends = (columns.array(f"lane-{name}_end").tolist() for name in ("points", "successors"))
        tokens = columns.texts("lane-token").some(0, len(points_ends))
        following = columns.texts("successor-token").some(0, next_ends[-1] if next_ends else 0)
        points: Array = np.array(columns.array("point-xy"))
        self._centrelines = {
            token: points[a:b] for token, (a, b) in zip(tokens, pairwise([0, *points_ends]), strict=True)
        }
        self._successors = {
            token: tuple(following[a:b]) for token, (a, b) in zip(tokens, pairwise([0, *next_ends]), strict=True)
        }

    def touching(self, square: shapely.Polygon) -> dict[str, list[int]]:
        """Return per layer the numbers of the polygons that meet an area of the map frame, in order of their tokens."""
        hits = np.sort(self._tree.query(square, predicate="intersects"))
        cuts = np.searchsorted(hits, self._layer_ends)
        return {name: hits[a:b].tolist() for name, (a, b) in zip(LAYERS, pairwise(cuts.tolist()), strict=True)}

    def tokens(self, numbers: list[int]) -> list[str]:
        """Return the tokens of polygons' records."""
        return [self._tokens[number] for number in numbers]

    def _within(self, square: shapely.Polygon) -> dict[str, list[tuple[str, shapely.Polygon]]]:
        """Return per layer what lies in the square, clipped, map frame."""
        return {
            name: [
                (token, piece)
                for token, shape in zip(self.tokens(numbers), _clipped(self._shapes[numbers], square), strict=True)
                for piece in parts(shape)
            ]
            for name, numbers in self.touching(square).items()
        }

    def patch(self, patch: Patch) -> MapPatch:
        """Return the map around an ego pose."""
        square = patch.square
        found = self._within(square)
        lanes = _largest(found["lane"], False) | _largest(found["lane_connector"], True)
        lines = {token: _inside(self._centrelines[token], square) for token in lanes}
        content = {
            "source": "expansion",
            "layers": {name: [[token, rings(shape)] for token, shape in entries] for name, entries in found.items()},
            "stop_kinds": [self._stop_kinds[token] for token, _ in found["stop_line"]],
            "lanes": [[token, _listed(lines[token]), list(self._successors[token])] for token in sorted(lanes)],
        }
        areas = {name: patch.areas(shape for _, shape in entries) for name, entries in found.items()}
        return MapPatch(
            source="expansion",
            layers_sha256=identity.digest(content),
            drivable=areas["drivable_area"],
            lanes=tuple(self._lane(token, *lanes[token], (lines[token], patch)) for token in sorted(lanes)),
            crossings=areas["ped_crossing"],
            walkways=areas["walkway"],
            stop_lines=tuple(
                StopLine(area=area, kind=self._stop_kinds[token])
                for token, shape in found["stop_line"]
                for area in patch.areas([shape])
            ),
            intersections=areas["road_segment"],
        )

    def _lane(self, token: str, shape: shapely.Polygon, is_connector: bool, line: tuple[Array, Patch]) -> Lane:
        points, patch = line
        return Lane(
            token=token,
            area=patch.areas([shape])[0],
            centreline=cast(tuple[Xy, ...], tuple((x, y) for x, y in patch.to_ego(points).tolist())),
            is_connector=is_connector,
            successors=self._successors[token],
        )


def _polygons(columns: Columns) -> npt.NDArray[np.object_]:
    offsets = [columns.array(f"polygon-{name}") for name in ("ring_offsets", "offsets")]
    if len(offsets[1]) < 2:
        return np.zeros(0, object)
    made: Any = shapely.from_ragged_array(shapely.GeometryType.POLYGON, columns.array("polygon-xy"), tuple(offsets))
    # on the grid already; but clipping asks each shape for its grid, and cuts elsewhere when it has none
    return shapely.set_precision(made, GRID_M, mode="pointwise")


def _clipped(shapes: npt.NDArray[np.object_], square: shapely.Polygon) -> list[Any]:
    return list(cast(Any, shapely.intersection(shapes, square)))


def _largest(entries: list[tuple[str, shapely.Polygon]], is_connector: bool) -> dict[str, tuple[shapely.Polygon, bool]]:
    """Return one area a lane: where the patch's edge cuts a lane into pieces, the largest of them."""
    found: dict[str, tuple[shapely.Polygon, bool]] = {}
    for token, piece in entries:
        if token not in found or piece.area > found[token][0].area:
            found[token] = (piece, is_connector)
    return found


def _listed(points: Array) -> list[list[float]]:
    return [[identity.quantise(v, 6) for v in xy] for xy in points.tolist()]


def _inside(points: Array, square: shapely.Polygon) -> Array:
    """Return the longest unbroken run of a line's points within the square (the first of equals)."""
    if not len(points):
        return points
    inside = np.asarray(shapely.contains_xy(square, points[:, 0], points[:, 1]))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    runs = edges.reshape(-1, 2)
    if not len(runs):
        return points[:0]
    first, last = runs[int(np.argmax(runs[:, 1] - runs[:, 0]))]
    return points[first:last]
