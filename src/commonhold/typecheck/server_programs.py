"""The program of a language server.

It is taken from beside our own interpreter or from PATH, where a user put it. A program that merely lies in a workspace
(`node_modules/.bin`) is never started: the author of the workspace could run code here. A user that wants that program
puts its folder on PATH.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from commonhold.machine.decoding import from_json
from commonhold.typecheck.server import Server

_NUMBERS: Final = re.compile(r"\d+")
_LARGEST_PACKAGE_BYTES: Final = 1_000_000


class _Package(msgspec.Struct):
    version: str = ""


def locate(server: Server, environment: Mapping[str, str]) -> str | None:
    """Return the path of its program; None if there is none that can be a server."""
    # Absolute folders alone: the meaning of a relative one is up to the owner of the current folder.
    on_path = environment.get("PATH", os.defpath).split(os.pathsep)
    folders = (os.path.dirname(sys.executable), *on_path)
    search_path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
    found = shutil.which(server.program, path=search_path)
    if found is not None and server.since and _numbers(npm_version(found)) < _numbers(server.since):
        return None
    return found


def npm_version(program: str) -> str:
    """Return the version of the npm package that installed a program; empty if none did."""
    package = Path(os.path.realpath(program)).parent.parent / "package.json"
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError), package.open("rb") as file:
        return from_json(file.read(_LARGEST_PACKAGE_BYTES), _Package).version
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in _NUMBERS.findall(version)[:3])
