"""Running a command while a lease is held: it gets our signals, and it is ended when the lease is lost."""

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO, Final

from commonhold.cli.common_options import Given
from commonhold.cli.opening import AGENT, STORE
from commonhold.cli.output import complain, flush, send, shown
from commonhold.client.launching.signals import Signals
from commonhold.client.session import Held
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.values import MAX_VALUE_LENGTH

LEASE: Final = "COMMONHOLD_LEASE"
FENCE: Final = "COMMONHOLD_FENCE"
SLOT: Final = "COMMONHOLD_SLOT"
GRACE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.2
_BY_SIGNAL: Final = 128
_CHUNK_BYTES: Final = 65536
_LAST_OUTPUT_SECONDS: Final = 2.0


def check_command(words: Sequence[str], folder: str | None) -> None:
    """Find the command before anything is leased for it. Raises InputError `FILE_NOT_FOUND`."""
    name = os.path.join(folder or "", words[0]) if os.sep in words[0] else words[0]  # noqa: PTH118 - a name for PATH
    if shutil.which(name) is None:
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no command {words[0]!r} that can be run",
            hint="check its name, that it is in PATH and that it is executable",
            fields={"command": words[0]},
        )


class Transcript:
    """The standard output of a command: passed on as it comes, and its beginning kept."""

    def __init__(self) -> None:
        """Begin empty."""
        self._kept = bytearray()
        self._is_cut = False

    def copy(self, output: IO[bytes]) -> None:
        """Pass on what the command prints, until it has closed its output."""
        while chunk := os.read(output.fileno(), _CHUNK_BYTES):
            room = MAX_VALUE_LENGTH - len(self._kept)
            self._kept += chunk[:room]
            self._is_cut = self._is_cut or len(chunk) > room
            send(chunk)
            flush()

    def text(self) -> str:
        """Return the kept output as text; bytes that are not UTF-8 become replacement characters."""
        if self._is_cut:
            complain(f"only the first {MAX_VALUE_LENGTH} bytes of the output are kept as the result")
        return self._kept.decode("utf-8", "replace").replace("\0", "\ufffd")


def run(
    words: Sequence[str],
    held: Held,
    given: Given,
    *,
    holder: str,
    after: ExitStack,
    transcript: Transcript | None = None,
) -> int:
    """Run a command under the lease `held`; return its exit status, as a shell reports it.

    A `transcript` gets its standard output.

    The command gets our signals until `after` is closed: after its end the lease must still be released, and signals
    that come then are dropped. Raises RefusedError `LEASE_LOST` if the lease was lost before the command had ended.
    """
    flush()
    signals = Signals()
    after.callback(signals.give_back)
    output = subprocess.PIPE if transcript else None
    child = subprocess.Popen(words, env=_environment(held, given, holder), cwd=given.folder, stdout=output)  # noqa: S603
    signals.give_to(child.send_signal)
    copying = None
    if transcript and child.stdout:
        copying = threading.Thread(target=transcript.copy, args=(child.stdout,), daemon=True)
        copying.start()
    _attend(child, held, words[0])
    if copying:
        # Not forever: a process that the command left in the background may keep its output open.
        copying.join(_LAST_OUTPUT_SECONDS)
    held.check()
    return child.returncode if child.returncode >= 0 else _BY_SIGNAL - child.returncode


def _environment(held: Held, given: Given, holder: str) -> dict[str, str]:
    """The environment with which our own commands act for the same holder, under the lease."""
    store = {STORE: given.store} if given.store else {}
    slot = {SLOT: str(held.slot)} if held.slot else {}
    return {**os.environ, **store, **slot, AGENT: holder, LEASE: held.id, FENCE: str(held.fence)}


def _attend(child: subprocess.Popen[bytes], held: Held, name: str) -> None:
    """Wait for the end of the command, and end it if the lease is lost."""
    has_ended = threading.Event()

    def wait() -> None:
        child.wait()
        has_ended.set()

    threading.Thread(target=wait, daemon=True).start()
    while not has_ended.wait(_LOOK_SECONDS):
        if held.is_lost:
            complain(f"the lease {held.id} is lost, so {shown(name)} is ended")
            child.terminate()
            if not has_ended.wait(GRACE_SECONDS):
                child.kill()
                has_ended.wait()
