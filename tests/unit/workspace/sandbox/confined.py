"""Running a command to which others' files are read-only, as the launcher does."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import commonhold

_WORKSPACE: Final = Path(commonhold.__file__).with_name("workspace")
_CONFINE: Final = f"""
import ctypes, os, sys, warnings
sys.path.append({str(_WORKSPACE)!r})
from sandbox import mounts
user = int(sys.argv[1])
if user != os.geteuid():
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # its folder in /proc is its own again
mounts.mask(*([path for path in words.split(":") if path] for words in sys.argv[2:4]))
os.execvp(sys.argv[4], sys.argv[4:])
"""


@dataclass(frozen=True)
class Confined:
    """What is read-only to a command, below the folder `root`, and what in it is not; as the user with this number."""

    root: Path
    masked: Sequence[str] = ()
    kept: Sequence[str] = ()
    user: int = os.geteuid()

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the root."""
        lists = (":".join(str(self.root / path) for path in paths) for paths in (self.masked, self.kept))
        words = [sys.executable, "-I", "-S", "-c", _CONFINE, str(self.user), *lists, *command]
        return subprocess.run(words, cwd=self.root, capture_output=True, text=True, check=False)

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of shell in the root."""
        return self.run("bash", "-c", line)
