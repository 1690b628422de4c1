"""What every back end says about itself: the settings that decide its output, and how it wants to be run."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Annotated, Final, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

MOST_THREADS: Final = 4


class IdentitySettings(BaseModel, frozen=True):
    """Settings that decide a back end's output; every field is hashed into the keys of its outcomes.

    Subclasses add their own fields and narrow `backend` to their name (`Literal["rules"] = "rules"`), by which settings
    choose among a role's back ends; `frozen=True` on each tells type checkers that narrowing is safe.
    What does not decide output (device, batch size, retries) belongs in `Execution`.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    backend: str
    """Name of the back end, e.g. `rules`."""
    revision: str
    """Version of its behaviour or weights; a new one redoes its items."""


class Execution(BaseModel):
    """How a back end wants to be run; never part of an identity."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    resources: Literal["cpu", "a100"] = "cpu"
    """Work pool whose workers can run it."""
    scope: Literal["item", "batch", "session"] = "item"
    """item: any number at a time, each alone; batch: up to `max_batch` in one call; session: all items of one session
    (a scene) in order in one call, for back ends that remember."""
    max_batch: Annotated[int, Field(ge=1)] = 1
    max_in_flight: Annotated[int, Field(ge=1)] = 1
    """Calls at the same time."""


class Backend(Protocol):
    """A context manager that is opened once per worker: weights are loaded on entry and freed on exit."""

    @property
    def identity_settings(self) -> IdentitySettings:
        """Everything that decides the output."""
        ...

    @property
    def execution(self) -> Execution:
        """How to run it."""
        ...

    def __enter__(self) -> Self:
        """Load what is needed."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Free it."""
        ...


def on_all_cores() -> Execution:
    """Return how back ends run that compute mostly outside Python: as many calls at a time as cores, 4 at most.

    Each call may hold some full pictures, which bounds the number. Such a back end must be safe to use from several
    threads, and its output must not depend on which call comes first.
    """
    return Execution(max_in_flight=max(1, min(MOST_THREADS, len(os.sched_getaffinity(0)))))


class LocalBackend:
    """Base of back ends that hold nothing open."""

    execution = Execution()

    def __enter__(self) -> Self:
        """Nothing to load."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Nothing to free."""


class Pure(LocalBackend):
    """The back end of stages that only compute: nothing but settings that decide the output."""

    def __init__(self, identity_settings: IdentitySettings) -> None:
        """Remember the settings."""
        self.identity_settings = identity_settings
