"""Values in the text of a statement are what the database reads, whatever they are made of."""

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.pq import Escaping
from tests.services.postgres_server import Database

from commonhold.kernel.errors import InputError
from commonhold.stores.postgres.literals import Value, literal

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[tuple[object, ...]]
characters = st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\\'\"{},%$;- \n")
texts = st.text(characters)


@pytest.fixture(scope="module", params=["on", "off"])
def connection(common_database: Database, request: pytest.FixtureRequest) -> Iterator[Connection]:
    with psycopg.connect(common_database.url, autocommit=True) as connection:
        connection.execute(f"SET standard_conforming_strings = {request.param}".encode())
        yield connection


def read_back(connection: Connection, value: Value, kind: str) -> object:
    text = literal(value, Escaping(connection.pgconn).escape_literal)
    row = connection.execute(f"SELECT {text}::{kind}".encode()).fetchone()
    assert row is not None
    return row[0]


@given(text=texts)
@example("\\' OR true; --")
@example("' OR true; --")
def test_texts(connection: Connection, text: str) -> None:
    assert read_back(connection, text, "text") == text


@given(many=st.lists(texts))
@example(["NULL", "null", "", " ", "{}", '"'])
def test_lists(connection: Connection, many: list[str]) -> None:
    assert read_back(connection, many, "text[]") == many


@given(number=st.floats(allow_nan=False))
def test_numbers(connection: Connection, number: float) -> None:
    assert read_back(connection, number, "double precision") == number


@given(number=st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers(connection: Connection, number: int) -> None:
    assert read_back(connection, number, "bigint") == number


def test_nothing(connection: Connection) -> None:
    assert read_back(connection, None, "text") is None


@pytest.mark.parametrize("value", ["a\0b", ["a\0b"]])
def test_what_cannot_be_kept(connection: Connection, value: Value) -> None:
    with pytest.raises(InputError):
        read_back(connection, value, "text")
