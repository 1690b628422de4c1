"""Where tests evaluate planners on the session's release without writing beside the demo's own."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from data_registry.release import Release, open_release
from flows.cli import app
from flows.evaluate_release import evaluate_release
from flows.server import PrefectServer
from tasks.evaluation import OpenedEvaluation, read_evaluation
from tests.flows.builds import Place
from tests.flows.whole_demo import Demo


@dataclass(frozen=True)
class Arena:
    """The session's release where evaluations may be written beside it, and a store of its own."""

    place: Place
    release: Path

    @property
    def settings(self) -> list[str]:
        return [f"source.root={self.place.logs}", "source.version=v1.0-streetset", "run.poll_s=0.5", "run.lease_s=20"]

    @property
    def words(self) -> list[str]:
        """The command line's options for the logs and the store."""
        return ["--store", str(self.place.store), *(word for value in self.settings for word in ("--set", value))]

    def parameters(self, **more: Any) -> dict[str, Any]:
        return {"release": str(self.release), "set": self.settings, "store": str(self.place.store), **more}

    def evaluate(self, **more: Any) -> dict[str, Any]:
        return evaluate_release(**self.parameters(**more))  # type: ignore[no-any-return]

    def opened(self, name: str = "default") -> OpenedEvaluation:
        return read_evaluation(self.release.parent / f"{self.release.name}.evaluations" / name, self.content)

    @property
    def content(self) -> Release:
        return open_release(self.release)


def arena_at(folder: Path, demo: Demo, server: PrefectServer) -> Arena:
    """Lay the demo's release out anew in a folder, by hard links."""
    made = Path(demo.made["path"])
    releases = folder / "releases" / made.parent.name
    shutil.copytree(made.resolve(), releases / made.resolve().name, copy_function=os.link)
    (releases / made.name).symlink_to(made.resolve().name)
    return Arena(Place(folder, demo.logs, server), releases / made.name)


def run_command(*words: str) -> Result:
    """Run the command line in this process."""
    return CliRunner(env={"COLUMNS": "100"}).invoke(app, list(words))


def write_cases(arena: Arena, folder: Path) -> Path:
    """Write cases.jsonl and regions.jsonl into a folder, as a planner author gets them; return it."""
    done = run_command("cases", str(arena.release), str(folder), *arena.words)
    assert done.exit_code == 0, done.output
    return folder
