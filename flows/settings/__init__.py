"""Settings of a build: a file or a shipped name, overrides, strict reading, every problem at once.

What decides output sits in the stages' identity settings; everything else (where, how many, how long) never enters a
key. A role with several back ends is a union of their settings, told apart by `backend`; docs/extending.md adds one.
"""

from __future__ import annotations

import difflib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from data_registry.manifest import check_name, check_version
from data_registry.sources.source import Choice
from models.backend import IdentitySettings
from models.editors.compositor import CompositorSettings
from models.localizers.ground_plane import GroundPlaneSettings
from models.reviewers import RuleReviewerSettings
from models.screeners import RuleScreenerSettings
from prompts.task_file import parse_yaml, read_bounded
from tasks.auxiliary import AuxiliarySettings
from tasks.decide import DecideSettings
from tasks.measure import MeasureSettings
from tasks.score import ScoreSettings

SHIPPED: Final = Path(__file__).parent
_SHOWN: Final = 10
"""Problems that an error spells out; the rest is a count."""
_LONGEST: Final = 500
"""Characters of a problem that an error shows."""
_LONGEST_KEY: Final = 60
"""Characters of an override's key that an error shows."""
_LARGEST_FILE: Final = 1_000_000
"""Bytes of a settings file."""


class SettingsError(ValueError):
    """Settings are wrong; the message lists every problem with its path."""


def _filled(name: str) -> str:
    if not name:
        raise ValueError("empty name")
    return name


