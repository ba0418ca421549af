"""A shell command, from the request for its restrictions to the report of its writes."""

import os
import time

from .running import BY_SIGNAL, NOT_RUN, Allowance, become, run
from .speaking import TYPE_CHECKING, Object, Unserved, asked, asked_of_next, say

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str, Object], Object]
    Make = Callable[["Allowance | None"], list[str]]

_REFUSED, _OUT_OF_REACH = 1, 4
_INTERRUPT = 2


class _Nowhere(Unserved):
    """The folder that the command was to run in is gone, or cannot be read."""

    next = "go to a folder that is there (cd), then run it again"


def main(*words: str) -> int:
    """Run the command; return its exit status, as a shell reports it."""
    call, rest = (words[1], words[2:]) if words[0] == "--call" else ("", words)
    socket, holder, when_down, *command = rest
    told = {"holder": holder, "command": command, "call": call}
    return attended(socket, when_down, told, lambda _: command)


def begun(socket: str, question: Object) -> Object:
    """Return the daemon's answer; start the daemon if there is none. Raises Unserved."""
    return asked_of_next(socket, "/shell/begin", question)


def attended(socket: str, when_down: str, asked_for: Object, made: "Make", ask: "Ask" = begun) -> int:
    """Run the command that `made` makes of the daemon's answer (None: no daemon was asked); return its exit status."""
    try:
        return _attended(socket, when_down, asked_for, made, ask)
    except KeyboardInterrupt:  # the command has not begun
        return BY_SIGNAL + _INTERRUPT


def _attended(socket: str, when_down: str, asked_for: Object, made: "Make", ask: "Ask") -> int:
    try:
        answer = ask(socket, {**asked_for, **_here()})
        allowance = Allowance(answer) if not answer.get("refusal") else None
    except Unserved as fault:
        return _unserved(fault, when_down, made)
    if allowance is None:
        say(answer["refusal"])
        return _REFUSED
    status = run(made(allowance), allowance)
    if answer["ticket"]:
        is_free = bool(answer["masked"]) and not allowance.masked
        _end(socket, {"ticket": answer["ticket"], "status": status, "free": int(is_free)})
    return status


def _here() -> Object:
    try:
        cwd = os.getcwd()
    except OSError as fault:
        raise _Nowhere(f"the folder that it was to run in cannot be used ({fault.strerror})") from None
    return {"cwd": cwd, "process": os.getpid(), "kept": int(is_kept())}


def is_kept() -> bool:
    """Whether this runs in a sandbox already, in which no process gets new rights."""
    try:
        with open("/proc/self/status", "rb") as file:
            return b"NoNewPrivs:\t1\n" in file.read()
    except OSError:
        return False


def _unserved(fault: Unserved, when_down: str, made: "Make") -> int:
    if when_down != "allow":
        say(f"the command was not run: {fault}. Next: {fault.next}")
        return _OUT_OF_REACH
    say(f"the command runs without being watched over: {fault}")
    become(made(None))
    return NOT_RUN


def _end(socket: str, told: Object) -> None:
    """Report the end, even to another daemon than the one to which the beginning was reported."""
    ended_ns = time.time_ns()
    try:
        report = _answered(socket, told, ended_ns).get("report")
    except Unserved as fault:
        report = f"the changes that the command made are not recorded yet: {fault}. Next: commonhold status"
    if report:
        say(report)


def _answered(socket: str, told: Object, ended_ns: int) -> Object:
    try:
        return asked(socket, "/shell/end", told)
    except Unserved as fault:
        if not fault.is_away:
            raise
    return asked_of_next(socket, "/shell/end", {**told, "ended_ns": ended_ns})
