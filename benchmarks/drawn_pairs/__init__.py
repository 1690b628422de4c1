"""Pairs of the embedded logs drawn for measuring: all tasks at all keyframes, kept in a folder between runs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from data_registry.blobs import Blobs
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.source import Request
from data_registry.sources.streetset import VERSION, is_complete, write_streetset
from data_registry.store import Store
from models.editors.compositor import Compositor, CompositorSettings
from models.screeners import RuleScreener, RuleScreenerSettings
from prompts.taxonomy import load_taxonomy
from tasks.construction import combinations, to_measure
from tasks.edit import EditStage
from tasks.items import Edited, Screened
from tasks.screen import ScreenStage
from tasks.stage import DrainOptions, drain

OPTIONS = DrainOptions(run_id="benchmark")


def source_in(folder: Path) -> NuScenes:
    """Return the embedded logs, written into the folder when they are not there."""
    root = folder / "streetset"
    if not is_complete(root):
        write_streetset(root)
    return NuScenes(root, VERSION, folder / "index", "streetset")


@contextmanager
def drawn_pairs(folder: Path, seed_root: int = 0) -> Generator[tuple[tuple[Edited, ...], Blobs]]:
    """Give every combination that has a place, edited, suitable or not, and the blobs of its masks.

    Args:
        folder: where logs, results and blobs are kept: a second run with the same seed draws nothing.
        seed_root: another one gives other looks, sizes and places.
    """
    source = source_in(folder)
    with Store.at(folder / "store") as store:
        screen = ScreenStage(RuleScreener(RuleScreenerSettings(seed_root=seed_root)))
        asked = combinations(source.select(Request(choice="middle")), load_taxonomy())
        screened = drain(screen, asked, store.ledger, OPTIONS)
        placed = [
            Screened(entry.item, entry.record)
            for entry in screened.settled
            if entry.record is not None and entry.record.placement is not None and entry.record.views
        ]
        edit = EditStage(Compositor(CompositorSettings(seed_root=seed_root)), source, store.blobs)
        yield tuple(to_measure(drain(edit, placed, store.ledger, OPTIONS))), store.blobs
