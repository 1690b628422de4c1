"""Finds regions by back-projecting the hazard's pixels onto the keyframe's ground plane.

A standing hazard is seen as two edges and a contact: the bearings of its outermost columns, and the distance at which
its lowest pixels meet the ground. The rectangle that explains these best, over all views, is its footprint. The task's
size range is the prior for what no view shows (a front view does not show depth), the placement's heading is taken as
given. Edges and contacts that the picture's border or a nearer annotated object hides are left out. A surface hazard is
seen whole: its pixels on the ground, from all views together, are its footprint. An open door hangs at the height at
which it was placed: its lower edge is its contact there. A mounted signal is found by the height of its top, near eye
level by the foot of what carries it. A conflict area follows from where the hazard was found and from the map, by the
same functions with which the screener expects it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import shapely
from scipy import optimize

from data_registry import identity, silhouettes
from data_registry.cameras import pinhole
from data_registry.conflict_areas import NoConflictAreaError, area_quad, conflict_area
from data_registry.courses import ego_course
from data_registry.geometry import Array, GeometryError, GroundPlane, PinholeCamera, convex_quad, rectangle
from data_registry.projection import outline
from data_registry.records import (
    Attached,
    Keyframe,
    LocalizationEvidence,
    Mounted,
    Quad,
    Region,
    Screening,
    Standing,
)
from data_registry.silhouettes import Pixels
from models.backend import IdentitySettings, LocalBackend
from models.localizers.bearings import Sight, across, contact_miss, first_guess, touching_share
from models.localizers.localizer import LocalizeRequest, RegionNotFoundError, SeenHazard
from prompts.taxonomy import Appearance, TaskSpec

METHOD: Final = "ground_plane"
RATIO_PLACES: Final = 6
_SHIFT: Final = 100.0
"""The solver's steps are relative to its unknowns, so these are kept away from 0: steps of 1 mm."""
SLENDER_M: Final = 2.0
"""Bodies shorter than this stand on feet or wheels below their middle: people, animals, cycles."""
LEAST_RISE_M: Final = 0.5
"""A top nearer than this to eye level does not tell how far away it is."""
_BESIDE_PX: Final = 2
"""Columns beside an edge where a nearer object would hide the rest of the hazard."""


class GroundPlaneSettings(IdentitySettings, frozen=True):
    """What decides a region."""

    backend: Literal["ground_plane"] = METHOD
    revision: str = "2"
    reach_m: float = 60.0
    """Regions are cut off beyond this distance from the ego origin."""
    least_area_m2: float = 0.05
    """Regions below this area are none."""
    contact_share: float = 0.1
    """Share of a mask's columns, the nearest ones, that are taken to touch the ground."""
    edge_sigma_m: float = 0.05
    """How well an outermost column fixes a side of the hazard, at its distance."""
    contact_sigma_m: float = 0.1
    """How well the contact columns fix the hazard's near side."""
    overhang_share: float = 0.25
    """The contact may lie up to this share of the length behind the near side, at little cost."""
    overhang_cost: float = 0.4
    """What the whole overhang costs, in sigmas: little, so that what the edges say counts more."""
    inset_share: float = 0.5
    """How far behind the near side a slender body's feet are, as a share of its smaller extent, if they are points."""
    size_sigma_m: float = 0.15
    """How far a seen size may differ from the middle of the task's range, besides half of that range."""


