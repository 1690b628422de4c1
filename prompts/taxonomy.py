"""The taxonomy: one YAML file a task, read strictly and checked as a whole.

A task file says everything about a hazard that is not code: when it suits a keyframe, where it goes, what it looks
like, which ground it takes, what a planner should do. The model below is the file's schema and its documentation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from data_registry import identity
from data_registry.conflict_areas import AreaRule
from data_registry.scene3d.shapes import MOUNTED, SHAPES, SURFACES
from prompts.facts import FACTS
from prompts.task_file import parse_yaml, read_bounded

SHIPPED: Final = Path(__file__).parent / "taxonomy"
LARGEST_FILE: Final = 100_000
"""Bytes of a task file; the shipped ones have two thousand."""

Family = Literal[
    "sudden_emergence",
    "lane_blockage",
    "bypass_and_gap_conflict",
    "signal_and_rule_conflict",
    "intersection_conflict",
    "road_surface_hazard",
]
Strategy = Literal["keep_path", "slow_down", "stop", "yield", "prepare_to_bypass"]
CAUTION: Final[tuple[Strategy, ...]] = ("keep_path", "slow_down", "prepare_to_bypass", "yield", "stop")
"""Strategies from least to most cautious."""


class TaskFileError(ValueError):
    """Task files are wrong; the message lists every problem with its file and field."""


class UnknownTaskError(LookupError):
    """A task was asked for that the taxonomy does not have."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))


class Range(_Strict):
    """A closed interval."""

    low: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


def _within(low: float, high: float, unit: str) -> AfterValidator:
    """Let a number pass from low to high only: beyond, geometry overflows or nothing can fit."""

    def check(value: float) -> float:
        if not low <= value <= high:
            raise ValueError(f"must lie in {low:g} to {high:g} {unit}, got {value:g}")
        return value

    return AfterValidator(check)


def _spanning(low: float, high: float, unit: str) -> AfterValidator:
    """Let a range pass from low to high only."""

    def check(value: Range) -> Range:
        if value.low < low or value.high > high:
            raise ValueError(f"must lie in {low:g} to {high:g} {unit}, got {value.low:g} to {value.high:g}")
        return value

    return AfterValidator(check)


Extent = Annotated[Range, _spanning(0.05, 30, "m")]


class SizeRange(_Strict):
    """Extent of the hazard along its own axes, metres."""

    length: Extent
    width: Extent
    height: Extent


class Appearance(_Strict):
    """One look of the hazard."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    shape: str
    """Shape in scene3d that the compositor draws."""
    size_m: SizeRange
    words: str
    """How a prompt names it, e.g. `a white box truck`."""


class PlacementRule(_Strict):
    """Where the hazard goes."""

    kind: Literal["standing", "surface", "mounted", "attached"]
    lane: Literal["ego", "left", "right", "kerb"]
    """Lane of the target, relative to the ego lane and its driving direction; kerb: beside the road, at its right."""
    across: Literal["centre", "left_part", "right_part", "left_edge", "right_edge", "either_edge"] = "centre"
    """Where across that lane: its middle, touching an edge from within (part), or at an edge, about to come in."""
    anchor: Literal["range", "junction", "crossing", "stop_line"] = "range"
    """What the place along the lane is tied to: nothing but `gap_m`, or such a thing ahead with its region in `gap_m`:
    the middle of a junction or crossing, or where vehicles hold next (stop line, else before crossing or junction)."""
    gap_m: Annotated[Range, _spanning(0, 60, "m")]
    """Gap from the front bumper along the lane to the nearest point of the region, metres; regions end at 60 m."""
    heading_deg: Annotated[float, _within(-180, 180, "degrees")] = 0.0
    """Heading of the hazard relative to the lane, degrees, left positive; mirrored for a hazard from the left edge."""
    behind_occluder: bool = False
    """Whether the hazard must come out from behind an annotated object."""
    mount_height_m: Annotated[Range, _spanning(0.5, 8, "m")] | None = None
    """For mounted hazards, and only for them: height of the box's underside above the ground."""
    part: Literal["door"] | None = None
    """For attached hazards, and only for them: which part of a parked vehicle changes."""

    @model_validator(mode="after")
    def _of_its_kind(self) -> PlacementRule:
        for kind, name, value in (("mounted", "mount_height_m", self.mount_height_m), ("attached", "part", self.part)):
            if (self.kind == kind) != (value is not None):
                raise ValueError(f"{name} is for {kind} hazards, which need it, and for no others")
        if self.behind_occluder and self.kind != "standing":
            raise ValueError("behind_occluder is for standing hazards")
        if self.behind_occluder and self.anchor != "range":
            raise ValueError("behind_occluder ties the place to an object, anchor to another: choose one")
        if self.kind == "attached" and (self.anchor, self.across, self.heading_deg) != ("range", "centre", 0.0):
            raise ValueError("an attached hazard is where its vehicle is: it takes no anchor, across or heading_deg")
        if self.across != "centre" and (self.lane == "kerb" or self.kind == "mounted"):
            raise ValueError("at the kerb, and for mounted hazards, there is no across")
        return self


