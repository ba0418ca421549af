"""Running a command while a lease is held: it gets our signals, and it is ended when the lease is lost."""

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from commonhold.cli.common_options import Given
from commonhold.cli.opening import AGENT, STORE
from commonhold.cli.output import complain, flush, shown
from commonhold.client.launching.signals import Signals
from commonhold.client.session import Held
from commonhold.kernel.errors import Code, InputError

LEASE: Final = "COMMONHOLD_LEASE"
FENCE: Final = "COMMONHOLD_FENCE"
GRACE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.2
_BY_SIGNAL: Final = 128


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


def run(words: Sequence[str], held: Held, given: Given, *, holder: str, after: ExitStack) -> int:
    """Run a command under the lease `held`; return its exit status, as a shell reports it.

    The command gets our signals until `after` is closed: after its end the lease must still be released, and signals
    that come then are dropped. Raises RefusedError `LEASE_LOST` if the lease was lost before the command had ended.
    """
    flush()
    signals = Signals()
    after.callback(signals.give_back)
    child = subprocess.Popen(words, env=_environment(held, given, holder), cwd=given.folder)  # noqa: S603
    signals.give_to(child.send_signal)
    _attend(child, held, words[0])
    held.check()
    return child.returncode if child.returncode >= 0 else _BY_SIGNAL - child.returncode


def _environment(held: Held, given: Given, holder: str) -> dict[str, str]:
    """The environment with which our own commands act for the same holder, under the lease."""
    store = {STORE: given.store} if given.store else {}
    return {**os.environ, **store, AGENT: holder, LEASE: held.id, FENCE: str(held.fence)}


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
