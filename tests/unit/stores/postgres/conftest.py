"""Leases in PostgreSQL, as tests open them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol
from uuid import uuid4

import pytest
from tests.services.postgres_server import Database, PostgresAddress, new_database

from commonhold.stores.postgres import no_skew, open_postgres
from commonhold.stores.postgres.tables import PostgresTables


class OpenTables(Protocol):
    """Opens the leases of the test's own namespace, as another process would."""

    def __call__(self, url: str = "", *, suffix: str = "", skew: Callable[[], float] = ...) -> PostgresTables:
        """Open them in the database that all tests share, or at `url`; `suffix` makes it another namespace."""
        ...


@pytest.fixture(scope="session")
def common_database(postgres_address: PostgresAddress) -> Iterator[Database]:
    """A database in which each test has a namespace: to make one takes longer than most tests."""
    with new_database(postgres_address) as made:
        yield made


@pytest.fixture
def namespace() -> str:
    return uuid4().hex


@pytest.fixture
def open_tables(request: pytest.FixtureRequest, namespace: str) -> Iterator[OpenTables]:
    with ExitStack() as stack:

        def opened(url: str = "", *, suffix: str = "", skew: Callable[[], float] = no_skew) -> PostgresTables:
            url = url or request.getfixturevalue("common_database").socket_url
            tables = open_postgres(url, namespace + suffix, skew=skew)
            stack.callback(tables.close)
            return tables

        yield opened


@pytest.fixture
def tables(open_tables: OpenTables) -> PostgresTables:
    return open_tables()
