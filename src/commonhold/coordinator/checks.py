"""Checks as commands: the default validator of a run, and the tests of a batch of the merge queue."""

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from commonhold.coordinator.command_roles import AGENT
from commonhold.coordinator.processes import Ended, run_command
from commonhold.coordinator.queue_ports import Build, CheckReport
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import ItemRequest, Stop, Verdict
from commonhold.coordinator.scratch_folders import SCRATCH, scratch_folder
from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace.checks import WORKTREE
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.scratch import TreeCopy

Fill = Callable[[str], None]
"""Copy the project into an empty folder."""
_LOOK_SECONDS: Final = 1.0
_LOOK_FOR_END_SECONDS: Final = 0.05
_NOT_RUN: Final = (126, 127)
"""The statuses by which a shell says that it could not run a command."""
_LEAST_FREE_BYTES: Final = 1_000_000


def run_checks(
    checks: Sequence[str], folder: str, env: dict[str, str], seconds: float, stop: Stop, fill: Fill | None = None
) -> CheckReport:
    """Run checks, each for at most `seconds`, in their order up to the first that fails.

    They run in `folder`; with `fill`, in a copy that it makes. Raises StoreError `DISK_FULL`, and OSError if there can
    be no copy.
    """
    if not checks:
        return CheckReport(passed=True)
    with ExitStack() as stack:
        if fill is not None:
            folder = stack.enter_context(scratch_folder())
            env = {**env, SCRATCH: folder}
            try:
                fill(folder)
            except StoreError as fault:
                _require_space(folder)
                return CheckReport(passed=False, why=one_line(fault))
        for check in checks:
            ended = run_command(("/bin/sh", "-c", check), folder, env, b"", seconds, stop)
            if ended.status != 0:
                _require_space(folder)
                return _report(check, ended, stop)
    return CheckReport(passed=True)


def _report(check: str, ended: Ended, stop: Stop) -> CheckReport:
    return CheckReport(
        passed=False,
        check=check,
        why=ended.why or f"exit status {ended.status}",
        output=ended.tail,
        is_stopped=ended.status is None and stop.is_set(),
        may_be_machine=ended.status in _NOT_RUN,
    )


def _require_space(folder: str) -> None:
    """Raise StoreError `DISK_FULL` if that explains why a check has failed in `folder`."""
    if shutil.disk_usage(folder).free < _LEAST_FREE_BYTES:
        raise StoreError(
            Code.DISK_FULL,
            f"the disk of {folder} is full, so checks cannot run there",
            hint="free some space, or set TMPDIR to a folder on another disk",
        )


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

    Each report is made on a fresh copy of its tree, without history. The commands get the path of the working tree, for
    ignored files, which no copy has.
    """

    root: str
    everywhere: tuple[str, ...]
    seconds: float

    def reports(self, trees: Sequence[Build], stop: Stop) -> tuple[CheckReport, ...]:
        """Run checks on the trees of commits; see `ChecksPort`."""
        paced, end = _Paced(stop), threading.Event()
        if len(trees) == 1:
            return (self._report(trees[0], paced),)
        with ThreadPoolExecutor(len(trees), thread_name_prefix="commonhold-check") as pool:
            running = [pool.submit(self._report, each, end) for each in trees]
            try:
                # `stop` is asked in this thread alone: its answer may need a call, which two threads must not make.
                while wait(running, _LOOK_FOR_END_SECONDS).not_done:
                    first = running[0]
                    if paced.is_set() or (first.done() and (first.exception() or first.result().passed)):
                        end.set()
            finally:
                end.set()
        return tuple(each.result() for each in running)

    def _report(self, tree: Build, stop: Stop) -> CheckReport:
        fill = TreeCopy(Git(self.root), tree.commit)
        return run_checks(tree.checks, self.root, {WORKTREE: self.root}, self.seconds, stop, fill)


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
