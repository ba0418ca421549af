"""A shell command from the question what it may write to the report of what it wrote."""

import os
import sys

from .running import BY_SIGNAL, NOT_RUN, Allowance, become, run
from .speaking import Object, Unserved, asked, say

_REFUSED, _OUT_OF_REACH = 1, 4
_INTERRUPT = 2


def main(words: list[str]) -> int:
    """Run the command; its exit status, as a shell tells it."""
    try:
        return _main(*words[:3], command=words[3:])
    except KeyboardInterrupt:  # the command has not begun
        return BY_SIGNAL + _INTERRUPT


def _main(socket: str, holder: str, when_down: str, *, command: list[str]) -> int:
    try:
        begun = _begun(socket, _question(holder, command))
        allowance = Allowance(begun) if not begun.get("refusal") else None
    except Unserved as fault:
        return _unserved(fault, when_down, command)
    if allowance is None:
        say(begun["refusal"])
        return _REFUSED
    status = run(command, allowance)
    _end(socket, {"ticket": begun["ticket"], "status": status})
    return status


def _question(holder: str, command: list[str]) -> Object:
    here, temporary = os.getcwd(), os.environ.get("TMPDIR", "")
    return {"holder": holder, "cwd": here, "command": command, "process": os.getpid(), "temporary": temporary}


def _begun(socket: str, what: Object) -> Object:
    """What the daemon answers; it is started where there is none."""
    try:
        return asked(socket, "/shell/begin", what)
    except Unserved as fault:
        if not fault.is_away:
            raise
        _start()
    return asked(socket, "/shell/begin", what)


def _start() -> None:
    """Have a daemon that serves this folder's repository, if it can be had."""
    words = [sys.executable, "-I", "-m", "commonhold", "daemon", "start"]
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    os.waitpid(os.posix_spawn(sys.executable, words, os.environ, file_actions=silent), 0)


def _unserved(fault: Unserved, when_down: str, command: list[str]) -> int:
    if when_down != "allow":
        say(f"the command was not run: {fault}. Next: {fault.next}")
        return _OUT_OF_REACH
    say(f"the command runs without being watched over: {fault}")
    become(command)
    return NOT_RUN


def _end(socket: str, told: Object) -> None:
    try:
        report = asked(socket, "/shell/end", told).get("report")
    except Unserved as fault:
        report = f"what the command wrote is not recorded yet: {fault}. Next: commonhold status"
    if report:
        say(report)
