"""Prefect's own command line, as the tests of this folder use it."""

import os
import subprocess
import sys
from pathlib import Path


def prefect_command(*words: str, environment: dict[str, str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Runs `prefect WORDS` as a user would, with an environment of its own."""
    command = [str(Path(sys.executable).with_name("prefect")), *words]
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment, "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
