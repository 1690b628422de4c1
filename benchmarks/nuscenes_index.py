"""Opening nuScenes logs of trainval's size: our index against nuscenes-devkit 1.2.0 in one run, on the same files.

Each part runs in a process of its own, which tells its CPU seconds (user and system, imports not counted) and its peak
of resident memory. Tables, map and mask are made up below the system's temporary folder, 3 GB in all, and removed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.made_up.city_map import CITY, COUNTS, EXTENT_M, write_map
from benchmarks.made_up.trainval_tables import VERSION, write_tables
from benchmarks.performance import report

REACH_M = 50.0
QUERIES = 1000
SLOW_QUERIES = 5
SCENES = 50
MASK = (32286, 36871)
"""Width and height of the largest official mask."""
Part = dict[str, float]


def places(count: int) -> list[list[float]]:
    """Return points of the city, metres."""
    return np.random.default_rng(1).uniform(REACH_M, np.array(EXTENT_M) - REACH_M, (count, 2)).tolist()


def cpu_s(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and what it returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def devkit_load(root: Path) -> Part:
    """Load the tables with the devkit."""
    from nuscenes.nuscenes import NuScenes as Devkit

    spent, devkit = cpu_s(lambda: Devkit(VERSION, str(root), verbose=False))
    counts = len(devkit.scene), len(devkit.sample), len(devkit.sample_data), len(devkit.sample_annotation)
    return {"cpu_s": spent} | dict(zip(("scenes", "keyframes", "records", "annotations"), counts, strict=True))


def index(root: Path) -> Part:
    """Open the root: the first time its tables are hashed, read, checked and indexed."""
    from data_registry.sources.nuscenes import NuScenes

    wall = time.perf_counter()
    spent, source = cpu_s(lambda: NuScenes(root, VERSION, root / "store"))
    return {"cpu_s": spent, "wall_s": time.perf_counter() - wall, "scenes": len(source.scenes)}


def logs(root: Path) -> Part:
    """Read the logs of some scenes, and look up the scenes of their keyframes."""
    from data_registry.sources.nuscenes.index import open_index

    found = open_index(root / VERSION, root / "store", root / "digests.json")
    spent, read = cpu_s(lambda: [found.scene(name) for name in found.scenes[:SCENES]])
    tokens = [moment.token for log in read for moment in log.moments]
    looked_up, _ = cpu_s(lambda: [found.owner(token) for token in tokens])
    return {"cpu_s": spent / SCENES, "lookup_s": looked_up / len(tokens)}


def devkit_map(root: Path) -> Part:
    """Load the map expansion with the devkit and ask for records around points."""
    from nuscenes.map_expansion.map_api import NuScenesMap

    spent, devkit = cpu_s(lambda: NuScenesMap(str(root), CITY))
    points = places(SLOW_QUERIES)
    asked, found = cpu_s(lambda: [devkit.get_records_in_radius(x, y, REACH_M, list(COUNTS)) for x, y in points])
    return {"cpu_s": spent, "query_s": asked / SLOW_QUERIES, "found": sum(map(len, found[0].values()))}


def kept_map(root: Path) -> Part:
    """Open the map expansion, from its JSON the first time, and ask for records around points."""
    import shapely

    from data_registry.sources.nuscenes.expansion import open_expansion

    path = root / "maps" / "expansion" / f"{CITY}.json"
    spent, ours = cpu_s(lambda: open_expansion(path, "0" * 64, root / "store" / "maps"))
    around = [shapely.box(x - REACH_M, y - REACH_M, x + REACH_M, y + REACH_M) for x, y in places(QUERIES)]
    asked, found = cpu_s(lambda: [ours.touching(square) for square in around])
    return {"cpu_s": spent, "query_s": asked / QUERIES, "found": sum(map(len, found[0].values()))}


def devkit_mask(root: Path) -> Part:
    """Ask the devkit whether points lie on the mask: it decodes the mask for that."""
    from nuscenes.utils.map_mask import MapMask
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None

    def ask() -> Any:
        return MapMask(str(root / "maps" / "mask.png")).is_on_mask([100.0], [100.0])

    spent, _ = cpu_s(ask)
    return {"cpu_s": spent}


def tiles(root: Path) -> Part:
    """Open the mask's tiles, decoding them the first time, and read what lies around points."""
    from data_registry.sources.nuscenes.masks import CELL_M, drivable_cells, mask_tiles

    spent, mapped = cpu_s(lambda: mask_tiles(root / "maps" / "mask.png", "0" * 64, root / "store" / "masks"))
    bounds = [[int((v + step) / CELL_M) for step in (-REACH_M, REACH_M) for v in place] for place in places(QUERIES)]
    asked, _ = cpu_s(lambda: [drivable_cells(mapped, (a, b, c, d)) for a, b, c, d in bounds])
    return {"cpu_s": spent, "query_s": asked / QUERIES}


