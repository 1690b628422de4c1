"""Commands that look at a release: verify, materialize, show, report screening."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from data_registry.manifest import MANIFEST, ReleaseError
from data_registry.materialize import materialize, require_pairs
from data_registry.release import ReleaseMissingError, open_release
from data_registry.tables import TableError
from data_registry.verify import verify
from flows.assembly import open_source, require_logs_of
from flows.commanding import bars
from flows.exits import NoError, counted, say
from flows.options import BuildOptions
from flows.places import require_folder_place
from flows.progress import tell
from flows.screening_text import as_text
from tasks.screening_report import screening_report
from tasks.show import Explanation, UnknownCombinationError, show

RELEASES = "releases"
"""Folder below the current one that builds publish into unless the settings say else."""
SHOWN_PROBLEMS = 10
"""Problems that verify prints; its JSON has all that were kept."""


def verify_release(path: Path, deep: bool, as_json: bool) -> None:
    """Verify a release and print what was found; the answer is no when there is a problem."""
    report = verify(path, deep)
    document = {**dataclasses.asdict(report), "path": str(report.path), "ok": report.ok}
    size = f"{report.files} files, {report.size_bytes / 2**20:.1f} MiB"
    if report.ok:
        say(document, f"{path} verifies{' deeply' if deep else ''}: {size}\ndigest {report.digest}", as_json)
        return
    lines = [f"  {problem.where}: {problem.what}" for problem in report.problems[:SHOWN_PROBLEMS]]
    if report.count > len(lines):
        lines.append(f"  ... and {report.count - len(lines)} more")
    head = f"{path} does not verify (its manifest lists {size}), {counted(report.count, 'problem')}:"
    help_ = "fetch it again, regenerate it with `exceptiondrive build`, or remove what is not its own"
    raise NoError(f"{path} does not verify: {help_}", document, "\n".join([head, *lines]))


def materialize_release(path: Path, out: Path, options: BuildOptions, pairs: list[str] | None, as_json: bool) -> None:
    """Write a release's edited pictures, from its deltas and the logs that the settings name."""
    release = open_release(path)
    require_folder_place(out, "OUT")
    require_pairs(release, pairs or ())  # before the embedded logs are written
    settings = options.resolve()
    require_logs_of(release, settings)
    with bars():
        done = materialize(release, open_source(settings), out, pairs, lambda at, of: tell("materialize", at, of))
    document = {"folder": str(done.folder), "written": done.written, "there": done.there}
    say(document, f"{done.folder}: {done.written} pictures written, {done.there} were there", as_json)


def show_pair(pair: str, path: Path | None, as_json: bool) -> None:
    """Print how a combination was made and why it is in the release, or why not; `path` None: look for the release."""
    explanation = show(open_release(path), pair) if path else _found_below(Path(RELEASES), pair)
    say(explanation.as_json(), explanation.as_markdown().rstrip(), as_json)


def _found_below(folder: Path, pair: str) -> Explanation:
    """Look for a combination in all releases of a folder, the one published last first.

    Raises:
        ReleaseMissingError: there is none.
        UnknownCombinationError: none that can be read knows the combination.
        ReleaseCorruptError, ReleaseSchemaError, TableError: none can be read; what is wrong with the last one.
    """
    refused: list[ReleaseError | TableError] = []
    for path in _releases_below(folder):
        try:
            return show(open_release(path), pair)
        except (ReleaseError, TableError) as error:
            refused.append(error)
    unknown = [error for error in refused if isinstance(error, UnknownCombinationError)]
    if unknown:
        others = f"; nor do {counted(len(unknown) - 1, 'other release')} below {folder}" if unknown[1:] else ""
        raise UnknownCombinationError(f"{unknown[0]}{others}")
    if refused:
        raise refused[0]
    raise ReleaseMissingError(
        f"there is no release below {folder.absolute()}: build one, or name its folder with --release"
    )


def _releases_below(folder: Path) -> list[Path]:
    """Return the folders of all versions, `<folder>/<name>/<version>`, the one published last first."""
    manifests = (path for path in folder.glob(f"*/*/{MANIFEST}") if not path.parent.name.startswith("."))
    newest = sorted(manifests, key=lambda path: (-path.parent.stat().st_mtime, path.as_posix()))
    named: dict[Path, Path] = {}
    for manifest in newest:  # a pre-release version is a symlink to a folder that lies beside it
        place = manifest.parent.resolve()
        if place not in named or manifest.parent.is_symlink():
            named[place] = manifest.parent
    return list(named.values())


def report_screening(path: Path, as_json: bool) -> None:
    """Print how the whole taxonomy screened on a release's logs, and what became of every combination."""
    report = screening_report(open_release(path))
    say(report.as_json(), "" if as_json else as_text(report), as_json)
