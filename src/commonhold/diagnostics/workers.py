"""The workers of managed sessions that share a store, and the broker that wakes them."""

from collections.abc import Collection, Iterator

from commonhold.diagnostics.finding import Finding, ok, warn
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.server.session_worker import SCHEME


def workers(held: Collection[Lease], broker: str) -> Iterator[Finding]:
    """Yield the machines whose workers hold a lease, and whether `broker` answers; nothing if neither is there."""
    hosts = sorted({canonical(key).path[0] for lease in held for key in lease.keys if key.startswith(f"{SCHEME}:")})
    if hosts:
        yield ok("workers", f"managed sessions run on {', '.join(hosts)}", hosts=hosts)
    elif broker:
        yield warn("workers", "no worker runs managed sessions", "start one on a machine: commonhold worker")
    if broker:
        from commonhold.sessions.wakes import check_broker  # noqa: PLC0415 - most repositories have no broker

        if why := check_broker(broker):
            found = f"it does not answer: {why}"
            yield warn("broker", found, "workers still look every five seconds; see COMMONHOLD_BROKER")
        else:
            yield ok("broker", "it answers")
