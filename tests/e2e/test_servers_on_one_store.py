"""Two servers on one PostgreSQL work as one: behind a plain proxy, one is killed under load, and nothing is lost."""

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.proxies import proxied
from tests.e2e.served import HOST, Process, process
from tests.effort import is_stress
from tests.patience import until
from tests.services.postgres_server import Database

import commonhold

pytestmark = pytest.mark.slow

WRITERS = 3
SECONDS = 30.0 if is_stress() else 0.0
"""How long they write at least before the kill, and after it."""


class Load:
    """Sessions that write values and hold one key in turn; the acknowledged answers, in the order of their arrival."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.is_over = threading.Event()
        self.written: dict[str, str] = {}
        self.fences: list[int] = []
        self.inside = threading.Lock()

    def run(self, agent: str) -> int:
        """Write until it is over; return how many operations were acknowledged."""
        done, version = 0, 0
        with commonhold.connect(self.url, token=self.token, agent=agent) as hold:
            while not self.is_over.is_set():
                text = f"{agent} wrote this as number {done}"
                stored = hold.put(f"value:{agent}", text, expected_version=version)
                assert stored.outcome == "stored", stored
                assert stored.value is not None
                version, self.written[f"value:{agent}"] = stored.value.version, text
                with hold.hold("shared:1", wait_seconds=60) as lease:
                    assert self.inside.acquire(blocking=False), "two sessions hold one key"
                    self.fences.append(lease.fence)
                    self.inside.release()
                done += 1
        return done


def share_tokens(first: Process, second: Process) -> str:
    """One token for both servers: the file of tokens belongs to a repository on a machine."""
    token = first.token()
    shutil.copy2(first.state / "tokens.json", second.state / "tokens.json")
    return token


def test_a_server_is_killed_under_load_and_the_other_has_everything(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONHOLD_STORE", database.url)
    monkeypatch.setenv("COMMONHOLD_NAMESPACE", "shop")
    roots = [make_repository(tmp_path / name) for name in ("one", "two")]
    with process(roots[0]) as first, process(roots[1]) as second, proxied([first.port, second.port]) as port:
        load = Load(f"http://{HOST}:{port}", share_tokens(first, second))
        with ThreadPoolExecutor(WRITERS) as pool:
            running = [pool.submit(load.run, f"writer-{n}") for n in range(WRITERS)]
            try:
                time.sleep(SECONDS)
                until(lambda: len(load.written) == WRITERS and load.fences, what="all have begun to write")
                before = len(load.fences)
                first.kill()
                time.sleep(SECONDS)
                until(lambda: len(load.fences) > before + WRITERS, what="the other server serves all of them")
            finally:
                load.is_over.set()
            counts = [each.result(60) for each in running]
        with second.connect("reader") as hold:
            values = {key: hold.get(key).text for key in load.written}
            live = hold.leases()

    assert min(counts) > 0
    assert 0 < before < len(load.fences)
    assert values == load.written
    assert load.fences == sorted(set(load.fences))
    assert live == ()


def test_a_server_tells_of_the_leases_that_it_keeps_elsewhere(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONHOLD_STORE", database.url)
    with process(make_repository(tmp_path / "one")) as server, server.connect("ann") as hold:
        hold.acquire("shared:1", task="x")
        assert "\ncommonhold_leases 1\n" in metrics(server)
        assert server.ask("GET", "/readyz").status == 200


def test_a_server_whose_store_cannot_be_reached_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_STORE", "postgresql://127.0.0.1:1/none")
    with process(make_repository(tmp_path / "one")) as server:
        answer = server.ask("GET", "/readyz")
        assert (answer.status, answer.json["code"]) == (503, "STORE_BUSY")
        assert server.ask("GET", "/healthz").status == 200
        assert "\ncommonhold_leases" not in metrics(server)


def metrics(server: Process) -> str:
    return server.ask("GET", "/metrics", Authorization=f"Bearer {server.token()}").body.decode()
