"""Running a command that is kept to what it may write, as the launcher does."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import commonhold

_ADAPTERS: Final = Path(commonhold.__file__).with_name("adapters")
_CONFINE: Final = f"""
import os, sys
sys.path.append({str(_ADAPTERS)!r})
from sandbox import confining
lists = [list(filter(None, words.split(":"))) for words in sys.argv[1:4]]
confining.confine(*lists)
os.execvp(sys.argv[4], sys.argv[4:])
"""


@dataclass(frozen=True)
class Confined:
    """What a command may write, below the folder `root`: paths are relative to it."""

    root: Path
    writable: Sequence[str] = ()
    masked: Sequence[str] = ()

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the root."""
        lists = [
            [str(self.root)],
            *([str(self.root / path) for path in paths] for paths in (self.writable, self.masked)),
        ]
        words = [":".join(paths) for paths in lists]
        confine = [sys.executable, "-I", "-S", "-c", _CONFINE, *words]
        return subprocess.run([*confine, *command], cwd=self.root, capture_output=True, text=True, check=False)

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of shell in the root."""
        return self.run("bash", "-c", line)
