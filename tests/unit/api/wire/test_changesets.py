"""Changesets from JSON, checked to the letter."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.api.wire.changesets import changeset, parse_changeset
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op, Read
from commonhold.kernel.errors import Code, InputError

FULL = {
    "intent": "round to cents",
    "request_id": "r1",
    "edits": [
        {"op": "replace", "key": "a.py#f", "base": "0" * 64, "text": "x\n", "span": 1},
        {"op": "rename_file", "key": "b", "base": "1" * 64, "to": "c"},
        {"op": "create_file", "key": "d", "data": base64.b64encode(b"\0\xff").decode(), "mode": "755"},
    ],
    "leases": [{"id": "l1", "fence": 7}],
    "reads": [{"key": "e", "hash": "2" * 64}],
    "merge": False,
}


def test_a_whole_changeset() -> None:
    assert parse_changeset(json.dumps(FULL)) == Changeset(
        intent="round to cents",
        request_id="r1",
        edits=(
            Edit(Op.REPLACE, "a.py#f", base="0" * 64, text="x\n", span=1),
            Edit(Op.RENAME_FILE, "b", base="1" * 64, to="c"),
            Edit(Op.CREATE_FILE, "d", data=b"\0\xff", mode="755"),
        ),
        leases=(LeaseRef("l1", 7),),
        reads=(Read("e", "2" * 64),),
        merge=False,
    )


def test_only_edits_are_needed() -> None:
    assert parse_changeset(b'{"edits": []}') == Changeset(())


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ([], "not an object"),
        (None, "not an object"),
        ({}, "edits"),
        ({"edits": {}}, "edits is not a list"),
        ({"edits": [1]}, r"edits\[0\] is not an object"),
        ({"edits": [], "intend": ""}, "no field 'intend'"),
        ({"edits": [{"op": "replace", "key": "a", "old": "b"}]}, r"edits\[0\] has no field 'old'"),
        ({"edits": [{"key": "a"}]}, "op"),
        ({"edits": [{"op": "patch", "key": "a"}]}, "patch"),
        ({"edits": [{"op": "replace", "key": 1}]}, "str"),
        ({"edits": [], "merge": "never"}, "merge"),
        ({"edits": [{"op": "chmod", "key": "a", "mode": 755}]}, "mode"),
        ({"edits": [{"op": "create_file", "key": "a", "data": "?"}]}, "base64"),
        ({"edits": [], "leases": [{"id": "l", "fence": "7"}]}, "fence"),
        ({"edits": [], "leases": [{"id": "l"}]}, "fence"),
        ({"edits": [], "reads": [{"key": "a"}]}, "hash"),
        ({"edits": [], "intent": None}, "intent"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(shape: Any, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        changeset(shape)
    assert caught.value.code is Code.CHANGESET_INVALID


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"edits": "\\ud800"}', b"[" * 100_000, '{"edits":\ud800}'])
def test_what_is_no_json_is_told(data: bytes | str) -> None:
    with pytest.raises(InputError) as caught:
        parse_changeset(data)
    assert caught.value.code is Code.CHANGESET_INVALID


_names = st.sampled_from(("edits", "leases", "reads", "intent", "op", "key"))
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(_names, inner),
)


def is_read_or_refused(shape: object) -> bool:
    try:
        return isinstance(changeset(shape), Changeset)
    except InputError as fault:
        return fault.code is Code.CHANGESET_INVALID


@given(_json)
def test_any_json_is_read_or_refused(shape: object) -> None:
    assert is_read_or_refused(shape)
