"""Wakes: messages by a broker, for all workers, that say no more than "look at the queue of sessions".

The store decides who runs what, by a claim. So a wake that comes twice or late does no harm, and one that is lost costs
the seconds until the workers look by themselves. They are calls of a Celery task, sent to a fanout exchange for each
namespace: each worker that listens gets each of them, and none is kept for those that do not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from commonhold.kernel.errors import Code, UsageError

if TYPE_CHECKING:
    from celery import Celery
    from kombu.common import Broadcast

TASK: Final = "commonhold.wake"
PATIENCE_SECONDS: Final = 2.0
"""How long the sender of a wake waits for the broker at each step: the workers look by themselves soon after."""


class Waker:
    """Sends wakes in a thread, one at a time: those asked for while one is being sent are one."""

    def __init__(self, send: Callable[[], None]) -> None:
        """Send by `send`, which must not raise."""
        self._send = send
        self._lock = threading.Lock()
        self._is_asked = False
        self._is_sending = False

    def __call__(self) -> None:
        """Have a wake sent. The process does not end before."""
        with self._lock:
            self._is_asked = True
            if self._is_sending:
                return
            self._is_sending = True
        threading.Thread(target=self._run, name="commonhold-wake").start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._is_asked:
                    self._is_sending = False
                    return
                self._is_asked = False
            self._send()


def send_wake(broker: str, namespace: str) -> None:
    """Send a wake. Raises UsageError without Celery, and whatever the client of the broker raises."""
    app, queue = _celery(broker, namespace, _patience(broker))
    with app.connection_for_write(connect_timeout=PATIENCE_SECONDS) as connection:
        declared = [queue.exchange]
        app.send_task(TASK, queue=queue, declare=declared, connection=connection, retry=False)  # type: ignore[arg-type] # Celery takes queues, too


def receive_wakes(broker: str, namespace: str, woken: Callable[[], None]) -> None:
    """Call `woken` for each wake, until the process ends; a lost broker is connected again.

    Raises UsageError without Celery, and whatever its client raises for a broker that cannot be used at all.
    """
    app, _ = _celery(broker, namespace, {})

    def wake() -> None:
        woken()

    app.task(name=TASK)(wake)
    # Wakes need none of what workers tell each other, and no second process.
    app.WorkController(
        pool="solo", concurrency=1, without_gossip=True, without_mingle=True, without_heartbeat=True
    ).start()


def check_celery() -> None:
    """Raise UsageError if Celery is not installed."""
    _celery("", "", {})


def check_broker(broker: str) -> str:
    """Return why a broker cannot be used; empty if it can."""
    try:
        app, _ = _celery(broker, "", _patience(broker))
        with app.connection_for_write(connect_timeout=PATIENCE_SECONDS) as connection:
            connection.connect()
    except Exception as fault:  # noqa: BLE001 - the clients of brokers raise errors of many libraries
        return f"{type(fault).__name__}: {fault}"
    return ""


def _patience(broker: str) -> dict[str, float]:
    words = ("socket_timeout", "socket_connect_timeout") if broker.startswith("redis") else ()
    return dict.fromkeys(words, PATIENCE_SECONDS)


def _celery(broker: str, namespace: str, transport: dict[str, float]) -> tuple[Celery, Broadcast]:
    try:
        # An extra, which takes half a second to load.
        from celery import Celery  # noqa: PLC0415
        from kombu.common import Broadcast  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        raise UsageError(
            Code.USAGE,
            f"wakes cannot be sent by a broker: the package {fault.name!r} is not installed",
            hint="install it with: pip install 'commonhold[celery]'",
            fields={"package": fault.name},
        ) from fault
    app = Celery("commonhold", broker=broker, set_as_current=False)
    queue = Broadcast(f"commonhold.{namespace}")
    app.conf.update(
        task_queues=[queue],
        task_ignore_result=True,
        accept_content=["json"],
        broker_transport_options=transport,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )
    return app, queue