def measured(name: str, root: Path) -> Part:
    """Run one part in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "part", name, str(root)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def write_mask(root: Path) -> None:
    """Write a mask of the largest official size: streets of 12 m every 100 m."""
    from PIL import Image

    width, height = MASK
    street = np.arange(width) % 1000 < 120
    rows = np.where(street, 255, 0).astype(np.uint8), np.full(width, 255, np.uint8)
    lines = np.arange(height) % 1000 < 120
    picture = Image.new("L", MASK)
    for top in range(0, height, 1000):
        block = np.where(lines[top : top + 1000, None], rows[1], rows[0])
        picture.paste(Image.fromarray(block), (0, top))
    picture.save(root / "maps" / "mask.png", compress_level=1)


def made(root: Path) -> Part:
    """Make the files, in a process of its own too: a child's peak of memory begins at that of its parent."""
    write_tables(root)
    write_map(root)
    write_mask(root)
    return {}


PARTS: dict[str, Callable[[Path], Part]] = {
    part.__name__: part for part in (made, devkit_load, index, logs, devkit_map, kept_map, devkit_mask, tiles)
}


def main() -> None:
    """Make the files, measure and print."""
    with tempfile.TemporaryDirectory(prefix="nuscenes-index-") as folder:
        root = Path(folder)
        measured("made", root)
        names = ["devkit_load", "index", "index", "logs", "devkit_map", "kept_map", "kept_map"]
        found = [(name, measured(name, root)) for name in [*names, "devkit_mask", "tiles", "tiles"]]
        size = sum(path.stat().st_size for path in (root / "store").glob("tables-*/*"))
    report("nuscenes_index", lines([part for _, part in found], size))


def lines(parts: list[Part], size: int) -> list[str]:
    """Return the table."""
    load, build, opened, log, their_map, read_map, our_map, their_mask, decoded, our_mask = parts
    mega, micro = 1e6, 1e6
    annotations = f"{load['annotations']:,} annotations"
    return [
        f"{load['scenes']:.0f} scenes, {load['keyframes']:,} keyframes, {load['records']:,} records and ego poses,",
        f"{annotations:62} {'CPU s':>8}  {'peak MB':>8}",
        _row("tables: devkit, each process", load),
        _row(f"tables: ours, first time (checks; makes {size / mega:.0f} MB)", build),
        _row("tables: ours, each process", opened),
        f"    a scene's log {log['cpu_s'] * 1e3:.1f} ms, the scene of a keyframe {log['lookup_s'] * micro:.0f} us",
        _row(f"map of {sum(COUNTS.values())} polygons: devkit, each process", their_map),
        _row("map: ours, first time", read_map),
        _row("map: ours, each process", our_map),
        f"    {len(COUNTS)} layers, 100 m square: devkit {their_map['query_s'] * 1e3:.0f} ms, ours"
        f" {our_map['query_s'] * 1e3:.3f} ms; found at the first place: {their_map['found']}, {our_map['found']}",
        _row(f"mask of {MASK[0]} x {MASK[1]}: devkit, each process", their_mask),
        _row("mask: ours, first time", decoded),
        _row("mask: ours, each process", our_mask),
        f"    100 m square in cells of 0.5 m {our_mask['query_s'] * 1e3:.2f} ms",
    ]


def _row(name: str, part: Part) -> str:
    return f"  {name:60} {part['cpu_s']:8.3f}  {part['peak_mb']:8.0f}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["part"]:
        figures = PARTS[sys.argv[2]](Path(sys.argv[3]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(json.dumps(figures | {"peak_mb": peak}))
    else:
        main()
