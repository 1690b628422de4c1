"""Tables of the size of nuScenes v1.0-trainval, made up and streamed to disk: what an index is measured on.

Counts are those of the official download: 850 scenes, 34,149 keyframes, 2,631,083 records of 12 sensors with an ego
pose each, 1,166,187 annotations of 64,386 instances. Fields, number formats, lengths and one line a field are the
official ones; values are random but sound: links hold, quaternions are unit, neighbours are linked. About 2.5 GB.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

VERSION = "v1.0-trainval"
CITIES = ("singapore-onenorth", "singapore-hollandvillage", "singapore-queenstown", "boston-seaport")
CAMERAS = ("CAM_BACK", "CAM_BACK_LEFT", "CAM_BACK_RIGHT", "CAM_FRONT", "CAM_FRONT_LEFT", "CAM_FRONT_RIGHT")
RADARS = ("RADAR_BACK_LEFT", "RADAR_BACK_RIGHT", "RADAR_FRONT", "RADAR_FRONT_LEFT", "RADAR_FRONT_RIGHT")
SENSORS = (*CAMERAS, "LIDAR_TOP", *RADARS)
BIG = ("ego_pose", "sample_data", "sample_annotation")
START_US, STEP_US = 1_530_000_000_000_000, 500_000
POSE = (
    '{\n"token": "%s",\n"timestamp": %d,\n"rotation": [\n%r,\n%r,\n%r,\n%r\n],\n"translation": [\n%r,\n%r,\n0.0\n]\n}'
)
READING = (
    '{\n"token": "%s",\n"sample_token": "%s",\n"ego_pose_token": "%s",\n"calibrated_sensor_token": "%s",\n'
    '"timestamp": %d,\n"fileformat": "%s",\n"is_key_frame": %s,\n"height": %d,\n"width": %d,\n"filename": "%s",\n'
    '"prev": "%s",\n"next": "%s"\n}'
)
NOTE = (
    '{\n"token": "%s",\n"sample_token": "%s",\n"instance_token": "%s",\n"visibility_token": "%d",\n'
    '"attribute_tokens": [\n"%s"\n],\n"translation": [\n%r,\n%r,\n%r\n],\n"size": [\n%r,\n%r,\n%r\n],\n'
    '"rotation": [\n%r,\n0.0,\n0.0,\n%r\n],\n"prev": "%s",\n"next": "%s",\n"num_lidar_pts": 12,\n"num_radar_pts": 1\n}'
)


@dataclass(frozen=True, slots=True)
class Size:
    """How many records there are."""

    scenes: int = 850
    keyframes: int = 34_149
    readings: int = 2_631_083
    notes: int = 1_166_187
    instances: int = 64_386


class _Table:
    """One JSON list that grows on disk."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self._file: TextIO = stack.enter_context(path.open("w"))
        self._mark = "[\n"
        stack.callback(lambda: self._file.write("\n]"))

    def extend(self, records: Iterable[str]) -> None:
        for record in records:
            self._file.write(self._mark)
            self._file.write(record)
            self._mark = ",\n"


def write_tables(root: Path, size: Size | None = None) -> None:
    """Write `<root>/v1.0-trainval/*.json`, and empty files where the devkit asks for map masks."""
    size = size or Size()
    folder = root / VERSION
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    small = _small_tables(size, rng)
    (root / "maps").mkdir()
    for entry in small["map"]:
        (root / entry["filename"]).touch()
    for name, rows in small.items():
        (folder / f"{name}.json").write_text(json.dumps(rows, indent=0))
    with ExitStack() as stack:
        big = {
            name: _Table(folder / f"{name}.json", stack) for name in ("ego_pose", "sample_data", "sample_annotation")
        }
        for number in range(size.scenes):
            _add_scene(big, small, number, (size, rng))


