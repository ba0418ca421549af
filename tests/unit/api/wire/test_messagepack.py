"""The codec without a package reads what the real one writes, and the other way round."""

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.api.wire.messagepack import decode, encode

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner), max_leaves=30
)
SENT = st.recursive(
    st.none() | st.integers(0, 2**32 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def plain(value: object) -> object:
    """A value that was read, with maps for objects."""
    if isinstance(value, SimpleNamespace):
        return {name: plain(each) for name, each in vars(value).items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


@given(VALUES)
def test_what_the_daemon_writes_is_read(value: Any) -> None:
    assert plain(decode(msgspec.msgpack.encode(value))) == value


@pytest.mark.parametrize("value", ["x" * 70_000, b"x" * 70_000, list(range(70_000)), b"x" * 300, "x" * 300])
def test_long_values_are_read(value: Any) -> None:
    assert plain(decode(msgspec.msgpack.encode(value))) == value


def test_a_large_map_becomes_an_object() -> None:
    value = {f"name{number}": number for number in range(70_000)}
    assert plain(decode(msgspec.msgpack.encode(value))) == value


@given(SENT)
def test_what_is_asked_for_is_read_by_the_daemon(value: Any) -> None:
    assert msgspec.msgpack.decode(encode(value)) == value


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_value_or_an_error(data: bytes) -> None:
    with suppress(ValueError):
        decode(data)


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\xa5ab", b"\x01\x02", b"\x92\x01", b"\xcb\0", b"\xc4\x05a", b"\x91" * 5000]
)
def test_what_is_no_value_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="this"):
        decode(data)


def test_what_is_never_sent_is_not_written() -> None:
    with pytest.raises(ValueError, match="float is not sent"):
        encode([1.5])
