"""What every record is: frozen, closed, finite, with fixed numbers, a digest, and a way to be read for ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from data_registry import identity

Metres = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.METRE_STEP))]
Radians = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.RADIAN_STEP))]
Seconds = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.METRE_STEP))]
Unitless = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.RADIAN_STEP))]
"""Components of quaternions, intrinsics' ratios and the like: fixed at 1e-9."""
Microseconds = Annotated[int, Field(ge=0, lt=2**53)]
"""Unix time; bounded because canonical JSON carries no larger integer."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Xy = tuple[Metres, Metres]
Xyz = tuple[Metres, Metres, Metres]
Ring = Annotated[tuple[Xy, ...], Field(min_length=3)]
"""Plan outline in the ego frame at time 0, first vertex not repeated."""
Quad = tuple[Xy, Xy, Xy, Xy]
"""Four counter-clockwise plan corners in the ego frame at time 0, first vertex not repeated."""


class RecordError(ValueError):
    """A stored record cannot be read: it is malformed, or newer than this code."""


class Record(BaseModel):
    """Base of everything that crosses a stage boundary: frozen, closed, finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))

    @cached_property
    def payload_digest(self) -> identity.Digest:
        """Sha256 of this record's canonical JSON: its semantic identity."""
        return identity.digest(self.model_dump(mode="json"))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with changed fields, validated and quantised like any record, with a digest of its own.

        pydantic's own copy checks nothing and would carry the old `payload_digest` along.
        """
        return type(self).model_validate(
            {name: getattr(self, name) for name in type(self).model_fields} | dict(update or {})
        )


Upgrader = Callable[[Mapping[str, Any]], dict[str, Any]]
UPGRADERS: dict[type[Record], dict[int, Upgrader]] = {}
"""For each record type: schema version v -> pure function from the JSON of v to that of v + 1."""

R = TypeVar("R", bound=Record)

_MALFORMED: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What parsing, upgrading and validating raise on content that is no such record."""


def load_record(kind: type[R], text: str | bytes) -> R:
    """Read a stored record, upgrading older schema versions step by step.

    Raises:
        RecordError: the text is not such a record, or its schema version is newer than this code knows.
    """
    try:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise TypeError(f"expected an object, got {type(content).__name__}")
        return kind.model_validate(_upgraded(kind, content))
    except RecordError:
        raise
    except _MALFORMED as error:
        raise RecordError(f"not a {kind.__name__} record: {type(error).__name__}: {str(error)[:1000]}") from error


def _upgraded(kind: type[Record], content: dict[str, Any]) -> dict[str, Any]:
    field = kind.model_fields.get("schema_version")
    if field is None:
        return content
    current, found = field.default, content.get("schema_version")
    if type(found) is not int or found < 1:
        raise RecordError(f"{kind.__name__} record without a schema_version")
    if found > current:
        raise RecordError(
            f"{kind.__name__} record has schema_version {found}, this code knows up to {current}: update exceptiondrive"
        )
    for version in range(found, current):
        if version not in UPGRADERS.get(kind, {}):
            raise RecordError(
                f"{kind.__name__} record has schema_version {found}, which this code cannot upgrade any more"
            )
        content = UPGRADERS[kind][version](content)
    return content
