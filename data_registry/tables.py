"""Tables of a release: declared schemas, one writer, one reader, and the components that register them.

A release knows no table by name. A component declares its tables here through `register`; whoever writes or checks a
release asks for the component by name.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Integral, Real
from typing import Any, Final, Protocol

import polars as pl

from data_registry import identity

ROW_GROUP: Final = 10_000
"""Rows in one parquet row group: part of the bytes, so never changed without a component schema bump."""

LARGEST_ROWS: Final = 10_000_000
"""A file that claims more rows is refused before it is read: a few bytes can stand for any number of equal rows."""


LARGEST_TABLE: Final = 2**31
"""Bytes of a table's values in memory; a file that decodes to more is refused on the way there.

The largest honest one is `rejections` of all of nuScenes with all tasks: 0.7 million rows with 2.3 KB of evidence each.
"""
_FIRST_SLICE: Final = 64
_GROWTH: Final = 4
"""Rows that are decoded first, and by how much each next slice may be longer: a bomb is met while it is small."""


class TableError(ValueError):
    """Rows do not fit a table's schema, or a file does not hold what its schema says."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    dtype: pl.DataType | type[pl.DataType]
    doc: str
    """Unit, frame, meaning; goes into the card and the Croissant file."""
    nullable: bool = False
    is_file: bool = False
    """Whether its values are paths of files of the release; every other file of the component is a table."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Values of `columns` must occur in the same-named columns of `table`; rows with a null in them are left out."""

    columns: tuple[str, ...]
    table: str


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table's columns in order, the columns that make its unique, sorted key, and what it refers to."""

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, Column] = field(hash=False)
    references: tuple[Reference, ...] = ()

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
        """Make the table from rows: typed, sorted by key.

        Raises:
            TableError: an unknown or missing column, a wrong type, a null where none may be, NaN, or a repeated key.
        """
        remaining = iter(rows)
        parts = [self._typed([], 0)]
        while listed := list(islice(remaining, ROW_GROUP)):  # all rows as Python objects would take gigabytes
            parts.append(self._typed(listed, sum(part.height for part in parts)))
        return self.checked(pl.concat(parts, rechunk=True).sort(self.key))

    def _typed(self, listed: list[Mapping[str, Any]], before: int) -> pl.DataFrame:
        """Make some rows into a frame; `before` rows came earlier, for the errors' row numbers."""
        types = {name: column.dtype for name, column in self.columns.items()}
        for number, row in enumerate(listed, start=before):
            if row.keys() != self.columns.keys():
                odd = sorted(row.keys() ^ self.columns.keys())
                raise TableError(f"table {self.name}, row {number}: missing or unknown columns {odd}")
            for name, value in row.items():
                if value is not None and not _fits(value, self.columns[name].dtype):
                    raise TableError(f"table {self.name}, row {number}: {name} is {value!r:.80}, not {types[name]}")
        try:
            return pl.DataFrame(listed, schema=types, orient="row", strict=True)
        except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
            raise TableError(f"table {self.name}: {error}") from error

    def checked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the frame when it fits this schema and is sorted by a unique key; raise TableError otherwise."""
        self._require_columns(frame.schema)
        for name, column in self.columns.items():
            values = frame[name]
            if not column.nullable and values.null_count():
                raise TableError(f"table {self.name}: column {name} has {values.null_count()} nulls")
            while isinstance(values.dtype, pl.Array):
                values = values.drop_nulls().explode()
                if values.null_count():
                    raise TableError(f"table {self.name}: column {name} has nulls inside")
            if values.dtype.is_float() and not values.drop_nulls().is_finite().all():
                raise TableError(f"table {self.name}: column {name} holds NaN or infinity")
        keys = frame.select(self.key)
        if keys.is_duplicated().any():
            raise TableError(f"table {self.name}: repeated key {keys.filter(keys.is_duplicated()).row(0)}")
        if not keys.equals(keys.sort(self.key)):
            raise TableError(f"table {self.name} is not sorted by {', '.join(self.key)}")
        return frame

    def _require_columns(self, found: pl.Schema) -> None:
        types = {name: column.dtype for name, column in self.columns.items()}
        if dict(found) != types or list(found) != list(types):
            raise TableError(f"table {self.name} has columns {dict(found)}, expected {types}")

    def encode(self, frame: pl.DataFrame) -> bytes:
        """Return the table's parquet bytes; the same rows give the same bytes."""
        buffer = io.BytesIO()
        self.checked(frame).write_parquet(
            buffer, compression="zstd", compression_level=3, row_group_size=ROW_GROUP, statistics=True
        )
        return buffer.getvalue()

    def decode(self, content: bytes, name: str, columns: Collection[str] = ()) -> pl.DataFrame:
        """Read a table's parquet bytes, or some of its columns, those of the key among them.

        Raises:
            TableError: they are not this table; the message names the file.
            KeyError: a column that the table does not have, or a column of the key is missing.
        """
        wanted = self._narrowed(columns) if columns else self
        try:
            frame = self._decoded(content, list(wanted.columns))
        except TableError as error:
            raise TableError(f"{name}: {error}") from error
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, MemoryError) as error:
            # a panic of the reader is no Exception to Python: a crafted file must not get past the callers' handlers
            raise TableError(f"{name} is not a parquet file: {str(error)[:300]}") from error
        try:
            return wanted.checked(frame)
        except TableError as error:
            raise TableError(f"{name}: {error}") from error

    def _narrowed(self, columns: Collection[str]) -> TableSchema:
        """Return the schema of some columns, in this table's order."""
        odd = sorted({*columns} - self.columns.keys() | {*self.key} - {*columns})
        if odd:
            raise KeyError(f"table {self.name} has no column, or needs for its key, {', '.join(odd)}")
        return replace(self, columns={name: column for name, column in self.columns.items() if name in columns})

    def _decoded(self, content: bytes, columns: list[str]) -> pl.DataFrame:
        """Decode slice by slice, so that a file that stands for far more than it weighs is refused before it is whole.

        The columns are compared first: only the schema's own types are ever decoded.
        """
        file = pl.scan_parquet(io.BytesIO(content))
        rows = int(file.select(pl.len()).collect().item())
        if rows > LARGEST_ROWS:
            raise TableError(f"claims {rows} rows, more than {LARGEST_ROWS}")
        self._require_columns(file.collect_schema())
        slices: list[pl.DataFrame] = []
        done, size, step = 0, 0, _FIRST_SLICE
        while done < rows or not slices:
            slices.append(pl.scan_parquet(io.BytesIO(content)).select(columns).slice(done, step).collect())
            done, step, size = done + step, step * _GROWTH, size + _values_size(slices[-1])
            if size > LARGEST_TABLE:
                raise TableError(f"its first {min(done, rows)} rows decode to {size} bytes, more than {LARGEST_TABLE}")
        return pl.concat(slices, rechunk=False)

    def content_digest(self, frame: pl.DataFrame) -> identity.Digest:
        """Return the sha256 of the canonical JSON {"columns": ..., "rows": [...]}, made row by row.

        Comparable across machines and library versions.
        """
        running = hashlib.sha256(b'{"columns":' + identity.canonical_json(frame.columns) + b',"rows":[')
        for number, row in enumerate(frame.iter_rows()):
            running.update(b"," if number else b"")
            running.update(identity.canonical_json(list(row)))
        running.update(b"]}")
        return running.hexdigest()


