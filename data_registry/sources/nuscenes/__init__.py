"""Driving logs in nuScenes v1.0 form, real or our own, read without the official devkit.

reader.py      NuScenes: the Source
keyframes.py   a scene's log to keyframe records;  logs.py  what a scene's log is
motion.py      ego motion from poses, CAN bus, neighbours or sensor poses
expansion.py   map expansion v1.3, kept as columns, read by map_reading.py;  masks.py  map masks, kept as tiles
patches.py     the square of map around a keyframe

index.py       the index of a version's tables, and file digests, inside the store;  shelf.py, locks.py  built once
contents.py    what an index holds;  columns.py  columns on disk;  scenes.py  from columns to a scene's log
reading.py     one pass over the tables: streaming.py (JSON in batches), kinds.py (checked columns), tokens.py (links)
assembly.py    from checked tables to columns
tables.py      the files of a version folder;  schema.py  what their records must look like
splits.py      the official splits;  problems.py  the errors
"""

from data_registry.sources.nuscenes.problems import (
    CanBusError,
    MapError,
    PictureChangedError,
    PictureMissingError,
    RootError,
    TablesError,
    UnknownRequestError,
)
from data_registry.sources.nuscenes.reader import NuScenes

__all__ = [
    "CanBusError",
    "MapError",
    "NuScenes",
    "PictureChangedError",
    "PictureMissingError",
    "RootError",
    "TablesError",
    "UnknownRequestError",
]