Name = Annotated[str, AfterValidator(_filled)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SourceSettings(_Strict):
    """Which logs, and which of their keyframes."""

    kind: Literal["streetset", "nuscenes"] = "streetset"
    root: Path | None = None
    """Folder of the logs; streetset without one is written into the store."""
    version: str | None = None
    """Version folder below the root, e.g. `v1.0-trainval`."""
    keyframes: Choice = "middle"
    tokens: tuple[Name, ...] = ()
    """Sample tokens; when given they replace `keyframes`."""
    scenes: tuple[Name, ...] = ()
    """Scene names; empty: all."""
    limit: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """At most this many keyframes."""
    history: Annotated[int, Field(ge=0, le=40)] = 4
    """Earlier keyframes whose pictures belong to a pair."""

    @model_validator(mode="after")
    def _rooted(self) -> SourceSettings:
        if self.kind == "nuscenes" and (self.root is None or self.version is None):
            raise ValueError(
                "nuscenes needs root and version, e.g. --set source.root=/data --set source.version=v1.0-mini"
            )
        if (self.root is None) != (self.version is None):
            raise ValueError("root and version go together")
        return self


class ReleaseSettings(_Strict):
    """What is published."""

    name: Annotated[str, AfterValidator(check_name)] = "exceptiondrive"
    version: Annotated[str, AfterValidator(check_version)] = "0.0.0-dev"
    allow_incomplete: bool = False
    """Publish although items are unsettled; only for pre-release versions."""


class StoreSettings(_Strict):
    """Where results and blobs are kept."""

    path: Path = Path(".work/store")
    """Local folder; also holds indexes, logs and the embedded logs when ledger and blobs lie elsewhere."""
    ledger: str | None = None
    """SQLAlchemy URL of a shared ledger, e.g. `postgresql+psycopg://host/exceptiondrive`."""
    blobs: str | None = None
    """fsspec URL of a shared blob store, e.g. `s3://bucket/blobs`."""

    @model_validator(mode="after")
    def _together(self) -> StoreSettings:
        if (self.ledger is None) != (self.blobs is None):
            raise ValueError("ledger and blobs go together: workers need both")
        return self


class RunSettings(_Strict):
    """Where stages run and how hard they try; never part of an identity."""

    mode: Literal["in_process", "workers"] = "in_process"
    drains: Annotated[int, Field(ge=1, le=256)] = 2
    """Drains per stage in mode `workers`."""
    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Tries per item and run."""
    lease_s: Annotated[float, Field(gt=0)] = 60.0
    """How long a lost worker's items are waited for, unless its own machine sees that it is gone."""
    poll_s: Annotated[float, Field(gt=0)] = 0.5
    pending_s: Annotated[float, Field(gt=0)] = 120.0
    """After this long a drain that a worker took but never started is lost, and another one is asked for."""


class Settings(_Strict):
    """Everything that a build can be told; the command line's options end up here too."""

    schema_version: Literal[1] = 1
    source: SourceSettings = SourceSettings()
    tasks: tuple[Name, ...] = ()
    """Task ids; empty: the whole taxonomy."""
    taxonomy: Path | None = None
    """Folder of task files; the shipped taxonomy when absent."""
    decisions: Path | None = None
    """JSON lines of human decisions."""
    screen: RuleScreenerSettings = RuleScreenerSettings()
    edit: CompositorSettings = CompositorSettings()
    measure: MeasureSettings = MeasureSettings()
    localize: GroundPlaneSettings = GroundPlaneSettings()
    judge: RuleReviewerSettings = RuleReviewerSettings()
    decide: DecideSettings = DecideSettings()
    auxiliary: AuxiliarySettings = AuxiliarySettings()
    """The draw from screened-out combinations beside the benchmark."""
    score: ScoreSettings = ScoreSettings()
    """How planners' predictions are scored: ego body, horizon, factor of the required clearance."""
    release: ReleaseSettings = ReleaseSettings()
    releases: Path = Path("releases")
    """Folder that releases are published into."""
    store: StoreSettings = StoreSettings()
    run: RunSettings = RunSettings()


def shipped_names() -> list[str]:
    """Return the names of the settings that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_settings(name_or_file: str, overrides: Sequence[str] = ()) -> Settings:
    """Read settings from a shipped name or a YAML file, with `key.path=value` overrides; later ones win.

    Raises:
        SettingsError: no such settings, not YAML, or any unknown or wrong field or override; all problems at once.
    """
    path = _find(name_or_file)
    try:
        content = parse_yaml(read_bounded(path, _LARGEST_FILE)) or {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot read settings {path}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise SettingsError(f"settings {path} must be a mapping of fields, got {type(content).__name__}")
    problems = [problem for override in overrides if (problem := _override(content, override))]
    return _checked(content, _named_settings(name_or_file, overrides), problems)


def _named_settings(name_or_file: str, overrides: Sequence[str]) -> str:
    """Return where values came from: the settings as asked for, and which were overridden, whose values stay untold."""
    keys = list(dict.fromkeys(override.partition("=")[0].strip() for override in overrides))
    shown = [key[:_LONGEST_KEY] if key.isprintable() else ascii(key[:_LONGEST_KEY]) for key in keys[:_SHOWN]]
    more = " ..." if len(keys) > _SHOWN else ""
    return f"{name_or_file} with --set {', '.join(shown)}{more}" if keys else name_or_file


def parse_settings(content: dict[str, Any], name: str) -> Settings:
    """Make settings from plain values; raises SettingsError with every problem."""
    return _checked(content, name, [])


def _checked(content: dict[str, Any], name: str, problems: list[str]) -> Settings:
    """Return the settings unless there are problems, those given or others."""
    problems = [*problems, *_unprintable(content, "")]
    try:
        # strict JSON: true is no number and '2' none either, but a list may stand for a tuple and a text for a path
        plain = json.dumps(_named(content), default=str, ensure_ascii=False).encode("utf-8", "replace")
        settings = Settings.model_validate_json(plain, strict=True)
        if not problems:
            return settings
    except ValidationError as error:
        problems = [*problems, *map(_describe, error.errors())]
    shown = [problem[:_LONGEST] for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        shown.append(f"... and {len(problems) - _SHOWN} more")
    noun = "problem" if len(problems) == 1 else "problems"
    raise SettingsError(
        f"{len(problems)} {noun} in settings {name}:\n  "
        + "\n  ".join(shown)
        + "\n`exceptiondrive settings` prints every setting with its value."
    )


def _named(content: dict[str, Any]) -> dict[str, Any]:
    """Give a role's settings that name no back end the name of its default one, which they are meant for."""
    named = dict(content)
    for role, field in Settings.model_fields.items():
        if isinstance(field.default, IdentitySettings) and isinstance(named.get(role), dict):
            named[role] = {"backend": field.default.backend} | named[role]
    return named


def _unprintable(value: Any, where: str) -> Iterator[str]:
    """Yield a problem for every text with characters that no path, name or URL can have."""
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            yield from _unprintable(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(cast("Sequence[Any]", value)):
            yield from _unprintable(inner, f"{where}.{index}")
    elif isinstance(value, str) and any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        yield f"{where}: must not have control characters, NUL or bytes that are not UTF-8, got {value!r}"


def _find(name_or_file: str) -> Path:
    shipped = SHIPPED / f"{name_or_file}.yaml"
    if name_or_file in shipped_names():
        return shipped
    path = Path(name_or_file)
    if path.is_file():
        return path
    raise SettingsError(
        f"no settings {name_or_file!r}: it is neither a file nor one of the shipped {', '.join(shipped_names())}"
    )


def _override(content: dict[str, Any], override: str) -> str | None:
    """Put one `a.b=value` into nested plain values, the value read as YAML; return what is wrong with it."""
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        return f"--set takes key.path=value, got {override!r}"
    try:
        value = parse_yaml(text)
    except ValueError as error:
        return f"--set {path}: not a YAML value: {text!r} ({error})"
    node = content
    for key in keys[:-1]:
        node = node.setdefault(key, {})
        if not isinstance(node, dict):
            return f"--set {path}: {key} holds a value, not fields"
    node[keys[-1]] = value
    return None


def _describe(problem: Any) -> str:
    path, beside = _walk([str(part) for part in problem["loc"]])
    name, kind = ".".join(path), problem["type"]
    if kind == "extra_forbidden":
        return f"{name}: unknown setting{_meant(path[-1], beside)}"
    if kind == "union_tag_invalid" or (kind == "literal_error" and path[-1] == "backend"):
        context = problem["ctx"]
        known = str(context.get("expected_tags") or context["expected"]).replace("'", "")
        given = str(context.get("tag", problem["input"]))
        role = name.removesuffix(".backend")
        return f"{role}.backend: no back end {given!r}{_meant(given, known.split(', '))} The role has: {known}"
    text = f"{name or 'settings'}: {problem['msg'].removeprefix('Value error, ')}"
    plain = isinstance(problem["input"], str | int | float)
    is_told = isinstance(problem["input"], str) and repr(problem["input"]) in text  # by a check of ours
    return f"{text}, got {problem['input']!r}" if plain and not is_told else text


def _meant(given: str, known: list[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f", did you mean {near[0]}?" if near else "."


def _walk(location: list[str]) -> tuple[list[str], list[str]]:
    """Return a problem's path as a user writes it, and the names of the fields beside its last part.

    Where a role has several back ends, pydantic's location holds the name of the chosen one, which is no field.
    """
    path: list[str] = []
    beside: list[str] = []
    models: list[type[BaseModel]] = [Settings]
    for part in location:
        if len(models) > 1:
            models = [model for model in models if model.model_fields["backend"].default == part]
            continue
        path.append(part)
        fields = models[0].model_fields if models else {}
        beside = list(fields)
        models = _models(fields[part].annotation) if part in fields else []
    return path, beside


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the model that a field holds, or the ones that it chooses from."""
    kinds = get_args(annotation) or (annotation,)
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