class RegionRule(_Strict):
    """Which ground the hazard takes during the horizon."""

    kind: Literal["occupied", "non_drivable", "conflict", "no_go"]
    rule: Literal["footprint", "footprint_swept", "conflict"]
    area: Literal["lane_beyond", "crossing", "overlap"] | None = None
    """For conflict: the ego lane from the anchor (or the hazard) on, the crossing's part within the ego lane, or what
    the hazard sweeps of the ego lane."""
    depth_m: Annotated[float, _within(0, 30, "m")] = 0.0
    """For lane_beyond: how far the area reaches along the lane."""
    speed: Annotated[float, _within(0, 60, "m/s")] = 0.0
    """For footprint_swept and overlap: speed along the hazard's heading, m/s."""
    seconds: Annotated[float, Field(ge=0, le=3)] = 0.0
    """For footprint_swept and overlap: how long it moves."""

    @model_validator(mode="after")
    def _consistent(self) -> RegionRule:
        sweeps = self.rule == "footprint_swept" or self.area == "overlap"
        if sweeps != (self.speed > 0 and self.seconds > 0):
            raise ValueError("footprint_swept and overlap need speed and seconds above 0, the other rules take none")
        if (self.rule == "conflict") != (self.area is not None):
            raise ValueError("conflict needs an area, the other rules take none")
        if (self.area == "lane_beyond") != (self.depth_m > 0):
            raise ValueError("lane_beyond needs depth_m above 0, the other areas take none")
        return self


class Predicate(_Strict):
    """A machine-checkable condition of suitability."""

    fact: str
    at_least: float | None = None
    at_most: float | None = None
    equals: bool | None = None
    reason_code: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    """Code under which a combination that fails it is rejected."""

    @model_validator(mode="after")
    def _known(self) -> Predicate:
        if self.fact not in FACTS:
            raise ValueError(f"unknown fact {self.fact!r}; known: {', '.join(sorted(FACTS))}")
        bounded = self.at_least is not None or self.at_most is not None
        if FACTS[self.fact].startswith("whether"):
            if self.equals is None or bounded:
                raise ValueError(f"{self.fact} is true or false: it needs equals and nothing else")
        elif not bounded or self.equals is not None:
            raise ValueError(f"{self.fact} is a number: it needs at_least or at_most, and no equals")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least} is above at_most {self.at_most}: nothing can fit")
        return self


class Words(_Strict):
    """The task's words for prompts."""

    hazard: str
    """What the hazard is, for positive prompts."""
    avoid: str
    """What an edit must not show, for negative prompts."""
    question: str
    """What a reviewer is asked about the planning conflict."""


class TaskSpec(_Strict):
    """One task of the taxonomy, as its YAML file says it."""

    schema_version: Literal[1]
    id: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    version: Annotated[int, Field(ge=1, lt=2**53)]
    """Raised by hand when the task changes in meaning; part of every identity."""
    family: Family
    title: str
    risk: str
    """What can go wrong, and for whom."""
    suitable_when: Annotated[tuple[str, ...], Field(min_length=1)]
    """Conditions in words, for VLM screeners and readers."""
    reject_when: Annotated[tuple[str, ...], Field(min_length=1)]
    predicates: tuple[Predicate, ...]
    """The same conditions as far as they can be measured."""
    appearances: Annotated[tuple[Appearance, ...], Field(min_length=1)]
    placement: PlacementRule
    region: RegionRule
    required_clearance_m: Annotated[float, Field(gt=0), _within(0.05, 10, "m")]
    acceptable_strategies: Annotated[tuple[Strategy, ...], Field(min_length=1)]
    least_cautious_acceptable: Strategy
    words: Words

    @model_validator(mode="after")
    def _consistent(self) -> TaskSpec:
        least = min(self.acceptable_strategies, key=CAUTION.index)
        if self.least_cautious_acceptable != least:
            raise ValueError(f"least_cautious_acceptable must be {least}, the least cautious of acceptable_strategies")
        self._check_region()
        drawable = {"surface": SURFACES, "mounted": MOUNTED}.get(self.placement.kind, SHAPES)
        odd = sorted({appearance.shape for appearance in self.appearances} - set(drawable))
        if odd:
            known = ", ".join(sorted(drawable))
            raise ValueError(f"unknown shape {', '.join(odd)} for a {self.placement.kind} hazard; known: {known}")
        names = [appearance.name for appearance in self.appearances]
        if len(set(names)) != len(names):
            raise ValueError(f"appearances share a name: {names}")
        return self

    def _check_region(self) -> None:
        kind, rule, area = self.placement.kind, self.region.rule, self.region.area
        if kind in ("surface", "attached") and rule != "footprint":
            raise ValueError(f"a {kind} hazard takes its footprint: its region needs rule footprint, not {rule}")
        if kind == "mounted" and area != "lane_beyond":
            raise ValueError("a mounted hazard stands on no ground: its region needs rule conflict, area lane_beyond")
        if area == "crossing" and self.placement.anchor != "crossing":
            raise ValueError("area crossing needs anchor crossing: it is the crossing that the hazard is on")

    @cached_property
    def payload_digest(self) -> identity.Digest:
        """Sha256 of the whole task file's meaning."""
        return identity.digest(self.model_dump(mode="json"))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with changed fields, validated, with a digest of its own; pydantic's would keep the old one."""
        return type(self).model_validate(
            {name: getattr(self, name) for name in type(self).model_fields} | dict(update or {})
        )

    @property
    def area_rule(self) -> AreaRule | None:
        """How the conflict area follows from the hazard; None for regions that are not conflict areas."""
        rule = self.region
        if rule.area is None:
            return None
        return AreaRule(rule.area, self.placement.anchor, rule.depth_m, rule.speed, rule.seconds)

    def appearance(self, name: str) -> Appearance:
        """Return one appearance; raises KeyError when the task has none of that name."""
        for appearance in self.appearances:
            if appearance.name == name:
                return appearance
        raise KeyError(f"task {self.id} has no appearance {name}")


