"""Checks as commands: the default validator of a run, and the tests of a batch of the merge queue."""

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.coordinator.command_roles import AGENT
from commonhold.coordinator.merge_queue import CheckReport
from commonhold.coordinator.processes import run_command
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import ItemRequest, Stop, Verdict
from commonhold.workspace.checks import WORKTREE
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.scratch import TreeCopy

Fill = Callable[[str], None]
"""Copy the project into an empty folder."""
_LOOK_SECONDS: Final = 1.0


def run_checks(
    checks: Sequence[str], folder: str, env: dict[str, str], seconds: float, stop: Stop, fill: Fill | None = None
) -> CheckReport:
    """Run checks, each for at most `seconds`, in their order up to the first that fails.

    They run in `folder`; with `fill`, in a copy that it makes.
    """
    if not checks:
        return CheckReport(passed=True)
    with ExitStack() as stack:
        if fill is not None:
            scratch = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="commonhold-run-", ignore_cleanup_errors=True)
            )
            copy = Path(scratch, "copy")
            copy.mkdir()
            folder = str(copy)
            fill(folder)
        for check in checks:
            ended = run_command(("/bin/sh", "-c", check), folder, env, b"", seconds, stop)
            if ended.status != 0:
                why = ended.why or f"exit status {ended.status}"
                is_stopped = ended.status is None and stop.is_set()
                return CheckReport(passed=False, check=check, why=why, output=ended.tail, is_stopped=is_stopped)
    return CheckReport(passed=True)


@dataclass(frozen=True, slots=True)
class CheckValidator:
    """Passes if every check of the task, then every check of the run, exits with 0 within `seconds`.

    With `fill` the checks run in a copy that is made for each item, so that files written by a check disturb no editor,
    and files that change meanwhile disturb no check; otherwise in the working tree.
    """

    seconds: float
    fill: Fill | None = None

    def validate(self, request: ItemRequest, stop: Stop) -> Verdict:
        """Run the checks in their order, up to the first that fails."""
        checks = (*request.task.checks, *request.run.checks)
        found = run_checks(checks, request.root, {AGENT: request.item.session}, self.seconds, stop, self.fill)
        if found.passed:
            return Verdict(passed=True)
        printed = f": {found.output}" if found.output else ""
        return Verdict(passed=False, why=one_line(f"the check `{found.check}` failed ({found.why}){printed}"))


@dataclass(frozen=True, slots=True)
class TreeChecks:
    """Checks on commits of the repository at `root`: `everywhere` are those that every tree must pass.

    Each report is made on a fresh copy of the tree, without history. The commands get the path of the working tree, for
    ignored files, which no copy has.
    """

    root: str
    everywhere: tuple[str, ...]
    seconds: float

    def report(self, commit: str, checks: Sequence[str], stop: Stop) -> CheckReport:
        """Run checks on the tree of a commit; see `ChecksPort`."""
        fill = TreeCopy(Git(self.root), commit)
        return run_checks(checks, self.root, {WORKTREE: self.root}, self.seconds, _Paced(stop), fill)


class _Paced:
    """Asks another sign only once in a while: asking the merge queue takes a call."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._is_set = False
        self._next = time.monotonic() + _LOOK_SECONDS

    def is_set(self) -> bool:
        if not self._is_set and time.monotonic() >= self._next:
            self._is_set = self._stop.is_set()
            self._next = time.monotonic() + _LOOK_SECONDS
        return self._is_set

    def wait(self, timeout: float | None = None) -> bool:
        return self._stop.wait(timeout)
