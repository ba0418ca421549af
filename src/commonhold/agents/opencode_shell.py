"""The shell that OpenCode passes commands to: only a bash can be made to pass them on to our launcher."""

import shutil
from pathlib import Path
from typing import Final

from commonhold.agents.json_text import setting

_PLACES: Final = ("opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json")
_AT_HOME: Final = ".config/opencode"
_LEFT_OUT: Final = ("fish", "nu")


def obstacle(root: str, home: str, login_shell: str) -> str:
    """Return why its commands in the working tree at `root` do not reach the launcher; empty if they do."""
    places = [f"{root}/{place}" for place in _PLACES] + [f"{home}/{_AT_HOME}/{place}" for place in _PLACES[:2]]
    wished = next(filter(None, map(_named, places)), login_shell)
    # It takes a bash, or else /bin/sh, if the configured shell is absent or is none that it can use.
    is_used = Path(wished).name not in _LEFT_OUT and shutil.which(wished) is not None
    name = Path(wished).name if is_used else "bash" if shutil.which("bash") else "sh"
    return "" if name == "bash" else f"OpenCode uses {name} here, and only bash can give commands to the launcher"


def _named(place: str) -> str:
    """Return the shell that settings name; empty if they cannot be read."""
    value = setting(place, "shell")
    return value if isinstance(value, str) else ""
