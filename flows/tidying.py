"""Commands `store gc` and `store repair`: tidy a store that is there, and never start one."""

from __future__ import annotations

from dataclasses import asdict

from data_registry.store import Store
from flows.assembly import open_store
from flows.exits import counted, say
from flows.options import BuildOptions
from flows.places import require_folder_place
from flows.settings import StoreSettings


class NoStoreError(ValueError):
    """There is no store where one was looked for."""


def collect_garbage(options: BuildOptions, older_than_s: float, dry_run: bool, as_json: bool) -> None:
    """Remove what no result refers to, and say how much.

    Raises:
        NoStoreError, WrongPlaceError: the folder holds no store, or a file is in its place.
    """
    settings = options.resolve()
    _refuse_missing(settings.store)
    with open_store(settings) as opened:
        report = opened.collect_garbage(older_than_s, dry_run)
    verb = "would remove" if dry_run else "removed"
    text = f"kept {report.blobs_kept} blobs, {verb} {report.blobs_removed} and {report.leftovers_removed} leftovers"
    say({**asdict(report), "dry_run": dry_run}, text, as_json)


def repair_store(options: BuildOptions, dry_run: bool, as_json: bool) -> None:
    """Forget results whose blobs are missing or corrupt, and say how many; raises NoStoreError or WrongPlaceError."""
    settings = options.resolve()
    _refuse_missing(settings.store)
    with open_store(settings) as opened:
        report = opened.repair(dry_run)
    verb = "would forget" if dry_run else "forgot"
    text = f"checked {counted(report.blobs_checked, 'blob')}, {report.blobs_bad} missing or corrupt; {verb}"
    say({**asdict(report), "dry_run": dry_run}, f"{text} {counted(report.results_forgotten, 'result')}", as_json)


def _refuse_missing(store: StoreSettings) -> None:
    require_folder_place(store.path, "--store")
    if store.ledger is None and not Store.is_at(store.path):
        raise NoStoreError(f"no store at {store.path}: a build makes one; name another with --store")
