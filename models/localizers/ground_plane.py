"""Finds regions by back-projecting the hazard's pixels onto the keyframe's ground plane.

A standing hazard is the body that its task describes, at the place and in the size that explain best how far its masks
reach, over all views (`fitting.py`). Where its lowest pixels meet the ground is the first guess, and the main evidence
of its distance; the task's size range is the prior for what no view shows (a front view does not show depth). The
placement's heading is taken as given, its place and size are not. An open door hangs as high as doors of its car do. A
mounted signal is found with what carries it, by its foot or by the height that its task gives its top. A surface hazard
is seen whole: its pixels on the ground, from all views together, are its footprint. A conflict area follows from where
the hazard was found and from the map, by the same functions with which the screener expects it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import shapely

from data_registry import identity
from data_registry.cameras import pinhole
from data_registry.conflict_areas import NoConflictAreaError, conflict_area
from data_registry.courses import ego_course
from data_registry.geometry import GeometryError, convex_quad
from data_registry.records import (
    Attached,
    Keyframe,
    LocalizationEvidence,
    Mounted,
    Placement,
    Quad,
    Region,
    Screening,
    Standing,
)
from models.backend import IdentitySettings, LocalBackend
from models.localizers.bodies import Body, expected_bodies
from models.localizers.fitting import Tolerances
from models.localizers.limits import Found, Limits, check_fit, check_size
from models.localizers.localizer import LocalizeRequest, RegionNotFoundError
from models.localizers.seeker import Seeker
from models.localizers.surfaces import on_ground

METHOD: Final = "ground_plane"
RATIO_PLACES: Final = 6
UNEXPLAINED_PLACES: Final = 2
NOTHING_SEEN: Final = {
    "standing": "no view shows where the hazard touches the ground",
    "attached": "no view shows where the hazard touches the ground",
    "mounted": "no view shows the foot or the top of what is mounted",
}
INSIDE_M: Final = 1e-3
"""By how much more than it sticks out the disc is shrunk whose rectangle would leave the reach."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighted:
    """A hazard's footprint, the views that it was found from, in their order, and what the worst of these leaves open.

    `unexplained` is half the sum of squares, in standard deviations; None where nothing was fitted.
    """

    footprint: shapely.Polygon
    sensors: tuple[str, ...]
    unexplained: float | None


class GroundPlaneSettings(IdentitySettings, frozen=True):
    """What decides a region."""

    backend: Literal["ground_plane"] = METHOD
    revision: str = "4"
    reach_m: float = 60.0
    """Regions are cut off beyond this distance from the ego origin."""
    least_area_m2: float = 0.05
    """Regions below this area are none."""
    outline_sigma_px: float = 0.5
    """How well an edge of a mask is known, pixels."""
    outline_sigma_share: float = 0.005
    """How far a body may differ from its task's look, as a share of its extent in the picture."""
    growth_sigma_px: float = 0.7
    """How far masks are too large or too small all around, pixels."""
    size_sigma_m: float = 0.03
    """How far sizes may lie outside the task's range."""
    residual_share: float = 0.3
    """How far the ground may lie from its plane, as a share of the residual of the boxes that made the plane."""
    well_explained: float = 3.0
    """Half the sum of squares, in these sigmas, up to which nothing but the task's look is tried."""
    most_unexplained: float = 50.0
    """Half the sum of squares, in these sigmas, that a view may leave unexplained."""
    most_cost_cut: float = 10.0
    """The same of all views and of the size together, where the pictures' sides cut the hazard in every view."""
    most_apart_m: float = 5.0
    """How far from a hazard the crossing or piece of lane may begin that it rules."""
    least_overlap: float = 0.25
    """Least intersection over union of a view's mask and the silhouette of what was found."""
    size_factor: float = 2.0
    """How many times smaller or larger than the task's sizes a hazard may be."""