def _values_size(frame: pl.DataFrame) -> int:
    """Return the bytes of a frame's values; equal texts count each time, though polars may hold them once."""
    texts = frame.select(pl.col(pl.String).str.len_bytes().cast(pl.Int64).sum())
    return sum(texts.row(0)) + int(frame.select(pl.exclude(pl.String)).estimated_size())


def _fits(value: Any, dtype: Any) -> bool:
    """Tell whether a value is of a column's type as it stands; polars would make 1 of 1.5 and "3" of 3."""
    if isinstance(dtype, pl.Array):
        fills = isinstance(value, list | tuple) and len(value) == dtype.size
        return fills and all(_fits(part, dtype.inner) for part in value)
    if dtype == pl.Boolean or isinstance(value, bool):
        return dtype == pl.Boolean and isinstance(value, bool)
    kind = str if dtype == pl.String else Integral if dtype.is_integer() else Real
    return isinstance(value, kind)


class ReleaseContent(Protocol):
    """What a component's own check may read of a release; every read is checked against the manifest."""

    @property
    def funnel(self) -> Mapping[str, Mapping[str, int]]:
        """For each step what its items came to, as the manifest has it."""
        ...

    @property
    def strata(self) -> Mapping[str, Mapping[str, int]]:
        """For each kind of thing its rows by subset, as the manifest has it."""
        ...

    def frame(self, table: str) -> pl.DataFrame:
        """Return one of the component's tables."""
        ...

    def read(self, path: str) -> bytes:
        """Return one file of the release; raises ValueError or OSError when it is not what the manifest says."""
        ...


Check = Callable[[ReleaseContent, bool], Iterator[tuple[str, str]]]
"""(content, deep) -> (where, what is wrong): invariants of a component's rows, and of its pictures when deep."""


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a release with its own schema version, tables and invariants."""

    name: str
    schema_version: int
    tables: tuple[TableSchema, ...]
    check: Check | None = None

    def table(self, name: str) -> TableSchema:
        """Return one table's schema; raises KeyError when the component has none such."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(f"component {self.name} has no table {name}")


_COMPONENTS: Final[dict[str, Component]] = {}


def register(component: Component) -> Component:
    """Make a component known to whoever writes or verifies releases; twice the same is no error."""
    _COMPONENTS[component.name] = component
    return component


def component(name: str) -> Component:
    """Return a registered component.

    Raises:
        TableError: no component of that name is registered.
    """
    if name not in _COMPONENTS:
        known = ", ".join(sorted(_COMPONENTS)) or "none"
        raise TableError(f"unknown release component {name!r}; known here: {known}")
    return _COMPONENTS[name]
