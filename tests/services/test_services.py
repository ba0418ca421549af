"""The servers that tests are given: each answers, keeps its data, and is gone when its test run is."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
import redis
from tests.patience import PATIENCE_SECONDS, until
from tests.services import programs
from tests.services.fixtures import NewRedis, require
from tests.services.pooler import Pooler
from tests.services.postgres_server import Database, PostgresServer
from tests.services.processes import free_port
from tests.services.programs import PROGRAMS, InstallationFailedError, Program, find_or_install
from tests.services.redis_server import RedisServer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOWHERE = Program("commonhold-no-such-program", ("commonhold-no-such-package",), "no-such-formula")

# What runs in a test run of its own: two workers that wait for each other and leave notes of what runs for them.
INNER_TEST = """
import time
from pathlib import Path
import pytest

@pytest.mark.parametrize("name", ["one", "other"])
def test_uses_servers(name, database, postgres_address, pooler, new_redis):
    folders = [Path(postgres_address.socket_folder), pooler.process.folder, new_redis().process.folder]
    note = Path("notes", name)
    note.with_suffix(".part").write_text("\\n".join(map(str, folders)))
    note.with_suffix(".part").rename(note)
    deadline = time.monotonic() + 200
    while not Path("go").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
"""


def ask(url: str, query: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def tell(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def test_postgres_answers_by_tcp_and_by_socket(database: Database) -> None:
    assert ask(database.url, "select current_database()") == database.name
    assert ask(database.socket_url, "select current_database()") == database.name


@pytest.mark.parametrize("time", [1, 2])
def test_each_test_has_an_empty_database(database: Database, time: int) -> None:
    tell(database.url, f"create table only_here (time int default {time})")


def test_a_crash_of_postgres_keeps_what_was_committed_and_only_that(private_postgres: PostgresServer) -> None:
    tell(private_postgres.url, "create table t as select 7 as committed")
    with psycopg.connect(private_postgres.url) as connection:
        connection.execute("update t set committed = 8")
        private_postgres.crash()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    private_postgres.start()
    assert ask(private_postgres.url, "select committed from t") == 7
    assert "was not properly shut down" in private_postgres.process.log()


def test_a_restart_of_postgres_keeps_data_and_port(private_postgres: PostgresServer) -> None:
    tell(private_postgres.url, "create table t as select 7 as kept")
    private_postgres.restart()
    assert ask(private_postgres.url, "select kept from t") == 7


def test_the_pooler_gives_each_transaction_any_connection(pooler: Pooler, database: Database) -> None:
    backend = "select pg_backend_pid()"
    with psycopg.connect(pooler.url(database.name)) as one, psycopg.connect(pooler.url(database.name)) as other:
        first = one.execute(backend).fetchone()
        one.commit()
        assert other.execute(backend).fetchone() == first
        assert one.execute(backend).fetchone() != first


def test_redis_answers_by_tcp_and_by_socket(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.set("by", "tcp")
    with redis.Redis.from_url(redis_server.socket_url) as client:
        assert client.get("by") == b"tcp"


@pytest.mark.parametrize("time", [1, 2])
def test_each_test_has_an_empty_redis(redis_server: RedisServer, time: int) -> None:
    with redis_server.client() as client:
        assert client.setnx("time", time)


@pytest.mark.parametrize("end", [RedisServer.stop, RedisServer.kill])
def test_redis_keeps_what_it_answered(new_redis: NewRedis, end: Callable[[RedisServer], None]) -> None:
    server = new_redis()
    with server.client() as client:
        client.set("kept", 7)
        end(server)
        assert not server.process.is_running()
        server.start()
        assert client.get("kept") == "7"


def test_a_replica_takes_over_and_the_old_server_follows_it(new_redis: NewRedis) -> None:
    old = new_redis()
    new = new_redis(follows=old)
    with old.client() as at_old, new.client() as at_new:
        at_old.set("kept", 7)
        assert at_old.wait(1, int(PATIENCE_SECONDS * 1000)) == 1
        old.kill()
        new.promote()
        at_new.set("later", 8)
        old.follows = new
        old.start()
        assert at_old.mget("kept", "later") == ["7", "8"]


def test_settings_are_passed_on(new_redis: NewRedis) -> None:
    with new_redis(options={"maxmemory": "64mb", "maxmemory-policy": "noeviction"}).client() as client:
        assert client.config_get("maxmemory*")["maxmemory"] == str(64 * 1024 * 1024)


def test_a_port_is_given_to_one_server_alone_before_it_listens_there() -> None:
    port = free_port()
    script = "import sys; from tests.services import processes; print(processes._take(int(sys.argv[1])))"
    command = [sys.executable, "-c", script, str(port)]
    for _ in range(2):
        assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout == "False\n"


# ---- What is left of a run: nothing ----


@contextmanager
def inner_run(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[Path]]]:
    """Run INNER_TEST in two workers until both have their servers; give the run and the servers' folders."""
    (folder / "notes").mkdir()
    (folder / "test_inner.py").write_text(INNER_TEST, encoding="utf-8")
    words = [
        "-m",
        "pytest",
        "-c",
        os.devnull,
        f"--rootdir={folder}",
        "-p",
        "tests.services.fixtures",
        "-p",
        "xdist",
        "-n2",
    ]
    words += ["-p", "no:cacheprovider", f"--basetemp={folder / 'base'}", "test_inner.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    notes = [folder / "notes" / name for name in ("one", "other")]
    with (folder / "output").open("wb") as output:
        run = subprocess.Popen([sys.executable, *words], cwd=folder, env=environment, stdout=output, stderr=output)

    def has_notes(count: int) -> bool:
        return run.poll() is not None or sum(note.exists() for note in notes) >= count

    try:
        for count in (1, 2):  # who comes second has had to wait for the PostgreSQL of the first
            until(partial(has_notes, count))
        yield run, [Path(line) for note in notes for line in note.read_text("utf-8").splitlines()]
    finally:
        run.kill()
        run.wait()


def processes_for(folders: list[Path]) -> set[int]:
    """The keepers of the servers in these folders, and all that descends from them."""
    command = ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    parents = {int(pid): int(parent) for pid, parent in (line.split()[:2] for line in lines)}
    found = {int(line.split()[0]) for line in lines if any(str(folder) in line for folder in folders)}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and not only waits to be buried."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], check=False, capture_output=True, text=True).stdout
    return state.strip() != "" and not state.startswith("Z")


def wait_until_nothing_is_left(of: set[int], folders: list[Path]) -> None:
    until(lambda: not any(map(is_running, of)) and not any(folder.exists() for folder in folders))


def test_workers_share_one_postgres_which_ends_with_their_run(tmp_path: Path) -> None:
    require(*PROGRAMS)
    with inner_run(tmp_path) as (run, folders):
        kinds = sorted(folder.name.split("-")[2] for folder in set(folders))
        assert kinds == ["pooler", "pooler", "postgres", "redis", "redis"]
        processes = processes_for(folders)
        assert len(processes) > 2 * len(kinds)
        (tmp_path / "go").touch()
        assert run.wait(PATIENCE_SECONDS) == 0
        wait_until_nothing_is_left(processes, folders)


def test_nothing_outlives_a_run_that_is_killed(tmp_path: Path) -> None:
    require(*PROGRAMS)
    with inner_run(tmp_path) as (run, folders):
        processes = processes_for(folders)
        run.kill()
        wait_until_nothing_is_left(processes, folders)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_a_server_does_not_outlive_its_keeper(new_redis: NewRedis) -> None:
    process = new_redis().process
    (keeper,) = processes_for([process.folder]) - {process.pid}
    os.kill(keeper, signal.SIGKILL)
    until(lambda: not is_running(process.pid))


# ---- What is missing ----


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a program that is not here."""
    monkeypatch.setitem(PROGRAMS, NOWHERE.name, NOWHERE)
    return NOWHERE.name


@pytest.mark.parametrize("in_ci", [False, True])
def test_what_may_not_be_installed_is_a_failure_only_in_ci(
    nowhere: str, monkeypatch: pytest.MonkeyPatch, *, in_ci: bool
) -> None:
    monkeypatch.setattr(programs, "can_install", lambda: False)
    monkeypatch.setenv("CI", "true" if in_ci else "")
    with pytest.raises(pytest.fail.Exception if in_ci else pytest.skip.Exception, match="brew install no-such-formula"):
        require(nowhere)


def test_what_may_be_installed_and_is_not_to_be_had_is_a_failure(nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(_: object) -> None:
        raise InstallationFailedError("no such package")

    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(programs, "can_install", lambda: True)
    monkeypatch.setattr(programs, "install", install)
    with pytest.raises(pytest.fail.Exception, match="no such package"):
        require(nowhere)


def test_a_program_off_path_is_found_in_the_folder_of_the_newest_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("9", "15", "14"):
        program = tmp_path / version / "bin" / NOWHERE.name
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
    monkeypatch.setitem(PROGRAMS, NOWHERE.name, Program(NOWHERE.name, (), "", (f"{tmp_path}/*/bin",)))
    assert find_or_install(NOWHERE.name) == tmp_path / "15" / "bin" / NOWHERE.name


def test_all_is_here_before_the_tests_begin() -> None:
    require(*PROGRAMS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.services"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
