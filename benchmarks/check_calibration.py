"""How well each check tells bad edits from good ones: thousands of edits, made good and with every fault on purpose.

Good edits are the compositor's of every suitable combination of the embedded logs, and of the real keyframe when
EXCEPTIONDRIVE_REAL_DATA names the folder of real sample data; faults are made from them. Takes some minutes. With
`--write` the tables and the picture of docs/checks.md are written anew.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.calibration.cases import Case, Share, Workshop, cases, suitable
from benchmarks.calibration.chart import chart
from benchmarks.calibration.page import curves, faults_table, limits_table, replaced
from data_registry.blobs import Blobs
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.streetset import write_streetset
from data_registry.sources.streetset.writer import VERSION
from tasks.decide import DEFAULT_RULES, PAIR_READINGS, VIEW_READINGS, Rule

PAGE: Final = Path(__file__).parents[1] / "docs" / "checks.md"
PICTURE: Final = PAGE.parent / "pictures" / "check_roc.png"
TURNS: Final = 6
"""Every item gets every sixth fault, each another sixth: all of all would take an hour."""
HELD_OUT_SEED: Final = 20_261_201
"""Places hazards where no limit was chosen on; faults there lie half way between the others' strengths."""
HELD_OUT_EVERY: Final = 3
"""Every third combination is held out: a third as many edits."""
MEASURED: Final = {**VIEW_READINGS, **PAIR_READINGS}
RULES: Final = (
    Rule(code="background_touched", reading="background_touched_px", at_most=0, scope="every_view"),
    *(rule for rule in DEFAULT_RULES if MEASURED[rule.reading] != "score, 0 to 1" and "region" not in rule.reading),
)
"""The rules about checks; a touched background is a hard failure and has none."""


def sources(folder: Path) -> Iterator[NuScenes]:
    """Yield the embedded logs, written anew, and the real ones where they are."""
    yield NuScenes(write_streetset(folder / "log"), VERSION, folder / "index", "streetset")
    given = os.environ.get("EXCEPTIONDRIVE_REAL_DATA")
    if given:
        yield NuScenes(Path(given) / "nuscenes_real", "v1.0-mini", folder / "real", "nuscenes")


def measured(held_out: bool) -> tuple[list[Case], list[int]]:
    """Return all cases, and how many items each source gave; held out: others, never looked at for a limit."""
    found: list[Case] = []
    counts: list[int] = []
    seed, every = (HELD_OUT_SEED, HELD_OUT_EVERY) if held_out else (0, 1)
    with tempfile.TemporaryDirectory() as name:
        folder, turn = Path(name), 0
        for source in sources(folder):
            workshop = Workshop.of(source, Blobs(str(folder / "blobs")))
            before = turn
            for item in islice(suitable(source, seed=seed), 0, None, every):
                found += cases(workshop, item, Share(turn, TURNS, between=held_out))
                turn += 1
            counts.append(turn - before)
            print(f"{source.dataset}: {turn - before} combinations, {len(found)} edits so far", file=sys.stderr)
    return found, counts


def main() -> None:
    """Measure, print, and with `--write` put it on the page."""
    found, counts = measured(held_out=False)
    others, _ = measured(held_out=True)
    every = curves(RULES, found)
    limits = f"{_said(found, counts, others)}\n\n{limits_table(every, curves(RULES, others))}"
    faults = faults_table(RULES, found)
    print(limits, faults, sep="\n\n")
    if "--write" in sys.argv:
        page = replaced(PAGE.read_text(encoding="utf-8"), "limits", limits)
        PAGE.write_text(replaced(page, "faults", faults), encoding="utf-8")
        chart(every).quantize(64).save(PICTURE, optimize=True)


def _said(found: Sequence[Case], counts: Sequence[int], others: Sequence[Case]) -> str:
    """Return the sentences above the table: how many edits of what, and what they cost."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    real = f"{counts[1]} of the real keyframe" if len(counts) > 1 else "none of real logs"
    (good, bad), (good_others, bad_others) = (
        (sum(case.is_good for case in made), sum(not case.is_good for case in made)) for made in (found, others)
    )
    return (
        f"{counts[0]} combinations of the embedded logs and {real}: {good} good edits and {bad} bad ones; held out:"
        f" {good_others} and {bad_others}. Written by `benchmarks/check_calibration.py --write` in"
        f" {used.ru_utime + used.ru_stime:.0f} CPU s, Python {platform.python_version()}, {platform.machine()}."
    )


if __name__ == "__main__":
    main()
