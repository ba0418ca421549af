"""Running a command in a child that can write what it may, as if it had been run by itself."""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without its enumerations
import os
import sys

from .signals import Signals
from .speaking import Object, Unserved, say

NOT_RUN, NOT_FOUND, BY_SIGNAL = 126, 127, 128
PROGRAMS = "COMMONHOLD_PROGRAMS"
UNBOUND: Object = {"ticket": "", "sandbox": "", "env": {}, "protected": [], "writable": [], "masked": [], "prefix": []}
"""The answer for a command that is kept to nothing."""
# The interpreter ignores these; what it starts is not to.
_RESET = (_signal.SIGPIPE, _signal.SIGXFSZ)


class Allowance:
    """What the daemon answered: what the command may write, how it is kept to that, and what it is told."""

    def __init__(self, begun: Object) -> None:
        """Read the answer. Raises Unserved."""
        try:
            self.sandbox: str = begun["sandbox"]
            self.protected: list[str] = begun["protected"]
            self.writable: list[str] = begun["writable"]
            self.masked: list[str] = begun["masked"]
            self.prefix: list[str] = begun["prefix"]
            self.environment: dict[str, str] = begun["env"]
        except KeyError as fault:
            raise Unserved(f"the daemon's answer lacks {fault}: it is of another version") from None

    @property
    def path_setting(self) -> str:
        """What puts our programs first in the PATH of a script that has made it anew; empty where there are none."""
        programs = self.environment.get(PROGRAMS)
        return f'export PATH={quoted(programs)}:"$PATH"' if programs else ""


def quoted(word: str) -> str:
    """A word as a shell reads it."""
    return "'" + word.replace("'", "'\\''") + "'"


def run(command: list[str], allowance: Allowance) -> int:
    """Run the command, and wait for its end; its exit status, as a shell tells it."""
    signals = Signals()
    try:
        child = os.fork()
    except OSError as fault:
        why = f"no process can be made for it ({fault.strerror})"
        say(f"the command was not run: {why}. Next: end some that run here, then run it again")
        return NOT_RUN
    if not child:
        _be_child(command, allowance, signals)
    signals.give_to(lambda number: os.kill(child, number))
    _, status = os.waitpid(child, 0)
    signals.drop()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else BY_SIGNAL - code


def _be_child(command: list[str], allowance: Allowance, signals: Signals) -> None:
    """Become the command, or end."""
    try:
        signals.reset()
        _confine(allowance)
        os.environ.update(allowance.environment)
        # Whoever answers does not know where programs are looked for here.
        if first := os.environ.pop(PROGRAMS, ""):
            os.environ["PATH"] = f"{first}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        become([*allowance.prefix, *command])
    except OSError as fault:
        why = f"it cannot be kept to what it may write: {fault.strerror}"
        say(f"the command was not run: {why}. Next: commonhold doctor")
    finally:
        os._exit(NOT_RUN)


def _confine(allowance: Allowance) -> None:
    if sys.platform != "linux" or allowance.sandbox != "landlock":
        return
    # Beside the standard library, and after it, lies the folder of the sandbox's package.
    sys.path.append(os.path.join(__file__.rsplit("/client/", 1)[0], "adapters"))
    confining = __import__("sandbox.confining", fromlist=["confine"])
    confining.confine(allowance.protected, allowance.writable, allowance.masked)
    confining.end_with_parent(_signal.SIGKILL)


def become(command: list[str]) -> None:
    """Be the command from now on; where that cannot be, end as a shell would."""
    for number in _RESET:
        _signal.signal(number, _signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - to run it is what this is for
    except OSError as fault:
        say(f"{command[0]}: {fault.strerror}")
        os._exit(NOT_FOUND if isinstance(fault, FileNotFoundError) else NOT_RUN)
