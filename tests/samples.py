"""One small, valid record of each type, for tests; changed with `model_copy(update=...)`."""

from data_registry.records import (
    Annotation,
    Area,
    Box,
    Camera,
    Candidate,
    Decision,
    Edit,
    Fact,
    Finding,
    Human,
    Judgement,
    Keyframe,
    Lane,
    LocalizationEvidence,
    MapPatch,
    Measurement,
    Measurements,
    Motion,
    PathPoint,
    Pose,
    Record,
    Region,
    Screening,
    Standing,
    StopLine,
    ViewEdit,
)

PAIR = "streetset/scene-0001/token1/occluded_pedestrian"
STILL = Pose(translation=(0, 0, 0), rotation=(1, 0, 0, 0))
BOX = Box(centre=(12.25, -2.0, 0.85), size=(0.5, 0.6, 1.7), rotation=(1, 0, 0, 0))
QUAD = ((12.0, -2.3), (12.5, -2.3), (12.5, -1.7), (12.0, -1.7))
PATCH = ((-5.0, -5.0), (60.0, -5.0), (60.0, 5.0), (-5.0, 5.0))
STOP = ((20.0, -1.75), (22.0, -1.75), (22.0, 1.75), (20.0, 1.75))

CAMERA = Camera(
    sensor_id="CAM_FRONT",
    frame_offset=0,
    timestamp_us=1_532_402_927_612_460,
    width=1600,
    height=900,
    sha256="1" * 64,
    intrinsics=((1266.4, 0, 816.3), (0, 1266.4, 491.5), (0, 0, 1)),
    camera_to_ego=Pose(translation=(1.7, 0, 1.5), rotation=(0.5, -0.5, 0.5, -0.5)),
    ego_to_global=Pose(translation=(0.4, 0, 0), rotation=(1, 0, 0, 0)),
)
KEYFRAME = Keyframe(
    dataset="streetset",
    scene="scene-0001",
    token="token1",
    timestamp_us=1_532_402_927_647_951,
    location="streetset-town",
    split="val",
    description="Parked cars, sunny",
    ego_to_global=STILL,
    motion=Motion(
        speed=6.5,
        source="poses",
        history=(PathPoint(t=-0.5, x=-3.25, y=0, heading=0),),
        future=(PathPoint(t=0, x=0, y=0, heading=0), PathPoint(t=0.5, x=3.25, y=0, heading=0.01)),
    ),
    cameras=(CAMERA, CAMERA.model_copy(update={"frame_offset": -1, "sha256": None})),
    annotations=(
        Annotation(
            token="a1",
            instance="i1",
            category="vehicle.car",
            attributes=("vehicle.parked",),
            visibility="4",
            box=Box(centre=(10, -3.2, 0.85), size=(4.5, 1.9, 1.7), rotation=(1, 0, 0, 0)),
            velocity=None,
        ),
    ),
    map=MapPatch(
        source="expansion",
        layers_sha256="2" * 64,
        drivable=(Area(exterior=PATCH),),
        lanes=(
            Lane(
                token="l1",
                area=Area(exterior=PATCH),
                centreline=((0, 0), (1, 0)),
                is_connector=False,
                successors=("l2",),
            ),
        ),
        stop_lines=(StopLine(area=Area(exterior=STOP), kind="traffic_light"),),
    ),
)
SCREENING = Screening(
    combination_id=PAIR,
    suitable=True,
    reason_code="suitable",
    evidence=(
        Fact(name="speed", value=1.0, at_least=1.0, holds=True),
        Fact(name="in_intersection", value=False, holds=True),
        Fact(name="lane", value="ego", holds=True),
        Fact(name="occluder_gap_m", value=None, at_most=2.5, holds=False),
    ),
    views=("CAM_FRONT",),
    appearance="adult",
    placement=Standing(box=BOX, surface="road"),
    expected_region=QUAD,
    nominal_conflict="both",
    required_decel=3.25,
    avoidable="both",
    path_source="poses",
)
VIEW_EDIT = ViewEdit(
    sensor_id="CAM_FRONT",
    source_sha256="1" * 64,
    window=(700, 400, 820, 640),
    edited="3" * 64,
    edit_mask="4" * 64,
    object_mask="5" * 64,
)
CANDIDATE = Candidate(seed=2**53 - 1, attempt=0, views=(VIEW_EDIT,))
EDIT = Edit(pair_id=PAIR, candidates=(CANDIDATE,))
MEASUREMENTS = Measurements(
    pair_id=PAIR,
    edit_digest=CANDIDATE.edit_digest,
    values=(
        Measurement(check="background", sensor_id="CAM_FRONT", value=0.0),
        Measurement(check="contact", sensor_id=None, value=None, note="not standing"),
    ),
)
REGION = Region(
    pair_id=PAIR,
    edit_digest=CANDIDATE.edit_digest,
    quad=QUAD,
    kind="occupied",
    clearance_m=1.5,
    evidence=LocalizationEvidence(
        method="back_projection", sensor_ids=("CAM_FRONT",), centre_offset_m=0.1, expected_iou=0.9, area_ratio=1.05
    ),
)
JUDGEMENT = Judgement(
    pair_id=PAIR,
    edit_digest=CANDIDATE.edit_digest,
    asked=True,
    hard_failures=(),
    qualified=True,
    task_correct=True,
    physics_valid=True,
    background_preserved=True,
    task_confidence=0.9,
    realism=0.8,
    action_determinacy=1.0,
    reason="a pedestrian stands on the way",
)
DECISION = Decision(
    pair_id=PAIR,
    approved=True,
    subset="benchmark",
    edit_digest=CANDIDATE.edit_digest,
    reason_code="approved",
    findings=(Finding(code="realism", value=0.8, limit=0.5),),
    decided_by="rules",
)
HUMAN = Human(pair_id=PAIR, edit_digest=CANDIDATE.edit_digest, approve=False, reason="floats")

RECORDS: dict[str, Record] = {
    "keyframe": KEYFRAME,
    "screening": SCREENING,
    "edit": EDIT,
    "measurements": MEASUREMENTS,
    "region": REGION,
    "judgement": JUDGEMENT,
    "decision": DECISION,
    "human": HUMAN,
}
