"""The map of all scenes: the mask raster and the map expansion v1.3, plus the three empty cities that readers want."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from data_registry.geometry import Array
from data_registry.sources.streetset.map_layers import add_scene
from data_registry.sources.streetset.map_records import MapRecords, plan_in_map
from data_registry.sources.streetset.tables import Record
from data_registry.sources.streetset.world import LOCATION, Road, Scene

CITIES: Final = ("boston-seaport", "singapore-hollandvillage", "singapore-onenorth", "singapore-queenstown")
CANVAS: Final = (1200.0, 480.0)
"""Extent of the map, metres: width, height. Larger masks would pass Pillow's limit for decompression bombs."""
MASK_SCALE: Final = 10
"""Mask pixels a metre."""


def empty_map() -> Record:
    """Return the least map that the devkit loads."""
    return MapRecords(CANVAS).record


def mask_png(scenes: Sequence[Scene]) -> bytes:
    """Return the mask of drivable ground and pavements: 0 or 255, 0.1 m a pixel, row 0 at the largest y."""
    width, height = int(CANVAS[0] * MASK_SCALE), int(CANVAS[1] * MASK_SCALE)
    image = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(image)
    for scene in scenes:
        for outline in paved(scene):
            points = plan_in_map(scene, outline)
            pixels = np.column_stack([points[:, 0] * MASK_SCALE, height - points[:, 1] * MASK_SCALE])
            pen.polygon([(float(x), float(y)) for x, y in pixels], fill=255)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def paved(scene: Scene) -> list[Array]:
    """Return the outlines (N, 2) of everything that is paved, scene's frame."""
    bands = [(road, road.kerbs) for road in scene.roads]
    bands += [
        (road, (strip.right, strip.left)) for road in scene.roads for strip in road.strips if strip.kind == "pavement"
    ]
    found = [_band(road, *extent) for road, extent in bands]
    areas = [np.array(area) for j in scene.junctions for area in (j.outline, *j.corners)]
    return [*found, *areas]


def _band(road: Road, right: float, left: float) -> Array:
    s = np.linspace(0.0, road.axis.length, max(2, int(road.axis.length / 2) + 1))
    return np.vstack([road.axis.places(s, right), road.axis.places(s[::-1], left)])


def expansions(scenes: Sequence[Scene]) -> dict[str, Record]:
    """Return the map expansion of every city by name; the scenes' is filed under LOCATION."""
    return {city: town_map(scenes) if city == LOCATION else empty_map() for city in CITIES}


def town_map(scenes: Sequence[Scene]) -> Record:
    """Return the map expansion of all scenes."""
    records = MapRecords(CANVAS)
    for scene in scenes:
        add_scene(records, scene)
    return records.record
