"""The eight scenes of the embedded log, in the order of their names."""

from __future__ import annotations

from typing import Final

from data_registry.sources.streetset.scenes import (
    avenue,
    bend,
    climb,
    crosswalk,
    harbour_street,
    narrow_street,
    side_street,
    signals,
)
from data_registry.sources.streetset.world import Scene

SCENES: Final[tuple[Scene, ...]] = (
    harbour_street.SCENE,
    avenue.SCENE,
    signals.SCENE,
    side_street.SCENE,
    crosswalk.SCENE,
    climb.SCENE,
    narrow_street.SCENE,
    bend.SCENE,
)


def scene_named(name: str) -> Scene:
    """Return a scene by name."""
    return next(scene for scene in SCENES if scene.name == name)
