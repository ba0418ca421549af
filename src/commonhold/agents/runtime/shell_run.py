"""A running shell command: its data from its beginning to its end."""

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from commonhold.agents.runtime.write_protection import NOBODY, Asked, Leave
from commonhold.client.session import Commonhold
from commonhold.machine.system import is_running
from commonhold.shell.held_paths import Holding, is_in_any
from commonhold.shell.reach import Reach
from commonhold.workspace.survey import Survey, Surveyor

_PROCESSES: Final = Path("/proc")
Node = tuple[int, int]
"""The identity of a file on its disk, whatever its names."""


def nodes_of(root: str, masked: Iterable[Holding]) -> dict[str, Node | None]:
    """Return the identities of the files, not folders, that a command must not write; None for one that is gone."""
    paths = (each.path for each in masked if each.path and not each.path.endswith("/"))
    return {path: _node_at(root, path) for path in paths}


def _node_at(root: str, path: str) -> Node | None:
    with suppress(OSError):
        status = Path(root, path).lstat()
        return status.st_dev, status.st_ino
    return None


@dataclass(eq=False, slots=True)
class Run:
    """A command in one working tree. `leave` holds the files that it must not write, `named` the paths that it names.

    `begun_ns` is the time at which it began and `ended_ns` that at which it ended, if its launcher has reported it
    (wall time); `head` is the commit of HEAD at the last look, `told` the texts for its agent, `launcher` the process
    that waits for it. `nodes` are the masked files as they were at the beginning. A command that `is_doubtful` may not
    have run at all, or may have ended long ago. One that `is_restored` was begun under an earlier daemon; until it
    `is_settled`, this one has not looked at its writes. `conceded` are the contents of files that another command left
    without a session at its end, since this one could have written them as well.
    """

    asked: Asked
    session: Commonhold
    leave: Leave
    named: tuple[str, ...]
    surveyor: Surveyor
    sequence: int
    before: Survey
    begun_ns: int
    head: str
    told: list[str]
    launcher: str = ""
    ended_ns: int = 0
    is_doubtful: bool = False
    is_restored: bool = False
    is_settled: bool = True
    turn: threading.Lock = field(default_factory=threading.Lock)
    nodes: Mapping[str, Node | None] = field(default_factory=dict)
    conceded: dict[str, str | None] = field(default_factory=dict)

    def is_alive(self) -> bool:
        """Whether its launcher still exists, as far as that can be known."""
        if self.asked.process == NOBODY:
            return not self.is_restored
        return not Path(_PROCESSES, "self").exists() or is_running(self.launcher)

    def reach(self, path: str) -> Reach:
        """Return how likely it writes a file."""
        if self._is_kept_from(path):
            return Reach.NOTHING
        found = Reach.NAMED if is_in_any(path, self.named) else self.leave.reach
        return min(found, Reach.ANYTHING) if self.is_doubtful else found

    def _is_kept_from(self, path: str) -> bool:
        """Whether it was kept from a file until now: the kernel unmounts a file once another one replaces it."""
        around = {each.path for each in self.leave.masked if is_in_any(path, [each.path])}
        if around != {path} or path not in self.nodes:
            return bool(around)
        was = self.nodes[path]
        return was is not None and was == _node_at(self.session.root, path)
