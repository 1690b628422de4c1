"""Looks for one body in all views: a guess from where it touches the ground, or from its top, then the best fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.records import Annotation
from models.localizers.bodies import Body
from models.localizers.fitting import Problem, Tolerances
from models.localizers.limits import Found
from models.localizers.localizer import SeenHazard
from models.localizers.sights import Sight, sight, without_specks

LEAST_RISE_M: Final = 0.5
"""A top nearer than this to eye level does not tell how far away it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What a view shows of the hazard, and where (2,) that alone puts the hazard's middle; None when it cannot."""

    sensor_id: str
    sight: Sight
    place: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class Seeker:
    """A body, how it stands, on which ground, among which other objects, and how far away it may be.

    Attributes:
        body: what is looked for.
        heading: its heading in the ego frame, radians.
        ground: what it stands on, or hangs above.
        others: annotated objects that may hide it.
        is_mounted: whether it hangs above the ground; then its top tells how far away it is, better than its foot.
        reach_m: nothing is looked for beyond this distance.
    """

    body: Body
    heading: float
    ground: GroundPlane
    others: tuple[Annotation, ...]
    is_mounted: bool
    reach_m: float

    def seek(self, views: Sequence[tuple[SeenHazard, PinholeCamera]], tolerances: Tolerances) -> Found | None:
        """Return what explains best what all views show; None when none says where it is.

        What a view shows whose picture cuts the hazard at its side need not be the feet: of a deer it may be the head,
        which seems to touch far away. As long as another view shows where it stands, that only has to be covered.
        """
        looks = [look for view, camera in views if (look := self._look(view, camera)) is not None]
        whole = [look.place for look in looks if look.place is not None and not look.sight.is_cut]
        cut = [look.place for look in looks if look.place is not None and look.sight.is_cut]
        if not whole and not cut:
            return None
        partial = [bool(whole) and look.sight.is_cut for look in looks]
        sights = [look.sight for look in looks]
        problem = Problem(self.body, self.heading, self.ground, sights, partial, tolerances)
        return Found(problem.solve([*whole, *cut][0]), tuple(look.sensor_id for look in looks), not whole)

    def _look(self, view: SeenHazard, camera: PinholeCamera) -> Look | None:
        """Return what a view shows; None when it does not show the hazard."""
        mask = without_specks(view.object_mask)
        if not mask.any():
            return None
        seen = sight(camera, mask, self._nearer(camera, self._distance(sight(camera, mask, ()))))
        place = self._below_top(seen) if seen.upper_is_bare else None
        if place is None and seen.lower_is_bare:
            place = self._behind_contact(camera, self._contact(seen))
        return Look(view.sensor_id, seen, place)

    def _distance(self, seen: Sight) -> float:
        """Return how far away the hazard seems to be, the reach when that cannot be told."""
        places = [place for place in (self._below_top(seen), self._contact(seen)) if place is not None]
        return min((_distance(seen.camera, place) for place in places), default=self.reach_m)

    def _contact(self, seen: Sight) -> Array | None:
        """Return where (2,) the mask's lower end meets the plane that the body's lowest part lies in."""
        ground = self.ground
        level = GroundPlane(ground.height_m + self.body.lowest_m, ground.slope_x, ground.slope_y)
        ray = seen.camera.rays(seen.lowest[None] + (0.0, 0.5))
        place = level.intersect(seen.camera.position, ray)[0, :2]
        return place if _distance(seen.camera, place) <= self.reach_m else None  # nor if it never meets: NaN

    def _behind_contact(self, camera: PinholeCamera, place: Array | None) -> Array | None:
        """Return the middle (2,) of the body that begins at a place."""
        if place is None:
            return None
        way = (place - camera.position[:2]) / _distance(camera, place)
        return place + way * self.body.depth_along(way, self.heading)

    def _below_top(self, seen: Sight) -> Array | None:
        """Return the plan point (2,) below the top of what is mounted; None near eye level, or if it is not mounted."""
        camera = seen.camera
        if not self.is_mounted or seen.highest[1] <= 0:
            return None
        ray = camera.rays(seen.highest[None] - (0.0, 0.5))[0]
        rise = self.body.highest_m + self.ground.height_m - float(camera.position[2])
        if abs(rise) < LEAST_RISE_M or ray[2] * rise <= 0:
            return None
        place = camera.position[:2] + ray[:2] * (rise / float(ray[2]))
        return place if _distance(camera, place) <= self.reach_m else None

    def _nearer(self, camera: PinholeCamera, limit_m: float) -> list[Annotation]:
        """Return the objects that begin nearer than a distance on the ground."""
        eye = shapely.Point(camera.position[:2])
        return [note for note in self.others if eye.distance(_plan(note)) < limit_m]


def _plan(note: Annotation) -> Any:
    """Return an object's plan outline, also when its box lies on its side."""
    return shapely.convex_hull(shapely.multipoints(note.box.corners()[:, :2]))


def _distance(camera: PinholeCamera, place: Array) -> float:
    """Return how far a plan point (2,) is from a camera, metres."""
    return float(np.linalg.norm(place - camera.position[:2]))
