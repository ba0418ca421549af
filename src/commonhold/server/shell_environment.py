"""What the shells of sessions find beside git: our command, and the name of the session that calls it there."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from commonhold.server.shell_programs import with_program_alone

FOLDER: Final = "bin"
_PROGRAMS: Final = "COMMONHOLD_PROGRAMS"


def with_our_command(state_folder: str, holder: str, environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which `commonhold` is the command of this daemon, and acts for `holder`."""
    first = filter(None, (environment.get(_PROGRAMS), str(programs(state_folder))))
    named = dict.fromkeys(("COMMONHOLD_AGENT", "COMMONHOLD_HOLDER"), holder)
    return {**environment, **named, _PROGRAMS: os.pathsep.join(first)}


def programs(state_folder: str) -> Path:
    """The folder with `commonhold` in it, made if need be.

    It asks the daemon that watches over the command, whatever the settings say.
    """
    words = (sys.executable, "-I", "-m", "commonhold")
    text = f'#!/bin/sh\nCOMMONHOLD_DAEMON=on exec {shlex.join(words)} "$@"\n'
    return with_program_alone(Path(state_folder, FOLDER), "commonhold", text)
