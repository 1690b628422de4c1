"""Driving logs in nuScenes v1.0 form, real or our own, read without the official devkit.

reader.py      NuScenes: the Source
keyframes.py   a scene's log to keyframe records
motion.py      ego motion from poses, CAN bus, neighbours or sensor poses
expansion.py   map expansion v1.3;  masks.py  map masks;  patches.py  the square around a keyframe
index.py       indexes and file digests inside the store;  logs.py  what an index holds;  locks.py
tables.py      reading and checking the JSON tables;  schema.py  what they must look like
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
