"""Each store as a rig, for tests that run on all of them; a server starts when the first test asks for it."""

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest
from tests.contract.rigs import ServerRig, postgres_rig, redis_rig
from tests.services.postgres_server import Database, PostgresAddress, new_database
from tests.services.redis_server import RedisServer

# Failures in the public suite show their values, as those in our own tests do.
pytest.register_assert_rewrite("commonhold.testing.conformance")


@pytest.fixture(scope="session")
def shared_database(postgres_address: PostgresAddress) -> Iterator[Database]:
    """A database in which each test has a namespace: to make one takes longer than most tests."""
    with new_database(postgres_address) as made:
        yield made


@pytest.fixture
def on_postgres(shared_database: Database) -> Iterator[ServerRig]:
    with closing(postgres_rig(shared_database.socket_url, uuid4().hex)) as rig:
        yield rig


@pytest.fixture
def on_redis(redis_server: RedisServer) -> Iterator[ServerRig]:
    with closing(redis_rig(redis_server.socket_url, uuid4().hex)) as rig:
        yield rig
