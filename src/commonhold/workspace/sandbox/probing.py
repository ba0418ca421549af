"""Find out which sandbox works on this machine, by trying each in a separate process."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from commonhold.workspace.sandbox import bubblewrap

_PATIENCE_SECONDS: Final = 30.0
_TRY: Final = (
    f"import os, sys; sys.path.append({str(Path(__file__).parents[1])!r}); import sandbox.mounts as it; "
    "before = open('/proc/self/uid_map').read(); it.mask(['/'], []); "
    "print('mounts' if open('/proc/self/uid_map').read() == before else 'namespaces', flush=True); os._exit(0)"
)


@dataclass(frozen=True, slots=True)
class Offer:
    """The means to make files read-only for one command: `name` is for people. Empty: there are none.

    `has_own_users`: programs that need rights of other users do not work in it. `program` is the bubblewrap to run, if
    it is that one.
    """

    name: str = ""
    has_own_users: bool = False
    program: str = ""

    @property
    def is_enforced(self) -> bool:
        """Whether any method works."""
        return bool(self.name)


NONE: Final = Offer()
_FOUND: Final = {
    "mounts": Offer("mounts"),
    "namespaces": Offer("mounts in a user namespace", has_own_users=True),
}


class _UntriedError(Exception):
    """A trial did not end in time, or could not begin: the machine is busy, so another one may succeed."""


def offered() -> Offer:
    """Return the best that works here. It is found once, unless the machine is too busy: then NONE, for this time."""
    try:
        return _found_once()
    except _UntriedError:
        return NONE


@cache
def _found_once() -> Offer:
    if sys.platform != "linux":
        return NONE
    if found := _FOUND.get(_said(sys.executable, "-I", "-S", "-c", _TRY)):
        return found
    program = shutil.which("bwrap") or ""
    if program and _said(*bubblewrap.prefix(program), "echo", "works") == "works":
        return Offer("bubblewrap", has_own_users=True, program=program)
    return NONE


def _said(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False, cwd=os.sep
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise _UntriedError from fault
    return done.stdout.strip() if done.returncode == 0 else ""
