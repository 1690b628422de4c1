"""The embedded synthetic logs: eight scenes of a made-up town in nuScenes v1.0 form, written to disk on demand.

The devkit and every reader of nuScenes load them like a real partial download: all tables, map, map expansion, CAN bus,
and the pictures of one keyframe in each scene, those of its history only when asked for.
"""

from __future__ import annotations

from data_registry.sources.streetset.writer import (
    VERSION,
    StreetsetTargetError,
    StreetsetWriteError,
    is_complete,
    write_streetset,
)

__all__ = ["VERSION", "StreetsetTargetError", "StreetsetWriteError", "is_complete", "write_streetset"]
