"""A workspace, a server of our own that may misbehave, and a look at what processes are left."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_SECONDS, until
from tests.processes import is_alive

from commonhold.code.type_checkers import TypeReport
from commonhold.typecheck import Patience, ServerChecker
from commonhold.typecheck.server import Pull, Push, Server

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
PATIENT = Patience(60, 60)
QUIET_SECONDS = {"push for ever": PATIENCE_SECONDS}
"""A server that is only slow must not be taken for one that came to rest."""


@dataclass
class Rig:
    """A folder of `.fake` files, and the checkers that were made for it."""

    root: Path
    pids: Path
    checkers: list[ServerChecker] = field(default_factory=list)

    def checker(self, mode: str = "pull", patience: Patience = PATIENT, **more: Any) -> ServerChecker:
        checker = ServerChecker(self.server(mode), str(self.root), self.environment(), patience=patience, **more)
        self.checkers.append(checker)
        return checker

    def server(self, mode: str) -> Server:
        return Server(
            name="fake",
            languages={".fake": "fake"},
            program="fake-server",
            arguments=(mode,),
            install="npm install fake",
            settings={"fake": 7},
            diagnostics=Push(QUIET_SECONDS.get(mode, 0.3)) if mode.startswith("push") else Pull(),
            ground=("fake.toml",),
        )

    def environment(self) -> Mapping[str, str]:
        """Where a program named fake-server is on PATH."""
        folder = self.root.parent / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "fake-server"
        if not program.exists():
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{FAKE_SERVER}" "$@"\n')
            program.chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}", "FAKE_PIDS": str(self.pids)}

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.fake").write_text(text)

    def started(self) -> list[int]:
        """All processes that servers ever were."""
        return [int(line) for line in self.pids.read_text().split()] if self.pids.exists() else []

    def close(self) -> None:
        """End the checkers; none of the processes may be left."""
        for checker in self.checkers:
            checker.close()
        until(lambda: not any(map(is_alive, self.started())))


def said(report: TypeReport) -> list[str]:
    """The new complaints, as `path:line message`."""
    return [f"{one.path}:{one.line} {one.message}" for one in report.new]
