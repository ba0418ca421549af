"""How the launcher of shell commands is called, and where what stands in for git in them is."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LAUNCHER: Final = str(Path(__file__).with_name("launch.py"))
STAND_IN: Final = str(Path(__file__).with_name("stand_in.py"))


def launching(socket: str, holder: str, when_down: str, command: Sequence[str]) -> list[str]:
    """The words that run a command through the launcher; `socket` is where the daemon speaks HTTP."""
    return [sys.executable, "-I", "-S", LAUNCHER, socket, holder, when_down, *command]
