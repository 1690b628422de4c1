"""A z-buffer renderer in numpy: triangles become spans of samples, spans become samples, the nearest sample wins.

No Python loop runs over triangles or rows: all triangles of a chunk are cut into row spans at once, so the cost follows
the number of samples covered. Each shared edge is intersected with a row by the same arithmetic on both sides, and
spans are half open, so neighbouring faces neither overlap nor leave a crack. All positions are absolute picture
coordinates: a window gives exactly the crop of the whole picture. Ties in depth go to the earlier face.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from data_registry.geometry import NEAREST_DEPTH_M, Array, GeometryError, GroundPlane, PinholeCamera
from data_registry.scene3d.light import Light
from data_registry.scene3d.mesh import Mesh, joined

Ints = npt.NDArray[np.int64]

CHUNK_SAMPLES: Final = 1 << 21
"""Samples expanded at once: bounds the memory of a chunk to about 150 MB."""

BAND_SAMPLES: Final = 1 << 19
"""Samples of a band of rows: its buffers stay in the processor's cache and fresh memory is rarely asked for."""

NOBODY: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class Rendering:
    """What a camera sees of some meshes, for one window of its picture.

    Attributes:
        rgb: (H, W, 3) linear RGB, premultiplied by coverage.
        coverage: (H, W), share of the pixel's samples that hit a mesh, 0..1.
        depth: (H, W), metres along the optical axis of the pixel's nearest sample, infinite where nothing is.
        owner: (H, W) int32, index of the mesh of that sample, -1 where nothing is.
    """

    rgb: Array
    coverage: Array
    depth: Array
    owner: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Faces:
    """Clipped triangles in picture coordinates: corners (M, 3, 2) px, inverse depths' planes (M, 3), colour, owner."""

    corners: Array
    planes: Array
    colours: Array
    owners: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Grid:
    """The samples of a window: `left` and `top` count samples from the picture's corner."""

    left: int
    top: int
    columns: int
    rows: int
    samples: int

    def position(self, index: Ints) -> Array:
        """Return picture coordinates of sample indices, counted from the picture's corner."""
        return (index + 0.5) / self.samples - 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Spans:
    """Runs of samples: face index, row and first column from the picture's corner, count."""

    face: Ints
    row: Ints
    start: Ints
    count: Ints


