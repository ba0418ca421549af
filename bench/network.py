"""The server over the network: `make bench-network ARGS="--watchers 200 --agents 50"`.

First one client acquires and releases leases over HTTP and over the daemon's socket, in turn. Then each agent acquires
a lease once a second and releases the one before, and each watcher follows all events over a WebSocket. At last the
server is killed and started again while all go on. A watcher counts by their sequences the events that it lacks; at the
end the log must have every lease that an agent was granted.
"""

import argparse
import asyncio
import json
import multiprocessing
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec
from tests.e2e.cli_driver import make_repository
from tests.e2e.served import Process, process
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

import commonhold
from bench.reporting import Figure, at_most, judged, quantile, report
from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.scopes import Scope

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

_PAGE: Final = 1000
_PATIENCE_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.2
_AWAY_SECONDS: Final = 1.0
_ENDLESS: Final = 1 << 62


@dataclass(frozen=True)
class Sizes:
    """How many watch and write, for how many seconds, for how many after the server was killed, and leases before."""

    watchers: int = 200
    agents: int = 50
    seconds: float = 60.0
    seconds_after: float = 10.0
    leases: int = 500


QUICK: Final = Sizes(watchers=5, agents=3, seconds=2.0, seconds_after=2.0, leases=3)


class _Event(msgspec.Struct):
    sequence: int
    at: float


class _Message(msgspec.Struct):
    """What a WebSocket sends: `hello`, `events`, `gap` or `end`."""

    type: str
    events: list[_Event] = []


@dataclass
class _Seen:
    """What a watcher has seen up to the event `cursor`: when each event was recorded, and the delay until it came."""

    cursor: int
    missing: int = 0
    delays: list[tuple[float, float]] = field(default_factory=list)

    def take(self, events: list[_Event]) -> None:
        """Take note of events that have just come."""
        now = time.time()
        for each in events:
            self.missing += each.sequence != self.cursor + 1
            self.cursor = each.sequence
            self.delays.append((each.at, now - each.at))


def measure(sizes: Sizes) -> list[Figure]:
    """Let agents write and watchers follow; kill the server, and let them go on."""
    with TemporaryDirectory(prefix="commonhold-bench-") as folder:
        root = make_repository(Path(folder) / "shop")
        with process(root, "--rate", "100000") as server:
            return _beside_the_socket(server, sizes.leases) + _watched(server, Path(folder), sizes)


def _beside_the_socket(server: Process, leases: int) -> list[Figure]:
    """How much longer one client waits for a lease over HTTP than over the socket."""
    with server.connect("far") as far, server.session("near") as near:
        pairs = [[_seconds(each, f"lease:{number}") for each in (far, near)] for number in range(leases)]
    over_http, over_socket = (1e3 * median(each) for each in zip(*pairs, strict=True))
    return [
        Figure("acquire over the socket: median", over_socket, "ms"),
        Figure("acquire over HTTP: median", over_http, "ms"),
        at_most("HTTP adds to an acquire", over_http - over_socket, "ms", 1.0),
    ]


def _seconds(session: commonhold.Commonhold, key: str) -> float:
    begun = time.perf_counter()
    lease = session.acquire(key).lease
    spent = time.perf_counter() - begun
    assert lease is not None
    session.release(lease.id)
    return spent


def _watched(server: Process, folder: Path, sizes: Sizes) -> list[Figure]:
    begun_at = _newest(server)
    last: Synchronized[int] = multiprocessing.Value("q", _ENDLESS)
    found = folder / "seen.json"
    arguments = server.port, server.token(Scope.OBSERVER), begun_at, sizes.watchers, last, found
    watching = multiprocessing.get_context("fork").Process(target=_watch, args=arguments)
    watching.start()
    agents = [_Agent(server, number) for number in range(sizes.agents)]
    for each in agents:
        each.start()
    _wait_for_more(agents)
    time.sleep(sizes.seconds)
    killed_at, port = time.time(), server.port
    server.kill()
    time.sleep(_AWAY_SECONDS)
    server.start(port)
    _wait_for_more(agents)
    time.sleep(sizes.seconds_after)
    for each in agents:
        each.is_over.set()
    for each in agents:
        each.join()
    last.value = _newest(server)
    watching.join()
    seen = json.loads(found.read_text())
    delays = [delay for each in seen for at, delay in each["delays"] if at < killed_at - _AWAY_SECONDS]
    granted = {lease for each in agents for lease in each.granted}
    return _figures(sizes, seen, delays, len(granted), len(granted - _recorded(server, begun_at)), last.value)


