"""Frames, cameras, boxes and the ground plane.

Frames (DESIGN section 5): *global* is the map's; *ego* is the vehicle at time 0 of the keyframe (the LIDAR_TOP
record's pose), rear axle on the ground, x forward, y left, z up; *camera* is x right, y down, z forward at the camera's
own firing time. Units are metres and radians. Points are arrays of shape (N, 3), pixels (N, 2) as (column, row) with
the centre of the top-left pixel at (0, 0), as nuScenes' intrinsics have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import shapely
from scipy.spatial.transform import Rotation
from shapely.geometry.polygon import orient

Array = npt.NDArray[np.float64]

EGO_LENGTH_M: Final = 4.084
EGO_WIDTH_M: Final = 1.730
EGO_AXLE_TO_CENTRE_M: Final = 1.385
"""Body of the nuScenes vehicle, a Renault Zoe, mirrors left out; rear axle to the middle of the body."""
EGO_FRONT_M: Final = EGO_AXLE_TO_CENTRE_M + EGO_LENGTH_M / 2
"""x of the front bumper in the ego frame: 3.427 m."""


@dataclass(frozen=True, slots=True)
class Body:
    """A vehicle's plan rectangle: metres, from the rear axle."""

    length_m: float
    width_m: float
    axle_to_centre_m: float


ZOE: Final = Body(EGO_LENGTH_M, EGO_WIDTH_M, EGO_AXLE_TO_CENTRE_M)
BODIES: Final[Mapping[str, Body]] = {
    "zoe": ZOE,
    "zoe_lidar_0944": Body(EGO_LENGTH_M, EGO_WIDTH_M, 1.444),  # 0.5 m ahead of the LiDAR: VAD, UniAD, SparseDrive
    "zoe_lidar_0986": Body(EGO_LENGTH_M, EGO_WIDTH_M, 1.486),  # the same with the other mount: BEV-Planner, OmniDrive
    "zoe_wide": Body(EGO_LENGTH_M, 1.850, EGO_AXLE_TO_CENTRE_M),  # width in ST-P3 and who followed; no source is given
}
"""Presets of the ego body by name; all but `zoe` show how much a score hangs on it."""

NEAREST_DEPTH_M: Final = 0.1
"""Points nearer to a camera's plane than this, or behind it, have no pixel."""


class GeometryError(ValueError):
    """A rotation, calibration or shape is not what it claims to be."""


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """A rigid motion from a child frame to its parent: p_parent = rotation @ p_child + translation.

    >>> quarter_turn = Transform.from_quaternion((1, 0, 0), (0.5**0.5, 0, 0, 0.5**0.5))
    >>> quarter_turn.apply(np.array([[1.0, 0.0, 0.0]])).round(6).tolist()
    [[1.0, 1.0, 0.0]]
    """

    rotation: Array
    translation: Array

    @classmethod
    def from_quaternion(cls, translation: Sequence[float], wxyz: Sequence[float]) -> Transform:
        """Make a transform from a translation in metres and a unit quaternion (w, x, y, z).

        Raises:
            GeometryError: a value is not finite, or the quaternion's length differs from 1 by more than 1e-3.
        """
        offset = np.asarray(translation, dtype=np.float64)
        quaternion = np.asarray(wxyz, dtype=np.float64)
        if offset.shape != (3,) or quaternion.shape != (4,):
            raise GeometryError(f"a pose needs 3 + 4 numbers, got {offset.shape} and {quaternion.shape}")
        if not (np.isfinite(offset).all() and np.isfinite(quaternion).all()):
            raise GeometryError(f"pose is not finite: translation {translation}, rotation {wxyz}")
        if abs(float(np.linalg.norm(quaternion)) - 1.0) > 1e-3:
            raise GeometryError(f"rotation {tuple(wxyz)} is not a unit quaternion (w, x, y, z)")
        return cls(Rotation.from_quat(quaternion, scalar_first=True).as_matrix(), offset)

    def quaternion(self) -> tuple[float, float, float, float]:
        """Return the rotation as a unit quaternion (w, x, y, z) with w >= 0."""
        w, x, y, z = Rotation.from_matrix(self.rotation).as_quat(canonical=True, scalar_first=True).tolist()
        return w, x, y, z

    @property
    def yaw(self) -> float:
        """Heading of the child's x axis in the parent's xy plane, radians, left positive."""
        return float(np.arctan2(self.rotation[1, 0], self.rotation[0, 0]))

    def inverse(self) -> Transform:
        """Return the motion from parent to child."""
        return Transform(self.rotation.T, -self.rotation.T @ self.translation)

    def __matmul__(self, other: Transform) -> Transform:
        """Chain two motions: (a @ b).apply(p) == a.apply(b.apply(p))."""
        return Transform(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)

    def apply(self, points: Array) -> Array:
        """Move points of shape (N, 3) from the child frame to the parent frame."""
        return points @ self.rotation.T + self.translation


