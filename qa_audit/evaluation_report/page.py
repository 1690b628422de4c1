"""What a report shows, as its maker hands it over."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import polars as pl
from PIL import Image

from data_registry.evaluation import PairRegion, Predicted
from data_registry.geometry import ZOE, Body, GroundPlane, PinholeCamera
from data_registry.paths import HORIZON_S
from data_registry.pictures import Rgb

PICTURE_WIDTH: Final = 800
PICTURE_QUALITY: Final = 80
"""Pictures of a report are for looking at, not for measuring: 800 pixels wide they weigh some 60 KB each."""
UNNAMED: Final = "default"
"""Name of an evaluation that nobody named."""


@dataclass(frozen=True, slots=True)
class ShownPlanner:
    """A planner as the report names it."""

    name: str
    knows_region: bool = False
    """Whether it is an oracle that reads the region: it is marked, and has no place in the ranking."""
    note: str = ""
    """What it is, in a few words; may be empty."""


@dataclass(frozen=True, slots=True, eq=False)
class PairPicture:
    """One camera's view of a pair, before and after the edit."""

    sensor_id: str
    source: bytes
    """JPEG; any size of the camera's proportions."""
    edited: bytes
    camera: PinholeCamera
    """In the pixels of the original picture, whatever the size of the JPEGs."""
    ground: GroundPlane


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationPage:
    """Everything that a report shows. All texts may be hostile: they are escaped where they are written."""

    title: str
    release_name: str
    release_version: str
    release_digest: str
    """Digest of the release, or of its component that was evaluated."""
    planners: Sequence[ShownPlanner]
    """In the order of the leaderboard; oracles may stand anywhere, they are shown below without a rank."""
    summary: pl.DataFrame
    """Schema SUMMARY."""
    coverage: pl.DataFrame
    """Schema COVERAGE."""
    differences: pl.DataFrame
    """Schema DIFFERENCES."""
    sensitivity: pl.DataFrame
    """Schema SENSITIVITY."""
    scores: Mapping[str, pl.DataFrame]
    """Schema SCORES, by planner."""
    pairs: Sequence[PairRegion]
    predictions: Mapping[str, Sequence[Predicted]]
    """By planner, in any order; a pair and variant without one is shown as missing."""
    pictures: Mapping[str, Sequence[PairPicture]] = field(default_factory=lambda: {})
    """By pair id, for a selection of pairs (`choose_pairs`)."""
    conflict: Sequence[str] = ("recorded", "lane_keep")
    """Planners whose UR is the conflict rate: how often a hazard lies on a way that nobody changed. Those that are not
    in the evaluation are left out."""
    settings: Mapping[str, str] = field(default_factory=lambda: {})
    """What else the scores were made with and are bound to, besides body, horizon and clearance: name and value, in the
    order shown."""
    body: Body = ZOE
    horizon_s: float = HORIZON_S
    ranked_by: Literal["strict", "plain"] = "strict"
    """Which means the order follows: they are the ones that leaderboard, heat map and tables show large."""
    clearance_factor: float = 1.0
    """By which the evaluation multiplied the clearance that each task requires."""
    name: str = ""
    """The evaluation's name, which tells several of one release apart; empty or UNNAMED is not shown."""

    @property
    def heading(self) -> str:
        """The title, led by the evaluation's name: a browser's tab and a narrow header show how it begins."""
        return self.title if self.name in ("", UNNAMED) else f"{self.name} · {self.title}"

    @property
    def ranked(self) -> list[ShownPlanner]:
        """The planners that compete, in order."""
        return [planner for planner in self.planners if not planner.knows_region]

    @property
    def oracles(self) -> list[ShownPlanner]:
        """Those that know the region."""
        return [planner for planner in self.planners if planner.knows_region]


def report_jpeg(picture: Rgb) -> bytes:
    """Return a decoded picture (height, width, 3) as a report's JPEG, at most 800 pixels wide."""
    image = Image.fromarray(picture)
    image.thumbnail((PICTURE_WIDTH, 10 * PICTURE_WIDTH), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    image.save(content, "JPEG", quality=PICTURE_QUALITY, optimize=True)
    return content.getvalue()
