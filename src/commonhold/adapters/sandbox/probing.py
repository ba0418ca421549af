"""Which sandbox there is: found out by trying it, in a process of its own."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from commonhold.adapters.sandbox import bubblewrap, confining

_PATIENCE_SECONDS: Final = 10.0
_TRY: Final = (
    f"import sys; sys.path.append({str(Path(__file__).parents[1])!r}); import sandbox.confining as it; it.tell()"
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What can keep a command from writing: `name` is for people.

    `can_mask`: what is inside a writable folder can be taken out again. `program` is the bubblewrap to be run, if it is
    that one.
    """

    name: str
    is_enforced: bool
    can_mask: bool
    program: str = ""


NONE: Final = Offer(confining.NOTHING, is_enforced=False, can_mask=False)


@cache
def offered() -> Offer:
    """The best that works here."""
    if sys.platform != "linux":
        return NONE
    found = _said(sys.executable, "-I", "-S", "-c", _TRY)
    if found in {confining.MASKED, confining.LANDLOCK}:
        return Offer(found, is_enforced=True, can_mask=found == confining.MASKED)
    program = shutil.which("bwrap") or ""
    if program and _said(*bubblewrap.prefix(program, bubblewrap.Bounds()), "echo", "works") == "works":
        return Offer("bubblewrap", is_enforced=True, can_mask=True, program=program)
    return NONE


def _said(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False, cwd=os.sep
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
