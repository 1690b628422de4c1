"""What builds and evaluations can be asked for, the same from the command line and from a Prefect deployment."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import yaml

from flows.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of one build; None leaves what the settings say."""

    settings: str = "sample"
    """A settings file, or the name of shipped ones."""
    set: list[str] | None = None
    """Overrides, `key.path=value`."""
    releases: str | None = None
    store: str | None = None
    version: str | None = None
    scenes: list[str] | None = None
    tasks: list[str] | None = None
    limit: int | None = None
    mode: str | None = None
    allow_incomplete: bool | None = None

    def resolve(self) -> Settings:
        """Read the settings and put these options on top.

        Raises:
            SettingsError: no such settings, or wrong ones; every problem at once.
        """
        return load_settings(self.settings, [*(self.set or []), *self._overrides()])

    def _overrides(self) -> list[str]:
        values: dict[str, Any] = {
            "releases": self.releases,
            "store.path": self.store,
            "release.version": self.version,
            "source.scenes": self.scenes,
            "tasks": self.tasks,
            "source.limit": self.limit,
            "run.mode": self.mode,
            "release.allow_incomplete": self.allow_incomplete,
        }
        return [f"{key}={_yaml(value)}" for key, value in values.items() if value is not None]


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of one evaluation; None leaves what the settings say."""

    release: str | None = None
    """Folder of the release; None: the one that the settings publish."""
    settings: str = "sample"
    """A settings file, or the name of shipped ones: the logs, the store, and how scores are made."""
    set: list[str] | None = None
    """Overrides, `key.path=value`."""
    store: str | None = None
    planners: list[str] | None = None
    """Names of built-in planners; None: all; `["none"]`: none of them."""
    predictions: list[str] | None = None
    """`NAME=FILE`: predictions of planners that ran elsewhere, JSON lines."""
    name: str | None = None
    """Name of the evaluation."""
    mode: str | None = None

    def resolve(self) -> Settings:
        """Read the settings and put these options on top.

        Raises:
            SettingsError: no such settings, or wrong ones; every problem at once.
        """
        return BuildOptions(self.settings, self.set, store=self.store, mode=self.mode).resolve()


def parameters_of(options: BuildOptions | EvaluationOptions) -> dict[str, Any]:
    """Return the options as parameters of the flow that takes them."""
    return {field.name: getattr(options, field.name) for field in fields(options)}


def _yaml(value: Any) -> str:
    """Write a value as one line of YAML that reads back as the same value."""
    return yaml.safe_dump(value, default_flow_style=True, width=10**9).split("\n...")[0].strip()
