"""Whether the daemon answers where it is to be found on the loopback."""

import http.client
from collections.abc import Iterator
from typing import Final

from commonhold.adapters.loopback import HOST, Loopback, loopback
from commonhold.adapters.probes.finding import Finding, fail, ok
from commonhold.domain.errors import InputError

PATIENCE_SECONDS: Final = 2.0


def is_answered(chosen: Loopback) -> bool:
    """Whether the daemon of this repository answers at the port: nobody else lets the token in."""
    connection = http.client.HTTPConnection(HOST, chosen.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", "/", headers={"Authorization": f"Bearer {chosen.token}"})
        answer = connection.getresponse()
        return answer.status == http.client.OK and b'"commonhold"' in answer.read(1000)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def over_http(state_folder: str, daemon: int | None) -> Iterator[Finding]:
    """What is found where the repository is served over the loopback; `daemon` is the process that serves it."""
    try:
        chosen = loopback(state_folder)
    except InputError as fault:
        yield fail("http", fault.message, fault.hint)
        return
    if chosen is None:
        return
    if daemon is None:
        yield ok("http", f"{chosen.url} while a daemon runs")
    elif is_answered(chosen):
        yield ok("http", f"{chosen.url} answers")
    else:
        found = f"another program has port {chosen.port}, or the daemon is older than the choice of it"
        yield fail("http", found, "commonhold daemon http, with another --port PORT if it is taken")
