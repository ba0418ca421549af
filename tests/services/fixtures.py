"""Fixtures that give a test the servers it asks for; none is started before.

PostgreSQL and Docker are one for all workers of a run, and each test has its own database. Redis and the pooler start
in no time: each worker has its own, and Redis is emptied for each test. A test that stops or kills a server asks for a
private one.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from tests.services.programs import MissingProgramError, find_or_install, in_ci

# Each driver takes a third of a second to import: only tests that need a server pay for it.
if TYPE_CHECKING:
    from tests.services.docker_engine import DockerEngine
    from tests.services.pooler import Pooler
    from tests.services.postgres_server import Database, PostgresAddress, PostgresServer
    from tests.services.redis_server import RedisServer


@dataclass(frozen=True, slots=True)
class Run:
    """The test run that servers are started for: the folder that its workers share, its first process and this one."""

    shared: Path
    controller: int
    worker: int

    @property
    def kept_for(self) -> tuple[int, int]:
        """Whose end ends a server of this worker."""
        return self.controller, self.worker


class NewRedis(Protocol):
    """Starts a private Redis."""

    def __call__(
        self, *, follows: "RedisServer | None" = None, options: Mapping[str, str] | None = None
    ) -> "RedisServer":
        """Start one, as a replica of another if that is given, with these settings of redis.conf."""
        ...


def require(*names: str) -> None:
    """Go on only with these programs; without them fail in CI and where they could be installed, else leave out."""
    try:
        for name in names:
            find_or_install(name)
    except MissingProgramError as missing:
        if missing.is_failure:
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def test_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        return Run(folder.parent, os.getppid(), os.getpid())
    return Run(folder, os.getpid(), os.getpid())


@pytest.fixture(scope="session")
def postgres_address(test_run: Run) -> "PostgresAddress":
    """The PostgreSQL that all workers share: not to be stopped."""
    require("initdb")
    from tests.services.shared import shared_postgres  # noqa: PLC0415  # see above

    return shared_postgres(test_run.shared, test_run.controller)


@pytest.fixture
def database(postgres_address: "PostgresAddress") -> Iterator["Database"]:
    """A PostgreSQL database of the test's own."""
    from tests.services.postgres_server import new_database  # noqa: PLC0415  # see above

    with new_database(postgres_address) as made:
        yield made


@pytest.fixture(scope="session")
def pooler(postgres_address: "PostgresAddress", test_run: Run) -> Iterator["Pooler"]:
    """A transaction pooler in front of that PostgreSQL: `pooler.url(database.name)`."""
    require("pgbouncer")
    from tests.services.pooler import Pooler  # noqa: PLC0415  # see above

    made = Pooler.create(postgres_address, test_run.kept_for)
    made.start()
    yield made
    made.discard()


@pytest.fixture
def private_postgres(test_run: Run) -> Iterator["PostgresServer"]:
    """A PostgreSQL that the test may stop, crash and restart."""
    require("initdb")
    from tests.services.postgres_server import PostgresServer  # noqa: PLC0415  # see above

    server = PostgresServer.create(test_run.kept_for)
    server.start()
    yield server
    server.discard()


@pytest.fixture(scope="session")
def docker_host(test_run: Run) -> str:
    """The value of DOCKER_HOST for an engine that all workers share: not to be stopped.

    Only root may start one; other users get that of the machine.
    """
    require("docker")
    from tests.services.docker_engine import answers  # noqa: PLC0415  # see above

    if os.geteuid() == 0:
        require("dockerd")
        from tests.services.shared import shared_docker  # noqa: PLC0415  # see above

        return shared_docker(test_run.shared, test_run.controller)
    if not answers(""):
        (pytest.fail if in_ci() else pytest.skip)("no Docker engine runs here, and only root may start one")
    return os.environ.get("DOCKER_HOST", "")


@pytest.fixture
def private_docker(test_run: Run) -> Iterator["DockerEngine"]:
    """A Docker engine that the test may stop, kill and restart."""
    if os.geteuid() != 0:
        pytest.skip("only root may start a Docker engine")
    require("docker", "dockerd")
    from tests.services.docker_engine import DockerEngine  # noqa: PLC0415  # see above

    engine = DockerEngine.private(test_run.kept_for)
    engine.start()
    yield engine
    engine.discard()


@pytest.fixture(scope="session")
def worker_redis(test_run: Run) -> Iterator["RedisServer"]:
    require("redis-server")
    from tests.services.redis_server import RedisServer  # noqa: PLC0415  # see above

    server = RedisServer.create(test_run.kept_for)
    server.start()
    yield server
    server.discard()


@pytest.fixture
def redis_server(worker_redis: "RedisServer") -> "RedisServer":
    """An empty Redis: not to be stopped."""
    worker_redis.empty()
    return worker_redis


@pytest.fixture
def new_redis(test_run: Run) -> Iterator[NewRedis]:
    """Starts Redis servers that the test may stop, kill, restart and promote."""
    require("redis-server")
    from tests.services.redis_server import RedisServer  # noqa: PLC0415  # see above

    with ExitStack() as stack:

        def start(*, follows: RedisServer | None = None, options: Mapping[str, str] | None = None) -> RedisServer:
            server = RedisServer.create(test_run.kept_for, follows, options)
            stack.callback(server.discard)
            server.start()
            return server

        yield start
