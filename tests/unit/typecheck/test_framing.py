"""Messages over a pipe: what is sent is read, and anything else is a fault, never a surprise."""

import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.typecheck.framing import ServerFault, encode, read_message

pytestmark = pytest.mark.slow

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
MESSAGES = st.dictionaries(st.text(), VALUES, max_size=5)


@given(st.lists(MESSAGES, max_size=4))
def test_what_is_sent_is_read(messages: list[dict[str, object]]) -> None:
    stream = io.BytesIO(b"".join(map(encode, messages)))
    assert [read_message(stream) for _ in messages] == messages
    assert read_message(stream) is None


@given(st.binary() | st.binary().map(lambda body: b"Content-Length: %d\r\n\r\n%b" % (len(body), body)))
def test_any_bytes_are_a_message_or_the_end_or_a_fault(data: bytes) -> None:
    with suppress(ServerFault):
        message = read_message(io.BytesIO(data))
        assert isinstance(message, dict) if data else message is None


@given(MESSAGES, st.data())
def test_one_that_is_cut_off_is_a_fault(message: dict[str, object], data: st.DataObject) -> None:
    whole = encode(message)
    with pytest.raises(ServerFault):
        read_message(io.BytesIO(whole[: data.draw(st.integers(1, len(whole) - 1))]))


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"Content-Length: 64000001\r\n\r\n", "announced a message of 64,000,001 bytes"),
        (b"Content-Length: -1\r\n\r\n", "an invalid message"),
        (b"Content-Length: 10\r\n\r\n{}", "broke off in the middle"),
        (b"X: y\r\n" * 100, "headers without end"),
        (b"\r\n{}", "an invalid message"),
        (b"Traceback (most recent call last):\n", "an invalid message: 'Traceback"),
        (b"Content-Length: 100002\r\n\r\n" + b"[" * 50_001 + b"]" * 50_001, "an invalid message"),
    ],
)
def test_the_fault_says_what_was_wrong(sent: bytes, why: str) -> None:
    with pytest.raises(ServerFault, match=why):
        read_message(io.BytesIO(sent))