def render(
    meshes: Sequence[Mesh],
    camera: PinholeCamera,
    light: Light,
    window: tuple[int, int, int, int] | None = None,
    samples: int = 2,
) -> Rendering:
    """Render meshes given in the ego frame at time 0.

    Args:
        meshes: nearer ones hide farther ones, whatever the order; `owner` counts in this order.
        camera: the reading to render for.
        light: sun and sky, ego frame.
        window: (left, top, right, bottom) pixels, right and bottom exclusive; the whole picture by default.
        samples: samples a pixel along each axis.

    Raises:
        GeometryError: the window is empty or not in the picture, or samples is below 1.
    """
    left, top, right, bottom = window or (0, 0, camera.width, camera.height)
    if not (0 <= left < right <= camera.width and 0 <= top < bottom <= camera.height) or samples < 1:
        size = f"{camera.width}x{camera.height}"
        raise GeometryError(f"window {window} with {samples} samples a side is not part of a {size} picture")
    faces = _project_faces(meshes, camera, light)
    height = max(1, BAND_SAMPLES // ((right - left) * samples**2))
    bands = [
        _render_band(faces, _Grid(left * samples, row * samples, (right - left) * samples, rows * samples, samples))
        for row, rows in ((row, min(height, bottom - row)) for row in range(top, bottom, height))
    ]
    return Rendering(
        np.concatenate([band.rgb for band in bands]),
        np.concatenate([band.coverage for band in bands]),
        np.concatenate([band.depth for band in bands]),
        np.concatenate([band.owner for band in bands]),
    )


def _render_band(faces: _Faces, grid: _Grid) -> Rendering:
    spans = _cut_spans(faces.corners, grid)
    if not len(spans.face):
        return _blank(grid.rows // grid.samples, grid.columns // grid.samples)
    nearness = np.zeros(grid.rows * grid.columns)
    winner = np.full(grid.rows * grid.columns, NOBODY, dtype=np.int32)
    for chunk in _chunks(spans):
        _draw(chunk, faces.planes, grid, nearness, winner)
    return _resolve(nearness, winner, faces, grid)


def _blank(height: int, width: int) -> Rendering:
    shape = (height, width)
    owner = np.full(shape, -1, dtype=np.int32)
    return Rendering(np.zeros((*shape, 3)), np.zeros(shape), np.full(shape, np.inf), owner)


def _project_faces(meshes: Sequence[Mesh], camera: PinholeCamera, light: Light) -> _Faces:
    whole = joined(meshes)
    counts = [len(mesh.faces) for mesh in meshes]
    owners = np.repeat(np.arange(len(meshes), dtype=np.int32), counts)
    triangles = whole.triangles()
    colours = light.shade(whole.colours, _normals_towards(triangles, camera.position))
    seen = camera.ego_to_camera.apply(triangles.reshape(-1, 3)).reshape(-1, 3, 3)
    clipped, parents = _clip_near(seen)
    homogeneous = np.einsum("mki,ji->mkj", clipped, camera.intrinsics)
    corners = homogeneous[:, :, :2] / homogeneous[:, :, 2:3]
    planes, solid = _inverse_depth_planes(corners, clipped[:, :, 2])
    return _Faces(corners[solid], planes, colours[parents][solid], owners[parents][solid])


def _normals_towards(triangles: Array, viewer: Array) -> Array:
    """Return unit normals (M, 3) that look to the viewer's side; faces without area get the upward one."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(normals, axis=1)
    flat = length < 1e-15
    normals[flat] = (0.0, 0.0, 1.0)
    normals /= np.where(flat, 1.0, length)[:, None]
    away = np.einsum("mi,mi->m", normals, viewer - triangles[:, 0]) < 0
    return np.where(away[:, None], -normals, normals)


def _clip_near(triangles: Array) -> tuple[Array, Ints]:
    """Cut camera-frame triangles (M, 3, 3) at the nearest depth; return the pieces and the face each comes from."""
    inside = triangles[:, :, 2] >= NEAREST_DEPTH_M
    count = inside.sum(axis=1)
    whole, one, two = (np.flatnonzero(count == number) for number in (3, 1, 2))
    # Roll the lone corner (the only one in front, or the only one behind) to the first place.
    lone_in = _rolled(triangles[one], np.argmax(inside[one], axis=1))
    lone_out = _rolled(triangles[two], np.argmin(inside[two], axis=1))
    tips = np.stack([lone_in[:, 0], _cut(lone_in, 1), _cut(lone_in, 2)], axis=1)
    first, last = _cut(lone_out, 1), _cut(lone_out, 2)
    lower = np.stack([first, lone_out[:, 1], lone_out[:, 2]], axis=1)
    upper = np.stack([first, lone_out[:, 2], last], axis=1)
    pieces = np.concatenate([triangles[whole], tips, lower, upper])
    parents = np.concatenate([whole, one, two, two])
    order = np.argsort(parents, kind="stable")
    return pieces[order], parents[order]


def _rolled(triangles: Array, first: Ints) -> Array:
    order = (first[:, None] + np.arange(3)) % 3
    return np.take_along_axis(triangles, order[:, :, None], axis=1)


def _cut(triangles: Array, corner: int) -> Array:
    """Return where the edge from corner 0 to `corner` meets the nearest depth, (M, 3)."""
    start, end = triangles[:, 0], triangles[:, corner]
    share = (NEAREST_DEPTH_M - start[:, 2]) / (end[:, 2] - start[:, 2])
    return start + share[:, None] * (end - start)


def _inverse_depth_planes(corners: Array, depths: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return planes (a, b, c) with 1 / depth = a * column + b * row + c, and which faces have an area at all."""
    edge1, edge2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = edge1[:, 0] * edge2[:, 1] - edge1[:, 1] * edge2[:, 0]
    solid = np.abs(area) > 1e-12
    edge1, edge2, area = edge1[solid], edge2[solid], area[solid]
    inverse = 1.0 / depths[solid]
    rise1, rise2 = inverse[:, 1] - inverse[:, 0], inverse[:, 2] - inverse[:, 0]
    a = (rise1 * edge2[:, 1] - rise2 * edge1[:, 1]) / area
    b = (rise2 * edge1[:, 0] - rise1 * edge2[:, 0]) / area
    origin = corners[solid, 0]
    return np.column_stack([a, b, inverse[:, 0] - a * origin[:, 0] - b * origin[:, 1]]), solid


def _cut_spans(corners: Array, grid: _Grid) -> _Spans:
    """Cut triangles (M, 3, 2) into the runs of samples that they cover, in the order of faces and rows."""
    bottom, top = corners[:, :, 1].max(axis=1), corners[:, :, 1].min(axis=1)
    first = _first_sample(top, grid.samples, grid.top, grid.top + grid.rows)
    last = _first_sample(bottom, grid.samples, grid.top, grid.top + grid.rows)
    face = np.repeat(np.arange(len(corners)), last - first)
    row = _counted(first, last - first)
    low, high = _row_limits(corners, face, grid.position(row))
    start = _first_sample(low, grid.samples, grid.left, grid.left + grid.columns)
    count = _first_sample(high, grid.samples, grid.left, grid.left + grid.columns) - start
    hit = count > 0
    return _Spans(face[hit], row[hit], start[hit], count[hit])


def _first_sample(position: Array, samples: int, low: int, high: int) -> Ints:
    """Return the index of the first sample at or after a picture coordinate, kept within low..high."""
    index = np.ceil((position + 0.5) * samples - 0.5)
    return np.clip(index, low, high).astype(np.int64)


def _counted(starts: Ints, counts: Ints) -> Ints:
    """Return start, start + 1, ... for every (start, count), one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts - starts, counts)


def _row_limits(corners: Array, face: Ints, row: Array) -> tuple[Array, Array]:
    """Return where rows (picture coordinates) enter and leave their faces."""
    low, high = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for start, end in ((0, 1), (1, 2), (2, 0)):
        one, two = corners[:, start], corners[:, end]
        swap = (one[:, 1] > two[:, 1]) | ((one[:, 1] == two[:, 1]) & (one[:, 0] > two[:, 0]))
        upper, lower = np.where(swap[:, None], two, one), np.where(swap[:, None], one, two)
        rise = lower[:, 1] - upper[:, 1]
        slope = (lower[:, 0] - upper[:, 0]) / np.where(rise > 0, rise, 1.0)
        crossing = upper[face, 0] + (row - upper[face, 1]) * slope[face]
        meets = (upper[face, 1] <= row) & (row < lower[face, 1])
        low = np.where(meets, np.minimum(low, crossing), low)
        high = np.where(meets, np.maximum(high, crossing), high)
    return low, high


def _chunks(spans: _Spans) -> Iterator[_Spans]:
    """Give out the spans in runs of about CHUNK_SAMPLES samples."""
    ends = np.cumsum(spans.count)
    start = 0
    while start < len(ends):
        done = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, done + CHUNK_SAMPLES, side="right")))
        part = slice(start, end)
        yield _Spans(spans.face[part], spans.row[part], spans.start[part], spans.count[part])
        start = end


def _draw(spans: _Spans, planes: Array, grid: _Grid, nearness: Array, winner: npt.NDArray[np.int32]) -> None:
    """Let the samples of some spans compete for their places."""
    column = _counted(spans.start, spans.count)
    plane = planes[spans.face]
    level = plane[:, 1] * grid.position(spans.row) + plane[:, 2]
    inverse = grid.position(column) * np.repeat(plane[:, 0], spans.count) + np.repeat(level, spans.count)
    place = column + np.repeat((spans.row - grid.top) * grid.columns - grid.left, spans.count)
    ahead = inverse >= nearness[place]
    place, inverse = place[ahead], inverse[ahead]
    face = np.repeat(spans.face.astype(np.int32), spans.count)[ahead]
    before = nearness[place]
    np.maximum.at(nearness, place, inverse)
    winner[place[nearness[place] > before]] = NOBODY
    best = inverse == nearness[place]
    np.minimum.at(winner, place[best], face[best])


def _resolve(nearness: Array, winner: npt.NDArray[np.int32], faces: _Faces, grid: _Grid) -> Rendering:
    """Average the samples of every pixel."""
    height, width = grid.rows // grid.samples, grid.columns // grid.samples
    place = np.flatnonzero(winner != NOBODY)
    pixel = place // grid.columns // grid.samples * width + place % grid.columns // grid.samples
    face = winner[place]
    total = height * width
    share = 1.0 / grid.samples**2
    colours = faces.colours[face]
    rgb = np.column_stack([np.bincount(pixel, colours[:, channel], total) for channel in range(3)]) * share
    coverage = np.bincount(pixel, minlength=total) * share
    inverse = np.zeros(total)
    np.maximum.at(inverse, pixel, nearness[place])
    nearest = nearness[place] == inverse[pixel]
    owner = np.full(total, NOBODY, dtype=np.int32)
    np.minimum.at(owner, pixel[nearest], faces.owners[face[nearest]])
    owner[owner == NOBODY] = -1
    depth = np.divide(1.0, inverse, out=np.full(total, np.inf), where=inverse > 0)
    shape = (height, width)
    return Rendering(rgb.reshape(*shape, 3), coverage.reshape(shape), depth.reshape(shape), owner.reshape(shape))


def shadow_polygon(mesh: Mesh, light: Light, ground: GroundPlane) -> Any:
    """Project a mesh along the light onto the ground: plan area in the mesh's frame, metres.

    Each connected part casts its convex hull; parts below the ground cast none. A sun at or below the ground's horizon
    gives an empty polygon.
    """
    normal = np.array([-ground.slope_x, -ground.slope_y, 1.0])
    climb = float(light.direction @ normal)
    if climb < 1e-3 or not len(mesh.faces):
        return shapely.Polygon()
    height = mesh.vertices @ normal - ground.height_m
    fallen = mesh.vertices - (np.maximum(height, 0.0) / climb)[:, None] * light.direction
    labels = _part_labels(mesh)
    used = np.unique(mesh.faces)
    hulls: list[Any] = [
        shapely.convex_hull(shapely.multipoints(fallen[used[labels[used] == label], :2]))
        for label in np.unique(labels[used])
        if height[used[labels[used] == label]].max() > 0
    ]
    return shapely.union_all([hull for hull in hulls if hull.geom_type == "Polygon"])


def _part_labels(mesh: Mesh) -> npt.NDArray[np.int32]:
    """Number the connected parts of a mesh: one label a vertex."""
    start, end = mesh.faces.ravel(), np.roll(mesh.faces, 1, axis=1).ravel()
    size = len(mesh.vertices)
    links = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(size, size))
    result: Any = connected_components(links, directed=False)
    return result[1]
