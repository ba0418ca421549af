"""What a command may write, left in a file before it runs: its agent may run it where nobody can be asked."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from commonhold.client.launching import foretold

IsShutOff = Callable[[str, str], bool]
"""Whether commands of an agent come to our launcher, and perhaps cannot ask there, in the working tree at a root."""
_PRIVATE: Final = 0o700


class Foretelling:
    """The files for the calls of a repository. Those of an earlier daemon are gone: it knows their calls no more."""

    def __init__(self, state_folder: str, is_for: IsShutOff) -> None:
        """Leave files in this folder; `is_for` says for whom."""
        self.is_for = is_for
        self._state_folder = state_folder
        shutil.rmtree(foretold.folder(state_folder), ignore_errors=True)

    def leave(self, holder: str, call: str, command: str, answer: Mapping[str, object]) -> None:
        """Leave what a launcher of this command is to be answered."""
        path = self._place(holder, call)
        path.parent.mkdir(_PRIVATE, exist_ok=True)
        path.write_text(json.dumps({**answer, "of": command}), encoding="ascii")

    def withdraw(self, holder: str, call: str) -> None:
        """Leave nothing for a call any more."""
        self._place(holder, call).unlink(missing_ok=True)

    def _place(self, holder: str, call: str) -> Path:
        return Path(foretold.place(self._state_folder, holder, call))