class GroundPlaneLocalizer(LocalBackend):
    """Back-projection onto the ground, with the task's size as prior."""

    def __init__(self, settings: GroundPlaneSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or GroundPlaneSettings()

    def localize(self, request: LocalizeRequest) -> Region:
        """Return the region; raises RegionNotFoundError, GeometryError."""
        sighted = self._footprint(request)
        taken = _taken(request, sighted.footprint, self.identity_settings.most_apart_m)
        quad, region = self._quad(taken)
        return Region(
            pair_id=request.screening.combination_id,
            edit_digest=request.candidate.edit_digest,
            quad=quad,
            kind=request.task.region.kind,
            clearance_m=request.task.required_clearance_m,
            evidence=_evidence(quad, region, sighted, request.screening),
        )

    def _footprint(self, request: LocalizeRequest) -> Sighted:
        """Return the hazard's footprint and what it was found from."""
        keyframe, screening = request.keyframe, request.screening
        placement = screening.placement
        if placement is None:
            raise RegionNotFoundError("no placement says what to look for")
        views = [(view, pinhole(keyframe, keyframe.view(view.sensor_id, view.frame_offset))) for view in request.views]
        if placement.kind == "surface":
            hull, sensors = on_ground(keyframe.ground, views)
            _check_surface(hull, request, self.identity_settings.size_factor)
            return Sighted(hull, sensors, None)
        best: tuple[Found, Body] | None = None
        for body in expected_bodies(request.task, screening.appearance, placement, keyframe):
            found = self._seeker(body, keyframe, placement).seek(views, self._tolerances)
            if found is not None and (best is None or found.solution.cost < best[0].solution.cost):
                best = found, body
            if best is not None and best[0].solution.cost <= self.identity_settings.well_explained:
                break
        if best is None:
            raise RegionNotFoundError(NOTHING_SEEN[placement.kind])
        found, body = best
        check_fit(found, body.extents, self._limits)
        return Sighted(found.solution.footprint, found.sensors, max(found.solution.unexplained))

    def _seeker(self, body: Body, keyframe: Keyframe, placement: Standing | Mounted | Attached) -> Seeker:
        own = placement.annotation if isinstance(placement, Attached) else None  # its box would hide its open door
        others = tuple(note for note in keyframe.annotations if note.token != own)
        is_mounted = isinstance(placement, Mounted)
        return Seeker(body, _heading(placement), keyframe.ground, others, is_mounted, self.identity_settings.reach_m)

    @property
    def _tolerances(self) -> Tolerances:
        settings = self.identity_settings
        return Tolerances(
            settings.outline_sigma_px,
            settings.outline_sigma_share,
            settings.growth_sigma_px,
            settings.size_sigma_m,
            settings.residual_share,
        )

    @property
    def _limits(self) -> Limits:
        settings = self.identity_settings
        return Limits(settings.most_unexplained, settings.most_cost_cut, settings.least_overlap, settings.size_factor)

    def _quad(self, region: Any) -> tuple[Quad, Any]:
        """Return the rectangle around what lies within reach of a region, and that part of it.

        The rectangle around a part that is cut off by the disc may leave it: then less of the region is taken.
        """
        settings = self.identity_settings
        radius = settings.reach_m
        while True:
            part = shapely.intersection(region, shapely.Point(0, 0).buffer(radius))
            if part.area < settings.least_area_m2:
                raise RegionNotFoundError(_too_small(region.area, part.area, settings))
            try:
                ring = convex_quad(part)
            except GeometryError as error:
                raise RegionNotFoundError(str(error)) from error
            excess = float(np.hypot(ring[:, 0], ring[:, 1]).max()) - settings.reach_m
            if excess <= 0:
                a, b, c, d = (
                    (identity.quantise(x, identity.METRE_STEP), identity.quantise(y, identity.METRE_STEP))
                    for x, y in ring.tolist()
                )
                return (a, b, c, d), part
            radius -= excess + INSIDE_M


def _too_small(whole_m2: float, part_m2: float, settings: GroundPlaneSettings) -> str:
    """Say why a region is too small to be one: most of it lies out of reach, or there is no more of it."""
    if whole_m2 < settings.least_area_m2:
        return f"the region that was found has {whole_m2:.3f} m2, {settings.least_area_m2} needed"
    return (
        f"{part_m2:.3f} of the region's {whole_m2:.3f} m2 lie within {settings.reach_m:g} m,"
        f" {settings.least_area_m2} needed"
    )


def _taken(request: LocalizeRequest, footprint: shapely.Polygon, most_apart_m: float) -> Any:
    """Return the ground that a hazard takes during the horizon: its footprint, what that sweeps, or what it rules.

    Raises:
        RegionNotFoundError: the task's conflict area does not follow from the map and where the hazard was found, or
            begins too far from it: a signal far from every stop line rules none.
    """
    task, placement = request.task, request.screening.placement
    heading = 0.0 if placement is None else _heading(placement)
    corners = np.asarray(footprint.exterior.coords)[:-1]
    if task.area_rule is not None:
        patch, course = request.keyframe.map, ego_course(request.keyframe)
        try:
            ruled = conflict_area(patch, course, task.area_rule, corners, heading)
        except NoConflictAreaError as error:
            raise RegionNotFoundError(str(error)) from error
        apart = float(footprint.distance(ruled))
        if task.area_rule.area != "overlap" and apart > most_apart_m:
            text = f"the hazard was found {apart:.1f} m from the ground that it would rule, {most_apart_m:g} m at most"
            raise RegionNotFoundError(text)
        return ruled
    if task.region.rule != "footprint_swept":
        return footprint
    way = np.array([np.cos(heading), np.sin(heading)]) * task.region.speed * task.region.seconds
    return shapely.convex_hull(shapely.MultiPoint(np.concatenate([corners, corners + way])))


def _heading(placement: Placement) -> float:
    """Return the placement's heading in plan, radians; 0 for a surface, which has none."""
    return 0.0 if placement.kind == "surface" else placement.box.pose().yaw


def _check_surface(hull: shapely.Polygon, request: LocalizeRequest, factor: float) -> None:
    """Refuse a surface whose length or width no hazard of the task has; raises RegionNotFoundError."""
    look = request.screening.appearance
    size = (request.task.appearance(look) if look else request.task.appearances[0]).size_m
    extents = np.array([[size.length.low, size.width.low], [size.length.high, size.width.high]])
    corners = convex_quad(hull)
    sides = np.sort(np.linalg.norm(np.diff(corners[:3], axis=0), axis=1))[::-1]
    check_size(sides, extents, factor)


def _evidence(quad: Quad, region: Any, sighted: Sighted, screening: Screening) -> LocalizationEvidence:
    found = shapely.Polygon(quad)
    offset = iou = None
    if screening.expected_region is not None:
        expected = shapely.Polygon(screening.expected_region)
        offset = float(shapely.distance(found.centroid, expected.centroid))
        shared = float(shapely.intersection(found, expected).area)
        iou = identity.quantise(shared / (found.area + expected.area - shared), RATIO_PLACES)
    return LocalizationEvidence(
        method=METHOD,
        sensor_ids=sighted.sensors,
        centre_offset_m=offset,
        expected_iou=iou,
        area_ratio=identity.quantise(found.area / region.area, RATIO_PLACES),
        unexplained=None if sighted.unexplained is None else identity.quantise(sighted.unexplained, UNEXPLAINED_PLACES),
    )
