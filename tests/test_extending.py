"""docs/extending.md, followed to the letter in a copy of the checkout: its files, its changes, its commands."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flows.server import PrefectServer

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "extending.md"
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block of the guide: its language, what else its first line says, and its text."""

    language: str
    options: dict[str, str]
    body: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks below the comment that documents them."""
    start = text.index("-->") + len("-->")
    for found in FENCE.finditer(text, start):
        language, *options = str(found["info"]).split()
        named = {option.partition("=")[0]: option.partition("=")[2] for option in options}
        yield Block(language, named, found["body"], text.count("\n", 0, found.start()) + 1)


@dataclass
class Reader:
    """Someone who does what the guide says, in a folder of their own."""

    folder: Path
    environment: dict[str, str]
    output: str = ""

    def follow(self, block: Block) -> None:
        """Do what one block asks for; fails with the block's line in the guide."""
        where = f"{GUIDE.name}:{block.line}"
        if "file" in block.options:
            self._write(self.folder / block.options["file"], block.body)
        elif block.language == "diff":
            done = self._run(["git", "apply", "-"], block.body)
            assert done.returncode == 0, f"{where} does not apply:\n{done.stdout}"
        elif block.language == "sh":
            done = self._run(["bash", "-euo", "pipefail", "-c", block.body])
            self.output = done.stdout
            wanted = int(block.options.get("exit", "0"))
            assert done.returncode == wanted, f"{where} ended with {done.returncode}:\n{done.stdout}"
        elif block.language == "text":
            printed = [_plain(line) for line in self.output.splitlines()]
            missing = [line for line in block.body.splitlines() if not any(_plain(line) in found for found in printed)]
            assert not missing, f"{where}: not in the output: {missing}\n{self.output}"
        else:
            pytest.fail(f"{where}: a block must be sh, text, diff, or have file=: {block.language!r}")

    def _write(self, path: Path, body: str) -> None:
        assert not path.exists(), f"the guide creates {path}, which is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")

    def _run(self, command: list[str], given: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )


def _plain(text: str) -> str:
    """A line with every run of blanks as one: columns may be wider elsewhere."""
    return " ".join(text.split())


@pytest.fixture
def reader(tmp_path: Path, street_root: Path, prefect_server: PrefectServer) -> Reader:
    """A copy of the checkout's tracked files with the embedded logs, and the commands that the guide uses."""
    folder = tmp_path / "checkout"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    shutil.copytree(street_root, folder / ".work" / "store" / "streetset")
    environment = {
        **os.environ,
        **prefect_server.environment,
        "PATH": os.pathsep.join([str(_commands(tmp_path / "bin")), os.environ["PATH"]]),
        "PYTHONPATH": str(folder),
        "GIT_CEILING_DIRECTORIES": str(tmp_path),  # git must not take a repository around for the reader's
        "COLUMNS": "200",
    }
    return Reader(folder, environment)


def _commands(folder: Path) -> Path:
    """What an activated environment puts first on the path."""
    folder.mkdir()
    for name, words in (("exceptiondrive", "-m flows.cli"), ("python", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.mark.timeout(600)  # some twenty processes; a busy machine starts each slowly
def test_the_guide_does_what_it_says(reader: Reader) -> None:
    for block in blocks(GUIDE.read_text(encoding="utf-8")):
        reader.follow(block)
