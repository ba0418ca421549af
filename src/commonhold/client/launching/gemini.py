"""A command of Gemini's model, which our file in its BASH_ENV passes to the launcher before its shell does anything.

It comes here after Gemini has checked the command against the rules of its user. Nothing in its environment names its
session: the hook just before it came from the same process as this shell.
"""

import os

from .command import attended
from .running import become

# Gemini makes the shell report the state that the command leaves behind, and puts the command on lines of its own.
_COMMAND, _END = " EXIT\n", "\n)\n__code=$?\nexit $__code"
_OWN_SANDBOX = "bwrap\n"


def main(socket: str, when_down: str, root: str, shell: str, script: str) -> int:
    """Run the script; return its exit status, as a shell reports it."""
    words = [shell, "-c", script]
    parent = os.getppid()
    if _name(parent) == _OWN_SANDBOX:
        become(words)  # a command that Gemini sandboxes itself is watched from outside, where process ids are valid
    told = {"agent": "gemini", "parent": parent, "root": root, "command": [shell, "-c", _command_in(script)]}
    return attended(socket, when_down, told, lambda _: words)


def _name(process: int) -> str:
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _command_in(script: str) -> str:
    """Return the command that Gemini has wrapped in a script; else the script."""
    _, mark, rest = script.partition(_COMMAND)
    return rest.removesuffix(_END) if mark and rest.endswith(_END) else script