def _tokens(rng: np.random.Generator, count: int) -> list[str]:
    text = rng.bytes(16 * count).hex()
    return [text[start : start + 32] for start in range(0, 32 * count, 32)]


def _share(total: int, parts: int, number: int) -> int:
    """Return how many of a total the part with this number gets; all parts together get it all."""
    return total * (number + 1) // parts - total * number // parts


def _linked(tokens: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each token with the one before it and the one after it."""
    return zip(tokens, ["", *tokens[:-1]], [*tokens[1:], ""], strict=True)


def _small_tables(size: Size, rng: np.random.Generator) -> dict[str, list[dict[str, Any]]]:
    sensors = dict(zip(SENSORS, _tokens(rng, len(SENSORS)), strict=True))
    logs = _tokens(rng, 68)
    categories = _tokens(rng, 23)
    samples: list[dict[str, Any]] = []
    scenes: list[dict[str, Any]] = []
    for number, scene in enumerate(_tokens(rng, size.scenes)):
        tokens = _tokens(rng, _share(size.keyframes, size.scenes, number))
        for n, (token, before, after) in enumerate(_linked(tokens)):
            time = START_US + number * 10**9 + n * STEP_US
            samples.append({"token": token, "timestamp": time, "prev": before, "next": after, "scene_token": scene})
        scenes.append(_scene(scene, f"scene-{number + 1:04d}", logs[number % 68], tokens))
    rigs = [
        _calibration(token, channel, sensors[channel])
        for _ in range(size.scenes)
        for channel, token in zip(SENSORS, _tokens(rng, len(SENSORS)), strict=True)
    ]
    instances = [
        {"token": token, "category_token": categories[n % 23], "nbr_annotations": 18}
        | {"first_annotation_token": "", "last_annotation_token": ""}
        for n, token in enumerate(_tokens(rng, size.instances))
    ]
    return {
        "category": [{"token": t, "name": f"vehicle.kind{n}", "description": "A"} for n, t in enumerate(categories)],
        "attribute": [{"token": t, "name": f"vehicle.state{n}"} for n, t in enumerate(_tokens(rng, 8))],
        "visibility": [{"token": str(n), "level": f"v{n}", "description": ""} for n in range(1, 5)],
        "instance": instances,
        "sensor": [{"token": t, "channel": c, "modality": _modality(c)} for c, t in sensors.items()],
        "calibrated_sensor": rigs,
        "log": [_log(token, n) for n, token in enumerate(logs)],
        "scene": scenes,
        "sample": samples,
        "map": [
            {"category": "semantic_prior", "token": city, "filename": f"maps/{city}.png", "log_tokens": logs[n::4]}
            for n, city in enumerate(CITIES)
        ],
    }


def _modality(channel: str) -> str:
    return {"CAM": "camera", "LID": "lidar", "RAD": "radar"}[channel[:3]]


def _log(token: str, number: int) -> dict[str, Any]:
    names = {"logfile": f"n015-{number}", "vehicle": "n015", "date_captured": "2018-07-24"}
    return {"token": token, **names, "location": CITIES[number % 4]}


def _scene(token: str, name: str, log: str, samples: Sequence[str]) -> dict[str, Any]:
    ends = {"first_sample_token": samples[0], "last_sample_token": samples[-1]}
    words = "Parked truck, construction, intersection, turn left, following a van"
    return {"token": token, "log_token": log, "nbr_samples": len(samples), **ends, "name": name, "description": words}


def _calibration(token: str, channel: str, sensor: str) -> dict[str, Any]:
    matrix = [
        [1266.417203046554, 0.0, 816.2670197447984],
        [0.0, 1266.417203046554, 491.50706579294757],
        [0.0, 0.0, 1.0],
    ]
    place = {"translation": [1.70079118954, 0.0159456324149, 1.51095763913], "rotation": [0.5, -0.5, 0.5, -0.5]}
    return {"token": token, "sensor_token": sensor, **place, "camera_intrinsic": matrix if channel in CAMERAS else []}


def _add_scene(
    big: dict[str, _Table], small: dict[str, list[dict[str, Any]]], number: int, made: tuple[Size, np.random.Generator]
) -> None:
    size, rng = made
    first = sum(_share(size.keyframes, size.scenes, n) for n in range(number))
    samples = small["sample"][first : first + _share(size.keyframes, size.scenes, number)]
    rigs = [row["token"] for row in small["calibrated_sensor"][number * len(SENSORS) :][: len(SENSORS)]]
    _add_readings(big, samples, rigs, (_share(size.readings, size.scenes, number), rng))
    start, wanted = (n * size.instances // size.scenes for n in (number, number + 1))
    instances = [row["token"] for row in small["instance"][start:wanted]]
    attributes = [row["token"] for row in small["attribute"]]
    notes = _notes(samples, (instances, attributes), _share(size.notes, size.scenes, number), rng)
    big["sample_annotation"].extend(notes)


def _add_readings(
    big: dict[str, _Table], samples: list[dict[str, Any]], rigs: list[str], made: tuple[int, np.random.Generator]
) -> None:
    """Write a scene's records sensor by sensor: a keyframe's record, then sweeps up to the next keyframe."""
    count, rng = made
    turns = rng.uniform(-np.pi, np.pi, count)
    w, z = np.cos(turns / 2), np.sin(turns / 2)
    norm = np.sqrt(1 + 2e-4)
    rotations = np.stack([w / norm, np.full(count, 0.01) / norm, np.full(count, -0.01) / norm, z / norm], 1).tolist()
    places = rng.uniform(200, 2000, (count, 2)).tolist()
    tokens = _tokens(rng, count)
    done = 0
    for order, (channel, rig) in enumerate(zip(SENSORS, rigs, strict=True)):
        own = tokens[done : done + _share(count, len(SENSORS), order)]
        kind = _modality(channel)
        for n, (token, before, after) in enumerate(_linked(own)):
            near = n * len(samples) // len(own)
            is_key = n == -(-near * len(own) // len(samples))
            time = samples[0]["timestamp"] + n * STEP_US * len(samples) // len(own) - 1000 * order
            height, width, end = (900, 1600, "jpg") if kind == "camera" else (0, 0, "pcd")
            name = (
                f"{'samples' if is_key else 'sweeps'}/{channel}/n015-2018-07-24-11-22-45+0800__{channel}__{time}.{end}"
            )
            pose = (token, time, *rotations[done + n], *places[done + n])
            flags = (end, "true" if is_key else "false", height, width, name)
            big["ego_pose"].extend([POSE % pose])
            big["sample_data"].extend(
                [READING % (token, samples[near]["token"], token, rig, time, *flags, before, after)]
            )
        done += len(own)


def _notes(
    samples: list[dict[str, Any]], names: tuple[list[str], list[str]], count: int, rng: np.random.Generator
) -> Iterator[str]:
    """Yield a scene's annotations instance by instance, over consecutive keyframes, as long as there are any."""
    instances, attributes = names
    values = rng.uniform(0.5, 2000, (count, 3)).round(3)
    sizes = rng.uniform(0.3, 12, (count, 3)).round(3)
    turns = rng.uniform(-np.pi, np.pi, count) / 2
    rows = zip(values.tolist(), sizes.tolist(), np.cos(turns).tolist(), np.sin(turns).tolist(), strict=True)
    for number, instance in enumerate(instances):
        own = _tokens(rng, _share(count, len(instances), number))
        first = 7 * number % (len(samples) - len(own) + 1)
        for n, (token, before, after) in enumerate(_linked(own)):
            place, size, w, z = next(rows)
            sample = samples[first + n]["token"]
            links = (token, sample, instance, n % 4 + 1, attributes[number % len(attributes)])
            yield NOTE % (*links, *place, *size, w, z, before, after)