def _figures(
    sizes: Sizes, seen: list[dict[str, int]], delays: list[float], granted: int, lost: int, last: int
) -> list[Figure]:
    missing = sum(each["missing"] for each in seen)
    behind = sum(each["cursor"] != last for each in seen)
    return [
        Figure("watchers", sizes.watchers, "watchers"),
        Figure("agents", sizes.agents, "agents"),
        Figure("events that came to watchers before the kill", len(delays), "events"),
        Figure("delay of an event: median", 1e3 * quantile(delays, 0.5), "ms"),
        at_most("delay of an event: 99th percentile", 1e3 * quantile(delays, 0.99), "ms", 250.0),
        Figure("events that a watcher lacks, the kill included", missing, "events", judged("0", is_met=not missing)),
        Figure("watchers that did not reach the end", behind, "watchers", judged("0", is_met=not behind)),
        Figure("leases granted", granted, "leases"),
        Figure("of these missing in the log", lost, "leases", judged("0", is_met=not lost)),
    ]


class _Agent(threading.Thread):
    """Acquires a lease once a second, and releases the one before."""

    def __init__(self, server: Process, number: int) -> None:
        super().__init__(daemon=True)
        self.is_over = threading.Event()
        self.granted: list[str] = []
        self._number = number
        self._session = server.connect(f"agent-{number}", patience_seconds=_PATIENCE_SECONDS)

    def run(self) -> None:
        self.is_over.wait(self._number / 50)  # not all in the same instant
        held: str | None = None
        with self._session as session:
            while not self.is_over.is_set():
                next_at = time.monotonic() + 1.0
                lease = session.acquire(f"work:{self._number}/{len(self.granted)}", task="load").lease
                if held is not None:
                    session.release(held)
                if lease is not None:
                    self.granted.append(lease.id)
                held = lease.id if lease is not None else None
                self.is_over.wait(max(0.0, next_at - time.monotonic()))


def _wait_for_more(agents: Sequence[_Agent]) -> None:
    """Wait until each agent was granted one more lease, however slow the machine. Raises TimeoutError."""
    before, until = [len(each.granted) for each in agents], time.monotonic() + _PATIENCE_SECONDS
    while any(len(each.granted) <= count for each, count in zip(agents, before, strict=True)):
        if time.monotonic() > until:
            raise TimeoutError(f"an agent was granted nothing within {_PATIENCE_SECONDS:g} s")
        time.sleep(0.05)


def _newest(server: Process) -> int:
    with server.connect(None) as session:
        return max((each.sequence for each in session.log(limit=1)), default=0)


def _recorded(server: Process, after: int) -> set[str]:
    """The leases that the log says were granted after an event."""
    found: set[str] = set()
    with server.connect(None) as session:
        while page := session.log(after=after, limit=_PAGE):
            found |= {each.event.lease.id for each in page if isinstance(each.event, LeaseGranted)}
            after = page[-1].sequence
    return found


def _watch(port: int, token: str, after: int, watchers: int, last: "Synchronized[int]", found: Path) -> None:
    """Follow all events up to `last`, and write what each watcher has seen."""

    async def all_of_them() -> list[_Seen]:
        return await asyncio.gather(*(_followed(port, token, _Seen(after), last) for _ in range(watchers)))

    seen = asyncio.run(all_of_them())
    found.write_text(json.dumps([each.__dict__ for each in seen]))


async def _followed(port: int, token: str, seen: _Seen, last: "Synchronized[int]") -> _Seen:
    url, headers = f"ws://127.0.0.1:{port}/api/v1/events", {"Authorization": f"Bearer {token}"}
    until = _ENDLESS * 1.0
    while seen.cursor < last.value and time.monotonic() < until:
        if last.value < _ENDLESS:
            until = min(until, time.monotonic() + _PATIENCE_SECONDS)
        with suppress(OSError, WebSocketException):
            async with connect(f"{url}?after={seen.cursor}", additional_headers=headers, max_size=None) as socket:
                await _take_all(socket, seen, last)
        await asyncio.sleep(_PAUSE_SECONDS)
    return seen


async def _take_all(socket: ClientConnection, seen: _Seen, last: "Synchronized[int]") -> None:
    """Take events until the last one has come. Raises WebSocketException at the end of the connection."""
    while seen.cursor < last.value:
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                seen.take(msgspec.json.decode(await socket.recv(), type=_Message).events)


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.network", description=__doc__)
    parser.add_argument("--watchers", type=int, default=Sizes.watchers)
    parser.add_argument("--agents", type=int, default=Sizes.agents)
    parser.add_argument("--seconds", type=float, default=Sizes.seconds)
    chosen = parser.parse_args()
    report("network", measure(Sizes(chosen.watchers, chosen.agents, chosen.seconds)))


if __name__ == "__main__":
    main()
