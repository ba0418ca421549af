"""Which keys must be held before they are changed."""

import pytest

from commonhold.app.policy import Policies, Policy
from commonhold.domain.keys import Key, canonical, parse


def policies() -> Policies:
    words = {
        "migrations/": "pessimistic",
        "migrations/test/": "optimistic",
        "a.py#pay": "pessimistic",
        "a.py#Cart": "pessimistic",
        "a.py#Cart.show": "optimistic",
        "account:*": "pessimistic",
        "account:test:*": "optimistic",
    }
    return Policies({parse(pattern).key(): Policy(word) for pattern, word in words.items()})


@pytest.mark.parametrize(
    ("key", "policy"),
    [
        ("file:a.py", "optimistic"),
        ("file:a.py#pay", "pessimistic"),
        ("file:a.py#@header", "optimistic"),
        ("file:a.py#Cart.add", "pessimistic"),
        ("file:a.py#Cart.show", "optimistic"),
        ("file:migrations/1.sql", "pessimistic"),
        ("file:migrations/test/1.sql", "optimistic"),
        ("account:1", "pessimistic"),
        ("account:test:1", "optimistic"),
        ("order:1", "optimistic"),
    ],
)
def test_the_innermost_pattern_decides(key: str, policy: str) -> None:
    assert policies().of(canonical(key)) is Policy(policy)


def held_first(*keys: str) -> list[str]:
    return list(map(str, policies().held_first(map(canonical, keys))))


def test_what_is_inside_what_is_written_has_to_be_held_too() -> None:
    assert held_first("file:a.py") == ["file:a.py#pay", "file:a.py#Cart"]
    assert held_first("file:a.py#Cart") == ["file:a.py#Cart"]
    assert held_first("file:a.py#Cart.show", "file:b.py") == []
    assert held_first("file:migrations/1.sql", "file:a.py#pay") == ["file:migrations/1.sql", "file:a.py#pay"]


def test_without_policies_nothing_has_to_be_held() -> None:
    none: dict[Key, Policy] = {}
    assert Policies(none).held_first([canonical("file:a.py")]) == ()
