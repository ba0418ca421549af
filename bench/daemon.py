"""The daemon with many clients against one direct client, eight direct processes, and a round trip on its socket."""

import asyncio
import json
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import commonhold
from bench.reporting import Figure, at_least, at_most, report
from commonhold.api.wire import calls
from commonhold.client.channel import Connection
from commonhold.workspace import daemon_files
from commonhold.workspace.repository import find_repository

SECONDS = 3.0
ROUNDS = 3
CLIENTS = 64
PROCESSES = 8
ECHOES = 2000


def jain(counts: Sequence[float]) -> float:
    """Jain's index of fairness: 1 where all got the same, 1/n where one got all."""
    return sum(counts) ** 2 / (len(counts) * sum(count * count for count in counts)) if any(counts) else 0.0


def work(root: str, name: str, seconds: float, *, daemon: bool) -> tuple[int, float]:
    """Acquire and release a key of one's own for so long: how many pairs, and the longest wait for an answer."""
    pairs, longest = 0, 0.0
    with commonhold.open(root, agent=name, daemon=daemon) as hold:
        end = time.monotonic() + seconds
        while (begun := time.monotonic()) < end:
            answer = hold.acquire(f"bench:{name}", ttl_seconds=600.0)
            between = time.monotonic()
            assert answer.lease is not None
            hold.release(answer.lease.id)
            longest = max(longest, between - begun, time.monotonic() - between)
            pairs += 1
    return pairs, longest


def processes(root: str, count: int, seconds: float) -> list[tuple[int, float]]:
    """The same by several processes, without a daemon."""
    command = [sys.executable, "-m", "bench.daemon", root, str(seconds)]
    crew = [subprocess.Popen([*command, f"p{number}"], stdout=subprocess.PIPE) for number in range(count)]  # noqa: S603
    found = [json.loads(one.communicate()[0]) for one in crew]
    return [(pairs, longest) for pairs, longest in found]


@contextmanager
def served(root: str) -> Iterator[None]:
    """A daemon for as long as the block lasts."""
    child = subprocess.Popen([sys.executable, "-m", "commonhold.server.daemon", root])  # noqa: S603
    try:
        while not Path(daemon_files.address(find_repository(root).state_folder)).exists():
            time.sleep(0.01)
        with commonhold.open(root, agent="bench", daemon=True) as hold:
            hold.status()
        yield
    finally:
        child.terminate()
        child.wait()


def crowd(root: str, clients: int, seconds: float) -> list[int]:
    """The pairs of as many connections to the daemon, each with one request under way, kept busy by one loop."""
    address = daemon_files.address(find_repository(root).state_folder)
    selector = selectors.DefaultSelector()
    for number in range(clients):
        hello = calls.Hello(calls.PROTOCOL, commonhold.__version__, root, f"client-{number}", 0o22)
        client = _Client(Connection(address, hello).socket, f"bench:{number}")
        selector.register(client.socket, selectors.EVENT_READ, client)
    members = [key.data for key in selector.get_map().values()]
    end = time.monotonic() + seconds
    for client in members:
        client.ask()
    while time.monotonic() < end:
        for key, _ in selector.select():
            key.data.take()
    return [client.pairs for client in members]


class _Client:
    """One connection that acquires and releases, by turns."""

    def __init__(self, connection: socket.socket, key: str) -> None:
        self.socket = connection
        self.pairs = 0
        self._key = key
        self._holds = False

    def ask(self) -> None:
        ticket = f"lease-{self._key}-{self.pairs}"
        if self._holds:
            self.socket.sendall(calls.encode_request(1, "release", (ticket,), {}))
        else:
            self.socket.sendall(
                calls.encode_request(1, "acquire", (self._key,), {"ttl_seconds": 600.0, "ticket": ticket})
            )

    def take(self) -> None:
        frame = self.socket.recv(65536)
        reply = calls.decode_reply(frame[calls.LENGTH.size :])
        assert reply.kind == "answer"
        self.pairs += self._holds
        self._holds = not self._holds
        self.ask()


def against_one_direct_client(root: str) -> list[Figure]:
    """Operations a second of 64 clients of the daemon, against those of one client without it."""
    ratios, fairness, rates = [], [], []
    for _ in range(ROUNDS):
        alone, _ = work(root, "alone", SECONDS, daemon=False)
        with served(root):
            counts = crowd(root, CLIENTS, SECONDS)
        ratios.append(sum(counts) / alone)
        fairness.append(jain(counts))
        rates.append((2 * sum(counts) / SECONDS, 2 * alone / SECONDS))
    return [
        Figure("daemon, 64 clients", median(rate for rate, _ in rates), "ops/s"),
        Figure("one direct client", median(rate for _, rate in rates), "ops/s"),
        at_least("daemon against one direct client", median(ratios), "ratio", 5),
        at_least("daemon, Jain's index", median(fairness), "", 0.99),
    ]


def without_daemon(root: str) -> list[Figure]:
    """Eight processes at the gate."""
    found = processes(root, PROCESSES, SECONDS)
    return [
        Figure("eight direct processes", 2 * sum(count for count, _ in found) / SECONDS, "ops/s"),
        at_least("eight direct, Jain's index", jain([count for count, _ in found]), "", 0.99),
        at_most("eight direct, longest wait", max(wait for _, wait in found), "s", 0.5),
    ]


def round_trip(root: str, folder: Path) -> list[Figure]:
    """The status of a repository with a few leases, against an echo of as many bytes by bare asyncio."""
    with served(root), commonhold.open(root, agent="bench", daemon=True) as hold, echoing(folder) as echo:
        hold.acquire("account:1", "account:2")
        pairs = [(_per_call(hold.status), _per_call(echo)) for _ in range(ROUNDS)]
    return [
        Figure("status over the socket", median(mine for mine, _ in pairs) * 1e6, "µs"),
        Figure("bare asyncio echo", median(other for _, other in pairs) * 1e6, "µs"),
        at_most("status against an echo", median(mine / other for mine, other in pairs), "ratio", 3),
    ]


def _per_call(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    for _ in range(ECHOES):
        call()
    return (time.perf_counter() - begun) / ECHOES


@contextmanager
def echoing(folder: Path) -> Iterator[Callable[[], object]]:
    """A call to an echo server in a process of its own."""
    address = str(folder / "echo.sock")
    child = subprocess.Popen([sys.executable, "-m", "bench.daemon", "echo", address])  # noqa: S603
    try:
        while not Path(address).exists():
            time.sleep(0.01)
        time.sleep(0.1)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)

            def call() -> None:
                client.sendall(b"x" * 64)
                client.recv(4096)

            yield call
    finally:
        child.terminate()
        child.wait()


async def _echo(address: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)

    server = await asyncio.start_unix_server(answer, address)
    await server.serve_forever()


def main() -> None:
    """Measure all, on the disk of the working folder."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="."))
    try:
        root = str(folder.resolve())
        (folder / ".commonhold").mkdir()
        # The round trip first: clients that are stopped in the middle leave leases, which a status would list.
        figures = [*round_trip(root, folder), *without_daemon(root), *against_one_direct_client(root)]
    finally:
        shutil.rmtree(folder)
    report("daemon", figures)


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            main()
        case ["echo", address]:
            asyncio.run(_echo(address))
        case [root, seconds, name]:
            print(json.dumps(work(root, name, float(seconds), daemon=False)))
        case words:
            sys.exit(f"python -m bench.daemon takes no {words}")