@dataclass(frozen=True, slots=True, eq=False)
class PinholeCamera:
    """One camera reading as the keyframe sees it: static things in the ego frame at time 0 to pixels.

    Attributes:
        intrinsics: 3x3, pixels.
        ego_to_camera: ego frame at time 0 to the camera frame at the camera's own firing time, through global.
        width: picture width, pixels.
        height: picture height, pixels.
    """

    intrinsics: Array
    ego_to_camera: Transform
    width: int
    height: int

    def __post_init__(self) -> None:
        """Refuse intrinsics that cannot project: wrong shape, not finite, singular, or not positive focal lengths."""
        matrix = self.intrinsics
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
            raise GeometryError(f"camera intrinsics must be 3x3 finite numbers, got {matrix.tolist()}")
        if abs(float(np.linalg.det(matrix))) < 1e-9:
            raise GeometryError(f"camera intrinsics are singular: {matrix.tolist()}")
        if matrix[0, 0] <= 0 or matrix[1, 1] <= 0:
            focal = f"{matrix[0, 0]:g} and {matrix[1, 1]:g}"
            raise GeometryError(f"focal lengths must be positive, got {focal} pixels: intrinsics {matrix.tolist()}")

    @property
    def position(self) -> Array:
        """Optical centre in the ego frame at time 0, shape (3,)."""
        return self.ego_to_camera.inverse().translation

    def project(self, points: Array) -> tuple[Array, Array]:
        """Project ego points (N, 3) to pixels (N, 2) and depths (N,) along the optical axis, metres.

        Pixels of points with depth below NEAREST_DEPTH_M are NaN.
        """
        seen = self.ego_to_camera.apply(points)
        depth = seen[:, 2]
        pixels = np.full((len(points), 2), np.nan)
        front = depth >= NEAREST_DEPTH_M
        image = seen[front] @ self.intrinsics.T
        pixels[front] = image[:, :2] / image[:, 2:3]
        return pixels, depth

    def rays(self, pixels: Array) -> Array:
        """Return unit viewing directions (N, 3) in the ego frame for pixels (N, 2)."""
        homogeneous = np.column_stack([pixels, np.ones(len(pixels))])
        directions = homogeneous @ np.linalg.inv(self.intrinsics).T @ self.ego_to_camera.rotation
        return directions / np.linalg.norm(directions, axis=1, keepdims=True)

    def contains(self, pixels: Array) -> npt.NDArray[np.bool_]:
        """Tell for pixels (N, 2) whether they lie in the picture; NaN does not."""
        column, row = pixels[:, 0], pixels[:, 1]
        return (column > -0.5) & (column < self.width - 0.5) & (row > -0.5) & (row < self.height - 0.5)


@dataclass(frozen=True, slots=True)
class GroundPlane:
    """The road surface around the ego vehicle: z = height_m + slope_x * x + slope_y * y in the ego frame.

    Attributes:
        height_m: height under the ego origin, metres.
        slope_x: rise along x, metres a metre.
        slope_y: rise along y, metres a metre.
        residual_m: robust scale of the fit (1.4826 * median absolute residual), metres; tolerances grow with it.
    """

    height_m: float = 0.0
    slope_x: float = 0.0
    slope_y: float = 0.0
    residual_m: float = 0.0

    def height_at(self, points: Array) -> Array:
        """Return ground heights (N,) under points (N, 2) or (N, 3)."""
        return self.height_m + points[:, 0] * self.slope_x + points[:, 1] * self.slope_y

    def lift(self, points: Array) -> Array:
        """Put plan points (N, 2) onto the ground: shape (N, 3)."""
        return np.column_stack([points[:, :2], self.height_at(points)])

    def intersect(self, origin: Array, directions: Array) -> Array:
        """Meet rays from `origin` (3,) along `directions` (N, 3) with the ground: (N, 3), NaN where they never do."""
        normal = np.array([-self.slope_x, -self.slope_y, 1.0])
        above = float(origin @ normal) - self.height_m
        sinking = -(directions @ normal)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(sinking > 1e-9, above / sinking, np.nan)
        return origin + directions * np.where(reach > 0, reach, np.nan)[:, None]


GROUND_RANGE_M: Final = 45.0
GROUND_PRIOR_SLOPE: Final = 0.02
GROUND_PRIOR_HEIGHT_M: Final = 0.05
GROUND_NOISE_M: Final = 0.15
"""Prior of the plane fit: roads are flat to 2 %, the ego stands on the ground, box bottoms are good to 0.15 m."""
GROUND_OUTLIER_M: Final = 0.1
"""Boxes farther off the plane than this pull no harder."""
GROUND_BEHIND_SHARE: Final = 1 / 3
"""Boxes behind the ego count a third of those ahead: edits stand ahead, and roads bend upwards and downwards."""


