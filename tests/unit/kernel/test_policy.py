"""Which keys must be held before they are changed."""

import pytest

from commonhold.kernel.keys import Key, canonical, parse
from commonhold.kernel.policy import Merging, Policies, Policy


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


@pytest.mark.parametrize(
    ("key", "merges"),
    [
        ("file:b.py", True),
        ("file:a.py", False),  # a part of it never is
        ("file:a.py#pay", False),
        ("file:a.py#show", True),
        ("file:a.py#Cart", False),
        ("file:a.py#Cart.add", False),
        ("file:a.py#Cart.show", True),
        ("file:migrations/1.sql", False),
        ("file:migrations/test/1.sql", True),
    ],
)
def test_what_is_never_merged_is_never_merged_with_what_is_around_it(key: str, *, merges: bool) -> None:
    words = {
        "migrations/": "never",
        "migrations/test/": "proven",
        "a.py#pay": "never",
        "a.py#Cart": "never",
        "a.py#Cart.show": "proven",
    }
    policies = Policies(merging={parse(pattern).key(): Merging(word) for pattern, word in words.items()})
    assert policies.merges(canonical(key)) is merges
