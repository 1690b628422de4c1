"""A scene's log out of an index's columns, by slices: nothing but the scene's own rows is read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from data_registry.sources.nuscenes.columns import Columns
from data_registry.sources.nuscenes.contents import Contents
from data_registry.sources.nuscenes.logs import Moment, Note, Posed, Reading, SceneLog

_MOMENT = ("time", "has_lidar", "lidar_time", "lidar_xyz", "lidar_wxyz", "readings_end", "notes_end")
_READING = ("time", "width", "height", "pose_time", "pose_xyz", "pose_wxyz")


class LogReader:
    """Reads scenes by their number."""

    def __init__(self, contents: Contents, columns: Columns) -> None:
        """Take an index's contents and columns."""
        self._contents = contents
        self._columns = columns
        self._moment_ends = [scene.moments_end for scene in contents.scenes]
        self._tokens = columns.texts("moment-token")
        self._order = columns.array("token-order")

    def owner(self, token: str) -> int | None:
        """Return the number of the scene that has a sample token, None when none has."""
        place = bisect_left(self._order, token, key=self._token)
        if place == len(self._order) or self._token(self._order[place]) != token:
            return None
        return bisect_right(self._moment_ends, int(self._order[place]))

    def _token(self, row: Any) -> str:
        return self._tokens.some(int(row), int(row) + 1)[0]

    def scene(self, number: int) -> SceneLog:
        """Return a scene's log."""
        entry, scenes = self._contents.scenes[number], self._contents.scenes
        before = scenes[number - 1] if number else None
        poses = self._slices("pose", ("time", "xyz", "wxyz"), before.poses_end if before else 0, entry.poses_end)
        return SceneLog(
            name=entry.name,
            description=entry.description,
            location=entry.location,
            split=entry.split,
            mask=entry.mask,
            moments=tuple(self._moments(before.moments_end if before else 0, entry.moments_end)),
            poses=tuple(_posed(*pose) for pose in zip(*poses, strict=True)),
        )

    def _slices(self, name: str, columns: tuple[str, ...], first: int, last: int) -> list[list[Any]]:
        return [self._columns.array(f"{name}-{column}")[first:last].tolist() for column in columns]

    def _moments(self, first: int, last: int) -> Iterator[Moment]:
        readings, notes = (
            int(self._columns.array(f"moment-{rows}_end")[first - 1]) if first else 0 for rows in ("readings", "notes")
        )
        rows = list(zip(*self._slices("moment", _MOMENT, first, last), strict=True))
        of_readings = self._readings(readings, rows[-1][5] if rows else readings)
        of_notes = self._notes(notes, rows[-1][6] if rows else notes)
        for token, (time, has_lidar, *lidar, readings_end, notes_end) in zip(
            self._tokens.some(first, last), rows, strict=True
        ):
            yield Moment(
                token=token,
                timestamp_us=time,
                lidar=_posed(*lidar) if has_lidar else None,
                readings=tuple(next(of_readings) for _ in range(readings, readings_end)),
                notes=tuple(next(of_notes) for _ in range(notes, notes_end)),
            )
            readings, notes = readings_end, notes_end

    def _readings(self, first: int, last: int) -> Iterator[Reading]:
        channels = [self._contents.channels[number] for number in self._slices("reading", ("channel",), first, last)[0]]
        rigs = self._columns.array("reading-rig")[first:last]
        lenses = [self._columns.array(f"rig-{column}")[rigs].tolist() for column in ("matrix", "xyz", "wxyz")]
        files = self._columns.texts("reading-file").some(first, last)
        rows = self._slices("reading", _READING, first, last)
        for channel, file, matrix, xyz, wxyz, time, width, height, *pose in zip(
            channels, files, *lenses, *rows, strict=True
        ):
            yield Reading(
                channel=channel,
                timestamp_us=time,
                filename=file,
                width=width,
                height=height,
                intrinsics=(tuple(matrix[0]), tuple(matrix[1]), tuple(matrix[2])),
                translation=tuple(xyz),
                rotation=tuple(wxyz),
                pose=_posed(*pose),
            )

    def _notes(self, first: int, last: int) -> Iterator[Note]:
        contents = self._contents
        counted = self._slices("note", ("category", "attributes", "visibility"), first, last)
        vectors = self._slices("note", ("xyz", "size", "wxyz", "velocity"), first, last)
        tokens = self._columns.texts("note-token").some(first, last)
        for token, instance, category, attributes, visibility, xyz, size, wxyz, velocity in zip(
            tokens, self._instances(first, last), *counted, *vectors, strict=True
        ):
            yield Note(
                token=token,
                instance=instance,
                category=contents.categories[category],
                attributes=contents.attributes[attributes],
                visibility=contents.visibilities[visibility],
                translation=tuple(xyz),
                size=tuple(size),
                rotation=tuple(wxyz),
                velocity=None if velocity[0] != velocity[0] else tuple(velocity),
            )

    def _instances(self, first: int, last: int) -> list[str]:
        """Return the instance tokens of notes; each is looked up once."""
        found, places = np.unique(self._columns.array("note-instance")[first:last], return_inverse=True)
        texts = self._columns.texts("instance-token")
        names = list(chain.from_iterable(texts.some(row, row + 1) for row in found.tolist()))
        return [names[place] for place in places.tolist()]


def _posed(time: int, xyz: list[float], wxyz: list[float]) -> Posed:
    x, y, z = xyz
    a, b, c, d = wxyz
    return Posed(time, (x, y, z), (a, b, c, d))