def fit_ground(bottoms: Array) -> GroundPlane:
    """Fit the local ground plane to the bottom centres (N, 3) of annotated boxes, robustly, pulled to z = 0.

    Ridge regression towards the plane through the ego's wheels with Huber weights (Huber 1964), 20 iterations; boxes
    ahead count most; points beyond 45 m are left out. Without points the prior plane z = 0 is returned.
    """
    near = bottoms[np.hypot(bottoms[:, 0], bottoms[:, 1]) <= GROUND_RANGE_M] if len(bottoms) else bottoms
    if not len(near):
        return GroundPlane()
    design = np.column_stack([np.ones(len(near)), near[:, 0], near[:, 1]])
    prior = np.diag(GROUND_NOISE_M**2 / np.array([GROUND_PRIOR_HEIGHT_M, GROUND_PRIOR_SLOPE, GROUND_PRIOR_SLOPE]) ** 2)
    share = np.where(near[:, 0] > 0, 1.0, GROUND_BEHIND_SHARE)
    share /= share.mean()  # so that the prior weighs the same wherever the boxes are
    solution = np.zeros(3)
    for _ in range(20):
        residual = np.abs(near[:, 2] - design @ solution)
        weight = share * np.minimum(1.0, GROUND_OUTLIER_M / np.maximum(residual, 1e-12))
        solution = np.linalg.solve(design.T @ (weight[:, None] * design) + prior, design.T @ (weight * near[:, 2]))
    scale = 1.4826 * _weighted_median(np.abs(near[:, 2] - design @ solution), share)
    return GroundPlane(float(solution[0]), float(solution[1]), float(solution[2]), scale)


def _weighted_median(values: Array, weights: Array) -> float:
    """Return the value that half of the weight lies at or below; between two values where it is exactly half."""
    order = np.argsort(values, kind="stable")
    filled = np.cumsum(weights[order]) / weights.sum()
    low, high = np.searchsorted(filled, [0.5 - 1e-9, 0.5 + 1e-9])
    return float(values[order][low] + values[order][min(high, len(values) - 1)]) / 2


def box_corners(centre: Sequence[float], size: Sequence[float], rotation: Array) -> Array:
    """Return the eight corners (8, 3) of a box: bottom four counter-clockwise from front left, then the top four.

    Args:
        centre: geometric centre, metres.
        size: (length, width, height) along the box's own x, y, z.
        rotation: 3x3, box frame to parent frame.
    """
    length, width, height = size
    x = np.array([1, -1, -1, 1, 1, -1, -1, 1]) * length / 2
    y = np.array([1, 1, -1, -1, 1, 1, -1, -1]) * width / 2
    z = np.array([-1, -1, -1, -1, 1, 1, 1, 1]) * height / 2
    return np.column_stack([x, y, z]) @ rotation.T + np.asarray(centre, dtype=np.float64)


def yaw_rotation(yaw: float) -> Array:
    """Return the 3x3 rotation about z by `yaw` radians, left positive."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rectangle(centre: Sequence[float], length: float, width: float, yaw: float) -> Array:
    """Return the four plan corners (4, 2), counter-clockwise from front left, of an oriented rectangle."""
    corners = box_corners((centre[0], centre[1], 0.0), (length, width, 0.0), yaw_rotation(yaw))
    return corners[:4, :2]


def ego_footprints(poses: Array, body: Body = ZOE) -> Array:
    """Return a body's plan corners (N, 4, 2) for poses (N, 3) of (x, y, heading) of the rear axle."""
    half = np.array([body.length_m, body.width_m]) / 2
    local = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half + (body.axle_to_centre_m, 0.0)
    cosine, sine = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    turn = np.stack([np.stack([cosine, -sine], axis=-1), np.stack([sine, cosine], axis=-1)], axis=-2)
    return np.einsum("nij,kj->nki", turn, local) + poses[:, None, :2]


def convex_quad(polygon: shapely.Polygon) -> Array:
    """Return the four counter-clockwise corners (4, 2) of the smallest rectangle around a polygon.

    The first corner is the one with the smallest (x, y), so the same shape always gives the same rows.

    Raises:
        GeometryError: the polygon has no area.
    """
    bounds: Any = shapely.minimum_rotated_rectangle(polygon)
    if bounds.geom_type != "Polygon" or bounds.area <= 0:
        raise GeometryError(f"a region needs an area, got {polygon.wkt[:200]}")
    corners = np.asarray(orient(bounds).exterior.coords)[:4]
    first = min(range(4), key=lambda index: (round(corners[index, 0], 6), round(corners[index, 1], 6)))
    return np.roll(corners, -first, axis=0)
