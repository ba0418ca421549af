"""A command of Codex's model, which our file in its BASH_ENV passes to the launcher before its shell does anything.

It comes here after Codex has checked it against the rules of its user, inside of the sandbox that Codex runs it in. The
environment of just this process names its session, thread and call; the hook before it has left a file about it.
"""

import fcntl
import os

from .command import attended, begun, is_kept
from .foretold import place
from .running import PROGRAMS, UNBOUND, Allowance, quoted
from .speaking import Object, ShutOff, Unserved, decoded

# Codex restores the setup of its user's shell, and then becomes the shell of the command.
_RESTORING, _BECOMING = "__CODEX_SNAPSHOT_", "\nexec '"
_LOGIN = "-lc"


class _Untold(Unserved):
    """The daemon cannot be asked, and no hook has announced the call."""

    next = "trust Commonhold's hooks with /hooks in codex; where they are trusted, run it again"


def main(socket: str, when_down: str, state: str, root: str, *shell: str) -> int:
    """Run the script, the last argument, in the shell with its flags; return the exit status, as a shell reports it."""
    *start, script = shell
    holder, call = _holder(), os.environ["CODEX_TOOL_CALL_ID"]
    left = place(state, holder, call)
    foretold = _foretold(left)
    command = script if foretold is None else foretold["of"]
    told = {"holder": holder, "call": call, "root": root, "command": [start[0], "-c", command]}

    def ask(socket: str, question: Object) -> Object:
        if not _is_inside():
            try:
                return begun(socket, question)
            except ShutOff:
                pass
        if foretold is None and _is_in(root):
            raise _Untold("in Codex's sandbox the daemon cannot be asked, and no hook has reported it")
        if foretold is not None:
            _wait_on(left)
        return UNBOUND

    return attended(socket, when_down, told, lambda allowance: [*start, _fitted(script, allowance, start[-1])], ask)


def _holder() -> str:
    session, thread = os.environ.get("CODEX_SESSION_ID", ""), os.environ.get("CODEX_THREAD_ID", "")
    return f"codex:{session}" if thread in ("", session) else f"codex:{session}/{thread}"


def _foretold(path: str) -> "Object | None":
    """Return the content of the file that the hook has left; None if it has left none."""
    try:
        with open(path, "rb") as file:
            return decoded(file.read())
    except (OSError, Unserved):
        return None


def _wait_on(path: str) -> None:
    """Signal that the command has begun, until this process ends: by a lock on the file."""
    try:
        fcntl.flock(os.open(path, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH)
    except OSError:
        return  # its turn has ended: no process waits for it any more


def _is_inside() -> bool:
    """Whether this runs in Codex's sandbox: there it can get no new rights, and sees its own processes alone."""
    return os.getppid() == 1 and is_kept()


def _is_in(root: str) -> bool:
    return f"{os.getcwd()}/".startswith(f"{os.path.realpath(root)}/")


def _fitted(script: str, allowance: "Allowance | None", flags: str) -> str:
    """Return the script with our variables set, and our programs first in its PATH, after the setup of its shell."""
    setting = "" if allowance is None else "; ".join(_exports(allowance))
    restoring, mark, rest = script.partition(_BECOMING)
    if setting and mark and _RESTORING in restoring:
        return f"{restoring}\n{setting}{mark}{rest}"
    return f"{setting}; {script}" if setting and flags == _LOGIN else script


def _exports(allowance: Allowance) -> list[str]:
    found = [f"export {name}={quoted(value)}" for name, value in allowance.environment.items() if name != PROGRAMS]
    return [*found, setting] if (setting := allowance.path_setting) else found
