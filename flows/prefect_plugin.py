"""Start-up plugin of Prefect: `prefect deployment run NAME` means NAME/NAME.

Prefect wants FLOW/DEPLOYMENT. Our flows and deployments share one name, so the bare name is enough. Prefect offers no
hook for this, but its start-up hook runs before the command line is parsed, so the name is completed in `sys.argv`:
only for `prefect [--profile P] deployment run|inspect NAME`, and only when NAME is a plain word. Everything else stays
as it is. The hook's interface is 0.1 in Prefect 3.9; the long form FLOW/DEPLOYMENT works without it.

Enabled by `[plugins] enabled = true` in prefect.toml, outside the checkout by PREFECT_PLUGINS_ENABLED=true.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import PurePath

from prefect.plugins import HookContext, SetupResult, register_hook

PREFECT_PLUGIN_API_REQUIRES = ">=0.1,<1"
_COMMANDS = {"run", "inspect"}
_BARE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_ROOT_OPTIONS_WITH_VALUE = {"--profile", "-p"}


def complete_name(arguments: Sequence[str]) -> list[str]:
    """Returns a command line with a bare deployment name completed; any other command line as it is.

    The name must be the first word after the command, as in Prefect's own help: `deployment run NAME [options]`.
    """
    words = list(arguments)
    if not words or PurePath(words[0]).name not in {"prefect", "prefect.exe", "__main__.py", "-m", "-c"}:
        return words
    at = _command_at(words)
    if words[at : at + 1] != ["deployment"] or not set(words[at + 1 : at + 2]) & _COMMANDS:
        return words
    name = words[at + 2] if len(words) > at + 2 else ""
    if _BARE_NAME.fullmatch(name):
        words[at + 2] = f"{name}/{name}"
    return words


def _command_at(words: Sequence[str]) -> int:
    """Returns the index of the first word that is neither a root option nor its value."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _ROOT_OPTIONS_WITH_VALUE else 1
    return at


@register_hook
def setup_environment(*, ctx: HookContext) -> SetupResult | None:
    """Completes the name in `sys.argv`; changes no environment. Prefect accepts `ctx` by keyword only."""
    sys.argv[:] = complete_name(sys.argv)
    return None
