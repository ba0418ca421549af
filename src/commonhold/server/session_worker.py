"""The worker of managed sessions: it runs those of its machine and those that any worker may run, by the daemon's code.

Like the daemon it keeps nothing: it may be killed at any time, and several may run. A shared lease on `worker:HOST`
shows that it is there.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from commonhold.client.session import Commonhold
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.modes import Mode
from commonhold.machine.logs import Log
from commonhold.server.daemon.managed_sessions import LOOK_SECONDS, SessionEngine

PRESENCE_SECONDS: Final = 30.0
"""How long the lease of a worker outlives it."""
RENEW_SECONDS: Final = 10.0
LISTEN_AGAIN_SECONDS: Final = 5.0
SCHEME: Final = "worker"
_log: Final = Log(__name__)


def work(engine: SessionEngine, hold: Commonhold, host: str, woken: threading.Event, is_over: threading.Event) -> None:
    """Look at the queue whenever `woken` is set, and every few seconds in any case, until `is_over`."""
    lease_id, renews_at = "", 0.0
    while not is_over.is_set():
        now = time.monotonic()
        engine.look(now, 0)
        if now >= renews_at:
            lease_id, renews_at = _shown(hold, host, lease_id), now + RENEW_SECONDS
        if woken.wait(LOOK_SECONDS):
            woken.clear()
            engine.wake()
            _log.debug("woken")
    try:
        if lease_id:
            hold.release(lease_id)
    except CommonholdError as fault:  # it ends by itself
        _log.debug("lease of the worker stays", why=str(fault))


def _shown(hold: Commonhold, host: str, lease_id: str) -> str:
    """Show for some time that a worker is there. Return the id of its lease; empty if it has none."""
    try:
        if lease_id and hold.renew(lease_id, ttl_seconds=PRESENCE_SECONDS).outcome == "renewed":
            return lease_id
        key, task = f"{SCHEME}:{host}", "runs managed sessions"
        lease = hold.acquire(key, task=task, mode=Mode.SHARED, ttl_seconds=PRESENCE_SECONDS).lease
    except CommonholdError as fault:
        _log.debug("worker is not shown", why=str(fault))
        return lease_id
    return lease.id if lease is not None else ""


def listen(receive: Callable[[], None]) -> None:
    """Receive wakes in a thread, for as long as the process lives. Without them the worker is slower, and as right."""

    def again_and_again() -> None:
        while True:
            try:
                receive()
            except Exception as fault:  # noqa: BLE001 - the clients of brokers raise errors of many libraries
                _log.warning("no wakes come", why=f"{type(fault).__name__}: {fault}")
            time.sleep(LISTEN_AGAIN_SECONDS)

    threading.Thread(target=again_and_again, name="commonhold-wakes", daemon=True).start()
