"""What a task file's predicates may ask about, and what an unknown answer means."""

from __future__ import annotations

from typing import Final

FACTS: Final[dict[str, str]] = {
    "speed": "ego speed at time 0, m/s",
    "lane_width_m": "width of the ego lane at the target, metres",
    "lane_is_drivable": "whether the target lies on drivable ground",
    "free_length_m": "free length of the ego's way ahead of the bumper, metres",
    "way_is_clear": "whether no object is on the ego's way before the target",
    "target_gap_m": "gap from the bumper along the lane to the nearest point of the region, metres",
    "occluder_gap_m": "gap along the lane between the occluding object and the hazard, metres",
    "clear_of_objects_m": "smallest distance from the hazard, and from its way, to any annotated object, metres",
    "start_distance_m": "distance from the ego body to the region at time 0, metres",
    "views_count": "number of cameras that see the hazard",
    "projected_height_px": "height of the hazard in its largest view, pixels",
    "required_decel": "deceleration to stop in time after 0.5 s, m/s2",
    "parked_cars_count": "number of parked cars ahead beside the ego lane",
    "parked_beside_m": "distance from the hazard to the nearest parked vehicle beside the lane on its side, metres",
    "junction_gap_m": "gap from the bumper along the lane to the next junction, metres",
    "crossing_gap_m": "gap from the bumper along the lane to the next pedestrian crossing, metres",
    "stop_line_gap_m": "gap from the bumper along the lane to where vehicles hold next, metres",
    "turn_deg": "how far the ego lane turns within 40 m, degrees, 0 straight on",
    "turned_deg": "how far the ego lane has turned where the region is, degrees, 0 straight on",
    "in_intersection": "whether the target lies in an intersection",
    "on_crossing": "whether the target lies on a pedestrian crossing",
    "is_signalised": "whether traffic lights already rule the stop line or junction at the target",
    "oncoming_beside": "whether the lane to the left of the ego lane runs the other way",
    "is_night": "whether the scene is described as night",
    "is_wet": "whether the scene is described as rain or wet",
}
"""Those that begin with `whether` are true or false, the others numbers; the rule screener measures them all."""

UNKNOWN_PASSES: Final[dict[str, str]] = {
    "in_intersection": "a log without lanes cannot tell, and most ground is no intersection",
    "on_crossing": "a log without lanes cannot tell, and most ground is no crossing",
    "is_night": "a log without a description cannot tell, and night only makes a task harder",
    "is_wet": "a log without a description cannot tell, and a wet road only makes a task harder",
}
"""Facts whose absence rejects nothing, and why. An unknown value of any other fact fails its predicate: what a task
rests on (a junction, a turn, an oncoming lane, a stop without lights, something to hide behind) must be known."""

FROM_LANES: Final = (
    *("junction_gap_m", "crossing_gap_m", "stop_line_gap_m", "turn_deg", "turned_deg", "in_intersection"),
    *("on_crossing", "is_signalised", "oncoming_beside", "at_anchor"),
)
"""Facts that only a map with lanes tells; `at_anchor`, which every task with an anchor is asked, is among them."""
FROM_MOTION: Final = ("speed", "required_decel", "nominal_conflict", "avoidable")
"""Facts that rest on the ego's speed and path: as good as the recording that those come from."""
