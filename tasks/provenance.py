"""What made a release: the checkout, the packages, the machine and the settings, for lock.json.

Nothing here is part of a release's digest or of any key. A checkout that cannot be asked (an installed wheel, no git)
is said to be unknown; no secret is ever written, neither in a URL nor among the settings.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

CHECKOUT: Final = Path(__file__).resolve().parent.parent
_GIT_TIMEOUT_S: Final = 10.0
_SECRET: Final = re.compile(r"(?i)(password|passwd|secret|token|api_?key|credential|authorization)s?$")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]+")


def provenance(
    settings: Mapping[str, Any], run: Mapping[str, Any] | None = None, checkout: Path = CHECKOUT
) -> dict[str, Any]:
    """Return what lock.json says about the making of a release, as JSON.

    Args:
        settings: the resolved settings of the build, as JSON; values under names such as `password` are left out.
        run: who ran it: flow run, deployment, workers; any JSON.
        checkout: folder of the code.
    """
    return {
        "git": git_state(checkout),
        "packages": packages(),
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "architecture": platform.machine()},
        "settings": without_secrets(settings),
        "run": without_secrets(dict(run or {})),
        "made_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def git_state(checkout: Path) -> dict[str, Any]:
    """Return origin (no credentials, None for a folder), commit, whether files were changed; None if git cannot say."""
    status = _git(checkout, "status", "--porcelain", "--untracked-files=no")
    origin = _git(checkout, "remote", "get-url", "origin")
    return {
        "origin": strip_credentials(origin) if origin and not _is_folder(origin) else None,
        "commit": _git(checkout, "rev-parse", "HEAD"),
        "dirty": None if status is None else bool(status),
    }


def _is_folder(origin: str) -> bool:
    """Tell whether an origin is a path of this machine: nobody else can fetch from it, and it says who works where."""
    return origin.startswith(("/", ".", "~", "file:")) or Path(origin).exists()


def packages() -> dict[str, str]:
    """Return the version of every installed distribution by its normalised name."""
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found[re.sub(r"[-_.]+", "-", name).lower()] = distribution.version
    return dict(sorted(found.items()))


def strip_credentials(url: str) -> str:
    """Return a URL without user, password, query and fragment; what is no URL with a scheme loses what precedes an @.

    >>> strip_credentials("https://me:token@example.org/a/b.git?key=1")
    'https://example.org/a/b.git'
    >>> strip_credentials("git@example.org:a/b.git")
    'example.org:a/b.git'
    """
    if "://" not in url:
        return url.rpartition("@")[2]
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return url.partition("://")[0] + "://..."


def without_secrets(value: Any) -> Any:
    """Return JSON with values of secret-sounding names left out and credentials cut from URLs."""
    if isinstance(value, Mapping):
        items: Mapping[Any, Any] = value
        return {
            str(key): "(left out)" if _SECRET.search(str(key)) else without_secrets(one) for key, one in items.items()
        }
    if isinstance(value, list | tuple):
        listed: list[Any] | tuple[Any, ...] = value
        return [without_secrets(one) for one in listed]
    if isinstance(value, str):
        return _URL.sub(lambda match: strip_credentials(match[0]), value)
    return value


def _git(checkout: Path, *arguments: str) -> str | None:
    """Ask git about a checkout, never about a repository above it; None when it cannot say."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CEILING_DIRECTORIES": str(checkout.parent), "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(checkout), *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
