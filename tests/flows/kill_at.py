"""Runs the command line and kills it with SIGKILL at a fault point: `python kill_at.py POINT COUNT WORDS..`.

The points are places between two effects that a crash can separate; the product knows nothing of them.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


class _Countdown:
    def __init__(self, count: int) -> None:
        self.left = count

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _before(owner: Any, name: str, countdown: _Countdown) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    def patched(*args: Any, **kwargs: Any) -> Any:
        countdown.step()
        return original(*args, **kwargs)

    setattr(owner, name, patched)


def _after(owner: Any, name: str, countdown: _Countdown) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    def patched(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        countdown.step()
        return made

    setattr(owner, name, patched)


def _around_rename(part: str, countdown: _Countdown, when: Callable[..., None]) -> None:
    """Watch renames onto paths that contain `part`, however they are made."""
    for owner, name in ((os, "rename"), (os, "replace"), (Path, "rename"), (Path, "replace"), (os, "symlink")):
        original = getattr(owner, name)

        def patched(source: Any, target: Any, *args: Any, _original: Any = original, **kwargs: Any) -> Any:
            hit = part in str(target)
            if hit and when is _before:
                countdown.step()
            made = _original(source, target, *args, **kwargs)
            if hit and when is _after:
                countdown.step()
            return made

        setattr(owner, name, patched)


def arm(point: str, countdown: _Countdown) -> None:
    """Put the countdown at a fault point."""
    from data_registry.blobs import Blobs
    from data_registry.ledger import Ledger
    from tasks.construction import Construction

    match point:
        case "before-row":  # blobs are there, the row is not
            _before(Ledger, "commit", countdown)
        case "after-row":  # the row is there, Prefect does not know
            _after(Ledger, "commit", countdown)
        case "after-blob":
            _after(Blobs, "put", countdown)
        case "before-draw":  # all is decided that suits, nothing is drawn for auxiliary yet
            _before(Construction, "draw", countdown)
        case "before-publish-rename":
            _around_rename("/releases/", countdown, _before)
        case "after-publish-rename":
            _around_rename("/releases/", countdown, _after)
        case "before-index-rename":
            _around_rename("/index/", countdown, _before)
        case "after-index-rename":
            _around_rename("/index/", countdown, _after)
        case _:
            raise SystemExit(f"no fault point {point}")


def main() -> None:
    """Arm the fault point and run the command line."""
    point, count, *words = sys.argv[1:]
    arm(point, _Countdown(int(count)))
    sys.argv[1:] = words
    from flows.cli import main as run

    run()


if __name__ == "__main__":
    main()
