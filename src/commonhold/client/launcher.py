"""How to call the launcher of shell commands, and the folder of the program that stands in for git in them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LAUNCHER: Final = str(Path(__file__).with_name("launch.py"))
STAND_IN: Final = str(Path(__file__).with_name("git_stand_in.py"))


def launching(socket: str, holder: str, when_down: str, command: Sequence[str]) -> list[str]:
    """Return the command line that runs a command through the launcher; `socket` is the daemon's HTTP socket."""
    return [sys.executable, "-I", "-S", LAUNCHER, socket, holder, when_down, *command]