class GroundPlaneLocalizer(LocalBackend):
    """Back-projection onto the ground, with the task's size as prior."""

    def __init__(self, settings: GroundPlaneSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or GroundPlaneSettings()

    def localize(self, request: LocalizeRequest) -> Region:
        """Return the region; raises RegionNotFoundError."""
        footprint, sensors = self._footprint(request)
        region = _taken(request, footprint)
        region = shapely.intersection(region, shapely.Point(0, 0).buffer(self.identity_settings.reach_m))
        quad = self._quad(region)
        return Region(
            pair_id=request.screening.combination_id,
            edit_digest=request.candidate.edit_digest,
            quad=quad,
            kind=request.task.region.kind,
            clearance_m=request.task.required_clearance_m,
            evidence=_evidence(quad, region, sensors, request.screening),
        )

    def _footprint(self, request: LocalizeRequest) -> tuple[shapely.Polygon, tuple[str, ...]]:
        """Return the hazard's footprint and the views that it was found from, in their order."""
        placement = request.screening.placement
        if placement is None:
            raise RegionNotFoundError("no placement says what to look for")
        views = [(view, pinhole(request.keyframe, request.keyframe.view(view.sensor_id))) for view in request.views]
        if placement.kind == "surface":
            return _on_ground(request.keyframe, views)
        if isinstance(placement, Mounted):
            return self._carried(request.keyframe, placement, views)
        level = (_others(request.keyframe, placement), _level(request.keyframe, placement))
        seen = [(view.sensor_id, self._sight(level, view, camera)) for view, camera in views]
        sights = _without_cut_contacts({name: sight for name, sight in seen if sight is not None}, views)
        if not any(len(sight.contact) for sight in sights.values()):
            raise RegionNotFoundError("no view shows where the hazard touches the ground")
        fitted = self._fit(tuple(sights.values()), _prior(request.task, request.screening), _heading(request.screening))
        return fitted, tuple(sights)

    def _carried(
        self, keyframe: Keyframe, placement: Mounted, views: Sequence[tuple[SeenHazard, PinholeCamera]]
    ) -> tuple[shapely.Polygon, tuple[str, ...]]:
        """Return the footprint of a mounted hazard's box where its top, else its foot, was found, over all views."""
        places: list[Array] = []
        sensors: list[str] = []
        for view, camera in views:
            mask = silhouettes.main_parts(view.object_mask)
            if not mask.any():
                continue
            found = _below_top(placement, camera, mask)
            direction, reach = self._contact((keyframe, keyframe.ground), camera, mask)
            if found is None and len(reach):
                found = camera.position[:2] + (direction * reach[:, None]).mean(axis=0)
            if found is not None:
                places.append(found)
                sensors.append(view.sensor_id)
        if not places:
            raise RegionNotFoundError("no view shows the foot or the top of what is mounted")
        length, width, _ = placement.box.size
        middle = np.mean(places, axis=0)
        return shapely.Polygon(
            rectangle((float(middle[0]), float(middle[1])), length, width, placement.box.pose().yaw)
        ), tuple(sensors)

    def _sight(self, ground: tuple[Keyframe, GroundPlane], view: SeenHazard, camera: PinholeCamera) -> Sight | None:
        """Return what a view says, None when it does not show the hazard; `ground` is what the hazard touches."""
        keyframe = ground[0]
        mask = silhouettes.main_parts(view.object_mask)
        if not mask.any():
            return None
        direction, reach = self._contact(ground, camera, mask)
        hidden = _before(keyframe, camera, float(reach.min()) if len(reach) else self.identity_settings.reach_m)
        left, right = (_edge(camera, mask, hidden, side) for side in (-1, 1))
        return Sight(camera.position[:2], left, right, direction, reach, touching_share(mask))

    def _contact(self, level: tuple[Keyframe, GroundPlane], camera: PinholeCamera, mask: Pixels) -> tuple[Array, Array]:
        """Return directions (N, 2) and distances (N,) of the columns that touch the ground: the nearest ones."""
        keyframe, plane = level
        columns = np.flatnonzero(mask.any(axis=0))
        rows = mask.shape[0] - 1 - np.argmax(mask[::-1, columns], axis=0)
        uncut = rows < mask.shape[0] - 1
        pixels = np.column_stack([columns[uncut], rows[uncut] + 0.5]).astype(np.float64)
        ground = plane.intersect(camera.position, camera.rays(pixels))[:, :2] - camera.position[:2]
        reach = np.linalg.norm(ground, axis=1)
        known = np.isfinite(reach) & (reach > 0) & (reach <= self.identity_settings.reach_m)
        ground, reach = ground[known], reach[known]
        bare = ~_behind_objects(keyframe, camera, ground, reach)
        ground, reach = ground[bare], reach[bare]
        nearest = np.argsort(reach, kind="stable")[: int(np.ceil(self.identity_settings.contact_share * len(columns)))]
        return ground[nearest] / reach[nearest, None], reach[nearest]

    def _fit(self, sights: Sequence[Sight], prior: Appearance, heading: float) -> shapely.Polygon:
        """Return the rectangle of a heading that explains the sights best."""
        settings = self.identity_settings
        size = np.array([_middle(prior.size_m.length), _middle(prior.size_m.width)])
        spread = np.array([_half(prior.size_m.length), _half(prior.size_m.width)]) + settings.size_sigma_m

        start = np.concatenate([first_guess(sights, size), size])
        overhang = settings.overhang_share * float(size[0])
        slender = float(size.max()) < SLENDER_M
        inset = settings.inset_share * float(size.min()) if slender else 0.0

        def residuals(shifted: Array) -> Array:
            shape = start + shifted - _SHIFT
            box = rectangle((shape[0], shape[1]), abs(shape[2]), abs(shape[3]), heading)
            parts = [(np.abs(shape[2:]) - size) / spread]
            for sight in sights:
                parts.append(across(sight.left, sight.eye, box).max(axis=1) / settings.edge_sigma_m)
                parts.append(across(sight.right, sight.eye, box).min(axis=1) / settings.edge_sigma_m)
                miss = contact_miss(sight, box, slender) - inset * (1.0 - sight.touching)
                parts.append(self._contact_cost(miss, overhang))
            return np.concatenate(parts)

        found: Any = optimize.least_squares(residuals, np.full(4, _SHIFT), diff_step=1e-5)
        x, y, length, width = (start + found.x - _SHIFT).tolist()
        return shapely.Polygon(rectangle((x, y), max(abs(length), 0.05), max(abs(width), 0.05), heading))

    def _contact_cost(self, miss: Array, overhang: float) -> Array:
        """Weigh how far contacts lie behind the near side: cheap up to an overhang (wheels), dear beyond."""
        within = np.clip(miss, 0.0, overhang)
        return (
            self.identity_settings.overhang_cost * within / overhang
            + (miss - within) / self.identity_settings.contact_sigma_m
        )

    def _quad(self, region: Any) -> Quad:
        if region.area < self.identity_settings.least_area_m2:
            raise RegionNotFoundError(
                f"{region.area:.3f} m2 of the region lie within {self.identity_settings.reach_m} m,"
                f" {self.identity_settings.least_area_m2} needed"
            )
        try:
            a, b, c, d = (
                (identity.quantise(x, identity.METRE_STEP), identity.quantise(y, identity.METRE_STEP))
                for x, y in convex_quad(region).tolist()
            )
        except GeometryError as error:
            raise RegionNotFoundError(str(error)) from error
        return a, b, c, d


def _without_cut_contacts(
    sights: Mapping[str, Sight], views: Sequence[tuple[SeenHazard, PinholeCamera]]
) -> dict[str, Sight]:
    """Take the contacts from views whose picture cuts the hazard at its side, as long as another view has some.

    What such a view shows need not be the feet: of a deer it may be the head, which seems to touch far away.
    """
    cut = {view.sensor_id for view, _ in views if view.object_mask[:, [0, -1]].any()}
    if not any(len(sight.contact) for name, sight in sights.items() if name not in cut):
        return dict(sights)
    return {
        name: replace(sight, contact=np.zeros((0, 2)), reach=np.zeros(0)) if name in cut else sight
        for name, sight in sights.items()
    }


def _taken(request: LocalizeRequest, footprint: shapely.Polygon) -> Any:
    """Return the ground that a hazard takes during the horizon: its footprint, what that sweeps, or what it rules.

    Raises:
        RegionNotFoundError: the task's conflict area does not follow from the map and where the hazard was found.
    """
    task, heading = request.task, _heading(request.screening)
    corners = np.asarray(footprint.exterior.coords)[:-1]
    rule = task.area_rule
    if rule is not None:
        patch, course = request.keyframe.map, ego_course(request.keyframe)
        try:
            return shapely.Polygon(area_quad(conflict_area(patch, course, rule, corners, heading)))
        except NoConflictAreaError as error:
            raise RegionNotFoundError(str(error)) from error
    if task.region.rule != "footprint_swept":
        return footprint
    way = np.array([np.cos(heading), np.sin(heading)]) * task.region.speed * task.region.seconds
    return shapely.convex_hull(shapely.MultiPoint(np.concatenate([corners, corners + way])))


def _level(keyframe: Keyframe, placement: Standing | Attached) -> GroundPlane:
    """Return the plane that a hazard's lower edge lies in: the ground, or as far above it as a door hangs."""
    ground = keyframe.ground
    if isinstance(placement, Standing):
        return ground
    lowest = placement.box.corners()[:4]
    lift = float((lowest[:, 2] - ground.height_at(lowest)).mean())
    return GroundPlane(ground.height_m + lift, ground.slope_x, ground.slope_y, ground.residual_m)


def _others(keyframe: Keyframe, placement: Standing | Attached) -> Keyframe:
    """Return the keyframe without the car that an open door hangs on: its box would hide the door."""
    if isinstance(placement, Standing):
        return keyframe
    others = tuple(note for note in keyframe.annotations if note.token != placement.annotation)
    return keyframe.model_copy(update={"annotations": others})


def _below_top(placement: Mounted, camera: PinholeCamera, mask: Pixels) -> Array | None:
    """Return the plan point (2,) below a mask's top, taken to be as high as the placement's; None near eye level."""
    row = int(np.flatnonzero(mask.any(axis=1))[0])
    if row == 0:
        return None
    column = float(np.flatnonzero(mask[row]).mean())
    rise = float(placement.box.corners()[:, 2].max()) - float(camera.position[2])
    ray = camera.rays(np.array([[column, row - 0.5]]))[0]
    if abs(rise) < LEAST_RISE_M or ray[2] * rise <= 0:
        return None
    return camera.position[:2] + ray[:2] * (rise / float(ray[2]))


def _heading(screening: Screening) -> float:
    """Return the placement's heading in plan, radians; 0 for a surface, which has none."""
    placement = screening.placement
    return 0.0 if placement is None or placement.kind == "surface" else placement.box.pose().yaw


def _prior(task: TaskSpec, screening: Screening) -> Appearance:
    return task.appearance(screening.appearance) if screening.appearance else task.appearances[0]


def _edge(camera: PinholeCamera, mask: Pixels, hidden: Pixels, side: int) -> Array:
    """Return the plan direction (1, 2) of a mask's outermost column on a side (-1 left, 1 right).

    The result is empty (0, 2) when the picture ends there or a nearer object hides what comes next.
    """
    columns = np.flatnonzero(mask.any(axis=0))
    column = int(columns[0] if side < 0 else columns[-1])
    beside = column + side * _BESIDE_PX
    rows = np.flatnonzero(mask[:, column])
    if not 0 <= beside < mask.shape[1] or hidden[rows, beside].any():
        return np.zeros((0, 2))
    ray = camera.rays(np.array([[column + side / 2, float(rows[-1])]]))[:, :2]
    return ray / np.linalg.norm(ray)


def _before(keyframe: Keyframe, camera: PinholeCamera, limit_m: float) -> Pixels:
    """Return the pixels of annotated objects that begin nearer than a distance on the ground."""
    eye = shapely.Point(camera.position[:2])
    near = [note for note in keyframe.annotations if eye.distance(shapely.Polygon(note.box.footprint())) < limit_m]
    return silhouettes.fill(camera, [outline(note.box.corners(), camera) for note in near])


def _behind_objects(keyframe: Keyframe, camera: PinholeCamera, ground: Array, reach: Array) -> Any:
    """Tell for ground points (N, 2), relative to the camera, whether an annotated object stands before them."""
    eye = camera.position[:2]
    lines = (
        shapely.linestrings(np.stack([np.broadcast_to(eye, ground.shape), eye + ground], axis=1)) if len(ground) else []
    )
    hidden = np.zeros(len(reach), dtype=np.bool_)
    for note in keyframe.annotations:
        hidden |= np.asarray(shapely.intersects(lines, shapely.Polygon(note.box.footprint())), dtype=np.bool_)
    return hidden


def _on_ground(
    keyframe: Keyframe, views: Sequence[tuple[SeenHazard, PinholeCamera]]
) -> tuple[shapely.Polygon, tuple[str, ...]]:
    """Return the convex hull of a mask's pixels on the ground, over all views, and the views that show any."""
    points: list[Array] = []
    sensors: list[str] = []
    for view, camera in views:
        ends = silhouettes.column_ends(silhouettes.main_parts(view.object_mask))
        corners = np.concatenate([ends + np.array([dx, dy]) for dx in (-0.5, 0.5) for dy in (-0.5, 0.5)])
        ground = keyframe.ground.intersect(camera.position, camera.rays(corners))[:, :2]
        ground = ground[np.isfinite(ground).all(axis=1)]
        if len(ground):
            points.append(ground)
            sensors.append(view.sensor_id)
    hull: Any = shapely.convex_hull(shapely.multipoints(np.concatenate(points))) if points else shapely.Polygon()
    if not isinstance(hull, shapely.Polygon) or hull.is_empty:
        raise RegionNotFoundError("no view shows the hazard on the ground")
    return hull, tuple(sensors)


def _evidence(quad: Quad, region: Any, sensors: tuple[str, ...], screening: Screening) -> LocalizationEvidence:
    found = shapely.Polygon(quad)
    offset = iou = None
    if screening.expected_region is not None:
        expected = shapely.Polygon(screening.expected_region)
        offset = float(shapely.distance(found.centroid, expected.centroid))
        shared = float(shapely.intersection(found, expected).area)
        iou = identity.quantise(shared / (found.area + expected.area - shared), RATIO_PLACES)
    return LocalizationEvidence(
        method=METHOD,
        sensor_ids=sensors,
        centre_offset_m=offset,
        expected_iou=iou,
        area_ratio=identity.quantise(found.area / region.area, RATIO_PLACES),
    )


def _middle(extent: Any) -> float:
    return float(extent.low + extent.high) / 2


def _half(extent: Any) -> float:
    return float(extent.high - extent.low) / 2
