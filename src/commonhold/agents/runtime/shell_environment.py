"""Our command in sessions' shells, beside git: the folder that holds it, and the holder for whom it acts."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from commonhold.agents.runtime.shell_programs import with_program_alone

FOLDER: Final = "bin"
_PROGRAMS: Final = "COMMONHOLD_PROGRAMS"


def with_our_command(state_folder: str, holder: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which `commonhold` is this daemon's command, and acts for `holder`."""
    first = filter(None, (environment.get(_PROGRAMS), str(programs(state_folder))))
    named = dict.fromkeys(("COMMONHOLD_AGENT", "COMMONHOLD_HOLDER"), holder)
    return {**environment, **named, _PROGRAMS: os.pathsep.join(first)}


def programs(state_folder: str) -> Path:
    """Return the folder with `commonhold` in it; create it if necessary.

    This command always calls the daemon, which watches the shell command, whatever the settings say.
    """
    words = (sys.executable, "-I", "-m", "commonhold")
    text = f'#!/bin/sh\nCOMMONHOLD_DAEMON=on exec {shlex.join(words)} "$@"\n'
    return with_program_alone(Path(state_folder, FOLDER), "commonhold", text)
