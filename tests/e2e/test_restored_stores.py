"""A shared store that was restored from a backup: what was released stays so, for a commit too, and `doctor` tells."""

import shutil
from pathlib import Path
from typing import Protocol

import pytest
from tests.e2e.cli_driver import Call
from tests.e2e.test_cli_commands import hash_of
from tests.services.fixtures import NewRedis
from tests.services.postgres_server import Database
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.test_fences import run as run_program

pytestmark = pytest.mark.slow

NEW = b"def one():\n    return 3\n"


class Store(Protocol):
    """A store that can be set back."""

    url: str

    def back_up(self) -> None: ...

    def restore(self) -> None: ...


class Postgres:
    def __init__(self, database: Database) -> None:
        self.url = database.url
        self._dump = b""

    def back_up(self) -> None:
        self._dump = run_program("pg_dump", self.url)

    def restore(self) -> None:
        ask(self.url, "DROP SCHEMA commonhold CASCADE")
        run_program("psql", "--quiet", "--set=ON_ERROR_STOP=1", self.url, given=self._dump)


class Redis:
    def __init__(self, new_redis: NewRedis) -> None:
        self._server = new_redis(options={"appendonly": "no"})
        self.url = self._server.url

    def back_up(self) -> None:
        with self._server.client() as client:
            client.save()
        shutil.copy(self._data, f"{self._data}.backup")

    def restore(self) -> None:
        self._server.kill()
        shutil.copy(f"{self._data}.backup", self._data)
        self._server.start()

    @property
    def _data(self) -> Path:
        return next(self._server.process.folder.rglob("dump.rdb"))


@pytest.fixture(params=["postgres", "redis"])
def store(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    del root
    if request.param == "postgres":
        made: Store = Postgres(request.getfixturevalue("database"))
    else:
        made = Redis(request.getfixturevalue("new_redis"))
    monkeypatch.setenv("COMMONHOLD_STORE", made.url)
    return made


def test_a_released_lease_lets_no_commit_in_after_a_restore(store: Store, root: Path, run: Call) -> None:
    lease = run("acquire", "a.py#one", "--json").json["lease"]
    base = hash_of(run, "a.py#one")
    store.back_up()
    run("release", lease["id"])
    other = run("--agent", "ben", "acquire", "a.py#one", "--json").json["lease"]
    before = (root / "a.py").read_bytes()
    store.restore()
    named = ("--key", "a.py#one", "--base", base, "--lease", f"{lease['id']}:{lease['fence']}", "--json")
    refused = run("commit", *named, stdin=NEW)
    assert (refused.status, refused.json["code"]) == (1, "LEASE_LOST")
    assert (root / "a.py").read_bytes() == before
    assert run("leases", "--json").json["leases"] == []
    told = run("doctor")
    assert told.status == 0
    assert "1 lease of ann ended" in told.text
    assert "commonhold log" in told.text
    assert "was ended by commonhold: the state had lost events" in run("renew", lease["id"], "--json").json["why"]
    assert run("acquire", "a.py#one", "--json").json["lease"]["fence"] > other["fence"]
