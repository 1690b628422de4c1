"""Command `doctor`: what is installed, found and missing on this machine, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from rich.markup import escape
from rich.table import Table

from flows.exits import NoError, say
from flows.options import BuildOptions
from flows.terminal import plain_text

EXTRAS: Final = {
    "nuscenes": ("nuscenes-devkit",),
    "postgres": ("psycopg",),
    "models": ("torch", "diffusers", "transformers"),
    "bev": ("mmdet3d",),
}
"""Distributions by which an extra is known to be installed."""
ENOUGH_DISK_BYTES: Final = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "missing", "broken"]
    """missing: only some work needs it; broken: builds will fail."""
    found: str
    advice: str = ""


def examine(store: str | None, as_json: bool) -> None:
    """Print every check; the answer is no when something is broken."""
    settings = BuildOptions("sample", store=store).resolve()
    checks = [
        _python(),
        *_extras(),
        _gpu(),
        _disk(settings.store.path),
        _store(settings.store.path),
        _server(),
        _taxonomy(),
    ]
    table = Table("check", "state", "found", "what to do", box=None, pad_edge=False)
    for check in checks:
        # rich reads [..] as markup: advice such as '.[nuscenes]' must stay as it is
        table.add_row(*map(escape, (check.name, check.state, check.found, check.advice)))
    shown = plain_text(table)
    document = {"checks": [asdict(check) for check in checks]}
    broken = [check.name for check in checks if check.state == "broken"]
    if broken:
        text = f"broken: {', '.join(broken)}; the table says what to do"
        raise NoError(text, document, shown)
    say(document, shown, as_json)


def _python() -> Check:
    found = f"Python {platform.python_version()}, exceptiondrive {_version('exceptiondrive') or 'from a checkout'}"
    good = sys.version_info[:2] == (3, 11)
    return Check("python", "ok" if good else "broken", found, "" if good else "install Python 3.11")


def _extras() -> Iterable[Check]:
    for extra, names in EXTRAS.items():
        versions = {name: _version(name) for name in names}
        found = ", ".join(f"{name} {version or 'missing'}" for name, version in versions.items())
        there = all(versions.values())
        advice = "" if there else f"pip install -c constraints.txt -e '.[{extra}]' where you need it"
        yield Check(f"extra {extra}", "ok" if there else "missing", found, advice)


def _gpu() -> Check:
    cards = sorted(Path("/proc/driver/nvidia/gpus").glob("*"))
    if cards:
        return Check("gpu", "ok", f"{len(cards)} NVIDIA")
    return Check("gpu", "missing", "none", "only neural back ends need one; rule back ends run anywhere")


def _disk(folder: Path) -> Check:
    there = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(there).free
    enough = free >= ENOUGH_DISK_BYTES
    return Check(
        "disk", "ok" if enough else "broken", f"{free / 2**30:.1f} GiB free at {there}", "" if enough else "free 2 GiB"
    )


def _store(folder: Path) -> Check:
    from data_registry.blobs import StorageFullError
    from data_registry.ledger import LedgerUnavailableError
    from data_registry.store import Store

    if not Store.is_at(folder):  # opening one would make it
        return Check("store", "missing", f"no store at {folder}", "the first build makes it")
    try:
        with Store.at(folder):
            return Check("store", "ok", str(folder))
    except (LedgerUnavailableError, StorageFullError) as error:
        return Check("store", "broken", str(folder), str(error))


def _server() -> Check:
    from flows.server import is_healthy

    url = os.environ.get("PREFECT_API_URL")
    if url is None:
        return Check("prefect", "ok", "no PREFECT_API_URL: builds start a private server")
    if is_healthy(url):
        return Check("prefect", "ok", url)
    return Check("prefect", "broken", f"{url} does not answer", "start that server, or unset PREFECT_API_URL")


def _taxonomy() -> Check:
    from prompts.taxonomy import TaskFileError, load_taxonomy

    try:
        return Check("taxonomy", "ok", f"{len(load_taxonomy())} tasks")
    except TaskFileError as error:
        return Check("taxonomy", "broken", "task files", str(error))


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
