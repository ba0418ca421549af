"""Commands of roles: run in a process group of their own, within a deadline, and ended as one."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Final

from commonhold.coordinator.roles import Stop
from commonhold.machine.process_groups import GRACE_SECONDS, environment_without_git, has_ended, signal_group, tail_of

MOST_OUTPUT: Final = 16_000_000
MOST_PRINTED: Final = 256 << 20
"""How many bytes a command may print: one in a loop would fill the disk."""
_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended: its exit status, or None if it was ended, and `why`; its output, and both tails."""

    status: int | None
    output: bytes
    tail: str
    why: str = ""


def run_command(
    words: Sequence[str], root: str, env: Mapping[str, str], given: bytes | None, seconds: float, stop: Stop
) -> Ended:
    """Run a command in the folder `root` with `given` on its standard input, for at most so many seconds.

    Without `given`, its standard input is /dev/null. Of a longer output, the last `MOST_OUTPUT` bytes are returned.
    `env` is added to the environment, which has no variables of git. When `stop` is set, the time is up, or it has
    printed more than `MOST_PRINTED` bytes, its process group gets SIGTERM, and SIGKILL after `GRACE_SECONDS`. A command
    that cannot be started has the status 127.
    """
    with TemporaryFile() as stdin, TemporaryFile() as output, TemporaryFile() as errors:
        stdin.write(given or b"")  # a file, since a command need not read a pipe to its end
        stdin.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - running it is the purpose of this function
                words,
                cwd=root,
                env={**environment_without_git(), **env},
                stdin=subprocess.DEVNULL if given is None else stdin,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as fault:
            return Ended(127, b"", f"{words[0]}: {fault.strerror}")
        try:
            why = _wait(process, seconds, stop, (output, errors))
        finally:
            # Processes that the command has started end with it.
            signal_group(process.pid, signal.SIGKILL)
            process.wait()
        status = None if why else process.returncode
        return Ended(status, _read(output, MOST_OUTPUT), "\n".join(filter(None, map(tail_of, (output, errors)))), why)


def _wait(process: "subprocess.Popen[bytes]", seconds: float, stop: Stop, printed: Sequence[IO[bytes]]) -> str:
    """Wait for the end; return why the command was ended, or nothing if it has ended by itself."""
    until = time.monotonic() + seconds
    why = ""
    while not (why or has_ended(process.pid)):
        if stop.is_set():
            why = "it was stopped"
        elif time.monotonic() >= until:
            why = f"it did not end within {seconds:g} seconds"
        elif sum(os.fstat(each.fileno()).st_size for each in printed) > MOST_PRINTED:
            why = f"it printed more than {MOST_PRINTED >> 20} MiB"
        else:
            stop.wait(_PAUSE_SECONDS)
    if why:
        signal_group(process.pid, signal.SIGTERM)
        has_ended(process.pid, GRACE_SECONDS)
    return why


def _read(file: IO[bytes], most: int) -> bytes:
    file.seek(max(0, file.seek(0, os.SEEK_END) - most))
    return file.read(most)
