"""Parametric shapes with believable silhouettes, a few hundred to a few thousand faces each.

Standing shapes take (length, width, height) in metres and fill that box exactly: x forward, y left, z up, origin on the
ground below the centre. What has a front looks to +x: vehicles drive, people walk and signals shine that way. Surface
shapes are made in place, in an outline on a height function. `SHAPES` names the standing ones, `SURFACES` the others,
`MOUNTED` those whose box hangs above the ground.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from data_registry.geometry import Array
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.shapes.animals import deer, dog
from data_registry.scene3d.shapes.broken_ground import PROUD_M, RIM_M, SINK_M, cave_in, pothole
from data_registry.scene3d.shapes.buildings import building
from data_registry.scene3d.shapes.cars import broken_down_car, car, car_door, saloon, suv, van
from data_registry.scene3d.shapes.debris import TALLEST_M, debris, gravel
from data_registry.scene3d.shapes.heavy_vehicles import box_truck, bus
from data_registry.scene3d.shapes.machines import excavator
from data_registry.scene3d.shapes.obstacles import ball, crates, fallen_tree
from data_registry.scene3d.shapes.outlines import HeightAt
from data_registry.scene3d.shapes.people import child, construction_worker, pedestrian, traffic_controller
from data_registry.scene3d.shapes.roadworks import barrier, barrier_row, cone, works_barrier
from data_registry.scene3d.shapes.signals import (
    mounted_portable_signal,
    mounted_signal_post,
    portable_signal,
    signal_head,
    signal_post,
)
from data_registry.scene3d.shapes.surfaces import flood, ground_polygon, ice
from data_registry.scene3d.shapes.two_wheelers import bicycle, cyclist, motorcyclist

__all__ = [
    "MOUNTED",
    "PROUD_M",
    "RIM_M",
    "SHAPES",
    "SINK_M",
    "SURFACES",
    "TALLEST_M",
    "HeightAt",
    "ball",
    "barrier",
    "barrier_row",
    "bicycle",
    "box_truck",
    "broken_down_car",
    "building",
    "bus",
    "car",
    "car_door",
    "cave_in",
    "child",
    "cone",
    "construction_worker",
    "crates",
    "cyclist",
    "debris",
    "deer",
    "dog",
    "excavator",
    "fallen_tree",
    "flood",
    "gravel",
    "ground_polygon",
    "ice",
    "motorcyclist",
    "mounted_portable_signal",
    "mounted_signal_post",
    "pedestrian",
    "portable_signal",
    "pothole",
    "saloon",
    "signal_head",
    "signal_post",
    "suv",
    "traffic_controller",
    "van",
    "works_barrier",
]

SHAPES: Final[dict[str, Callable[..., Mesh]]] = {
    "ball": ball,
    "barrier": barrier,
    "barrier_row": barrier_row,
    "bicycle": bicycle,
    "box_truck": box_truck,
    "broken_down_car": broken_down_car,
    "bus": bus,
    "car": car,
    "car_door": car_door,
    "child": child,
    "cone": cone,
    "construction_worker": construction_worker,
    "crates": crates,
    "cyclist": cyclist,
    "deer": deer,
    "dog": dog,
    "excavator": excavator,
    "fallen_tree": fallen_tree,
    "motorcyclist": motorcyclist,
    "pedestrian": pedestrian,
    "portable_signal": portable_signal,
    "saloon": saloon,
    "signal_head": signal_head,
    "signal_post": signal_post,
    "suv": suv,
    "traffic_controller": traffic_controller,
    "van": van,
    "works_barrier": works_barrier,
}
"""Standing shapes by name; each takes (length, width, height) in metres and colour=, its main part's linear RGB."""

MOUNTED: Final[dict[str, Callable[..., Mesh]]] = {
    "portable_signal": mounted_portable_signal,
    "signal_post": mounted_signal_post,
}
"""Mounted shapes by name; each takes its head's (length, width, height) and the height of its under side, metres."""

SURFACES: Final[dict[str, Callable[[Array, HeightAt], Mesh]]] = {
    "cave_in": cave_in,
    "debris": debris,
    "flood": flood,
    "gravel": gravel,
    "ice": ice,
    "pothole": pothole,
}
"""Shapes of the ground by name; each takes an outline (K, 2) and the ground's height under points."""
