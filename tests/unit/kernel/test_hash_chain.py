"""The chain of hashes: any change of an event is found at it, or at the next one."""

from dataclasses import replace
from typing import Any

import pytest

from commonhold.kernel.hash_chain import START, ChainLink, broken_at, next_hash


def chain(count: int, start: int = 1) -> list[ChainLink]:
    links: list[ChainLink] = []
    before = START
    for number in range(start, start + count):
        body = f'{{"number":{number}}}'
        before = next_hash(before, number, number / 3, "value_put", body.encode())
        links.append(ChainLink(number, number / 3, "value_put", body, before))
    return links


def test_an_untouched_chain_holds() -> None:
    assert broken_at(chain(5)) is None
    assert broken_at([]) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("body", "{}"), ("kind", "lease_denied"), ("at", 0.5), ("sequence", 9), ("hash", bytes(32)), ("hash", None)],
)
def test_a_changed_event_is_found_there(name: str, value: Any) -> None:
    links = chain(5)
    links[2] = replace(links[2], **{name: value})
    assert broken_at(links) == links[2].sequence


def test_a_removed_event_is_found_at_the_next_one() -> None:
    links = chain(5)
    assert broken_at(links[:2] + links[3:]) == 4
    assert broken_at(links[1:]) == 2


def test_an_inserted_event_is_found() -> None:
    links = chain(5)
    assert broken_at([*links[:2], links[1], *links[2:]]) == 2


def test_events_of_an_older_version_are_not_covered() -> None:
    old = [ChainLink(number, 0.0, "value_put", "{}", None) for number in (1, 2)]
    assert broken_at(old) is None
    assert broken_at(old + chain(3, start=3)) is None
    assert broken_at([*chain(3), replace(old[0], sequence=4)]) == 4
