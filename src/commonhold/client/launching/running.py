"""Run a command in a child process in which other holders' files are read-only, transparently otherwise."""

import _signal  # type: ignore[import-not-found]  # the module behind `signal`, without its enumerations
import errno
import os
import sys

from .signals import Signals, end_with_parent
from .speaking import Object, Unserved, say

NOT_RUN, NOT_FOUND, BY_SIGNAL = 126, 127, 128
# This process may not mount: its commands are watched instead.
_MAY_NOT = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOSPC)
# A held file may be replaced by its holder just as it is mounted over.
_ATTEMPTS = 3
PROGRAMS, MASKED = "COMMONHOLD_PROGRAMS", "COMMONHOLD_MASKED"
UNBOUND: Object = {"ticket": "", "env": {}, "masked": [], "kept": [], "prefix": []}
"""The answer for a command that is not restricted."""
# The interpreter ignores these signals; the command that it starts must not.
_RESET = (_signal.SIGPIPE, _signal.SIGXFSZ)


class _Unprotected(Exception):  # noqa: N818 - it is answered in this module
    """The files that others hold could not be made read-only, for a reason that may pass."""


class Allowance:
    """The daemon's answer: which files the command must not write, how this is enforced, and messages to show."""

    def __init__(self, begun: Object) -> None:
        """Read the answer. Raises Unserved."""
        try:
            self.masked: list[str] = begun["masked"]
            self.kept: list[str] = begun["kept"]
            self.prefix: list[str] = begun["prefix"]
            self.environment: dict[str, str] = begun["env"]
        except KeyError as fault:
            raise Unserved(f"the daemon's answer lacks {fault}: it is of another version") from None

    @property
    def path_setting(self) -> str:
        """Return the line that puts our programs first in the PATH that a script has reset; empty if there are none."""
        programs = self.environment.get(PROGRAMS)
        return f'export PATH={quoted(programs)}:"$PATH"' if programs else ""


def quoted(word: str) -> str:
    """Return a word as a shell reads it."""
    return "'" + word.replace("'", "'\\''") + "'"


def run(command: list[str], allowance: Allowance) -> int:
    """Run the command, and wait for its end; return its exit status, as a shell reports it."""
    signals = Signals()
    try:
        child = _started(command, allowance, signals)
    except _Unprotected as fault:
        why = f"the files that others hold could not be made read-only for it ({fault})"
        say(f"the command was not run: {why}. Next: run it again")
        return NOT_RUN
    except OSError as fault:
        why = f"no process can be made for it ({fault.strerror})"
        say(f"the command was not run: {why}. Next: end some that run here, then run it again")
        return NOT_RUN
    signals.give_to(lambda number: os.kill(child, number))
    _, status = os.waitpid(child, 0)
    signals.drop()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else BY_SIGNAL - code


def _started(command: list[str], allowance: Allowance, signals: Signals) -> int:
    """Start the process of the command. If this user may not mount, it is not restricted: then `masked` is empty.

    Raises _Unprotected if mounting fails for another reason: no command runs beside the files of others unseen.
    """
    number = 0
    for _ in range(_ATTEMPTS if allowance.masked else 0):
        told, tell = os.pipe()
        child = _forked(command, allowance, signals, tell)
        os.close(tell)  # the child's closes as it becomes the command
        failed = os.read(told, 1)
        os.close(told)
        if not failed:
            return child
        os.waitpid(child, 0)
        number = failed[0]
        if number in _MAY_NOT:
            break
    if allowance.masked and number not in _MAY_NOT:
        raise _Unprotected(os.strerror(number))
    allowance.masked = []
    return _forked(command, allowance, signals, -1)


def _forked(command: list[str], allowance: Allowance, signals: Signals, tell: int) -> int:
    child = os.fork()
    if not child:
        _be_child(command, allowance, signals, tell)
    return child


def _be_child(command: list[str], allowance: Allowance, signals: Signals, tell: int) -> None:
    """Become the command, or end."""
    try:
        signals.reset()
        if sys.platform == "linux":
            _bind(allowance, tell)
        os.environ.update(allowance.environment)
        if allowance.masked or allowance.prefix:
            os.environ[MASKED] = "1"
        # The daemon does not know the PATH in which programs are searched for here.
        if first := os.environ.pop(PROGRAMS, ""):
            os.environ["PATH"] = f"{first}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        become([*allowance.prefix, *command])
    finally:
        os._exit(NOT_RUN)


def _bind(allowance: Allowance, tell: int) -> None:
    """Make other holders' files read-only here, and let this process die with its parent, however that ends."""
    if allowance.masked:
        package = __name__.rpartition("client.")[0] + "workspace." if "client." in __name__ else ""
        if not package:  # a process that sees nothing but the standard library, after which this folder comes
            sys.path.append(os.path.join(__file__.rsplit("/client/", 1)[0], "workspace"))
        try:
            __import__(f"{package}sandbox.mounts", fromlist=["mask"]).mask(allowance.masked, allowance.kept)
        except OSError as fault:
            os.write(tell, bytes([min(fault.errno or errno.EIO, 255)]))
            os._exit(NOT_RUN)
    end_with_parent(_signal.SIGKILL)


def become(command: list[str]) -> None:
    """Become the command; if that is impossible, end as a shell would."""
    for number in _RESET:
        _signal.signal(number, _signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - running it is the purpose of this function
    except OSError as fault:
        say(f"{command[0]}: {fault.strerror}")
        os._exit(NOT_FOUND if isinstance(fault, FileNotFoundError) else NOT_RUN)