def load_taxonomy(folder: Path = SHIPPED) -> tuple[TaskSpec, ...]:
    """Read every `<family>/<task>.yaml` below a folder, sorted by id.

    Raises:
        TaskFileError: any file is wrong, lies under another family or name than it says, or there is no file.
    """
    problems: list[str] = []
    tasks: list[TaskSpec] = []
    for path in sorted(folder.rglob("*.y*ml")):
        name = path.relative_to(folder).as_posix()
        if path.suffix != ".yaml" or name.count("/") != 1:
            problems.append(f"{name}: would not be read; task files are <family>/<task>.yaml")
            continue
        try:
            task = _read(path)
        except (OSError, ValueError) as error:
            problems.extend(f"{name}: {line}" for line in _lines(error))
            continue
        if (path.parent.name, path.stem) != (task.family, task.id):
            problems.append(f"{name}: holds task {task.family}/{task.id}; file, folder and content must agree")
        tasks.append(task)
    ids = Counter(task.id for task in tasks)
    problems.extend(f"{count} tasks share the id {name}" for name, count in ids.items() if count > 1)
    if not tasks and not problems:
        problems.append("no task file found; expected <family>/<task>.yaml")
    if problems:
        shown = problems[:10] + ([f"... and {len(problems) - 10} more"] if len(problems) > 10 else [])
        raise TaskFileError(
            f"{len(problems)} {'problem' if len(problems) == 1 else 'problems'} in the task files of {folder}:\n  "
            + "\n  ".join(shown)
            + "\nThe schema is documented in prompts/taxonomy.py; correct the files and run the command again."
        )
    return tuple(sorted(tasks, key=lambda task: task.id))


def choose(tasks: tuple[TaskSpec, ...], wanted: tuple[str, ...]) -> tuple[TaskSpec, ...]:
    """Return the wanted tasks, all when none is named.

    Raises:
        UnknownTaskError: names that the taxonomy does not have, all of them at once.
    """
    known = {task.id: task for task in tasks}
    missing = sorted(set(wanted) - set(known))
    if missing:
        raise UnknownTaskError(f"unknown tasks: {', '.join(missing)}; the taxonomy has {', '.join(known)}")
    return tuple(task for task in tasks if not wanted or task.id in wanted)


def _read(path: Path) -> TaskSpec:
    return _parse(read_bounded(path, LARGEST_FILE))


@lru_cache(maxsize=256)
def _parse(content: bytes) -> TaskSpec:
    """Read a task file's bytes; remembered: YAML takes milliseconds a file, and a build reads the taxonomy twice."""
    # strict JSON mode: "3" is no number and 1 no truth value, but a list may stand for a tuple
    return TaskSpec.model_validate_json(json.dumps(parse_yaml(content), default=str), strict=True)


def _lines(error: Exception) -> list[str]:
    if isinstance(error, ValidationError):
        return [
            f"{'.'.join(str(part) for part in problem['loc']) or 'file'}: {problem['msg']}"
            for problem in error.errors()
        ]
    return [str(error)]
