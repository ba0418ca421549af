"""Which keys conflict: files, folders, regions and free keys."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from typing import Final

from commonhold.kernel.keys import canonical
from commonhold.kernel.outcomes import Denied, Granted
from commonhold.testing.conformance.rig import Caller, Conformance, Rig

MEETING: Final = (
    ("file:a.py", "file:a.py"),
    ("file:src/", "file:src/a.py"),
    ("file:src/", "file:src/deep/er/a.py#f"),
    ("file:./", "file:src/a.py#C.m"),
    ("file:a.py", "file:a.py#f"),
    ("file:a.py", "file:a.py#@header"),
    ("file:a.py#C", "file:a.py#C.m"),
    ("file:a.py#C", "file:a.py#C.@header"),
    ("file:a.py#@header", "file:a.py#f"),
    ("file:a.py#@header", "file:a.py#C.m"),
    ("file:a.py#f", "file:a.py#f~2"),
    ("file:a.py#C~1.m", "file:a.py#C.m"),
    ("file:src/", "file:src"),
    ("file:src", "file:src/a.py"),
    ("file:src", "file:src/deep/er/a.py#f"),
    ("file:src#f", "file:src/a.py#g"),
    ("file:src/a", "file:src/a/b/"),
    ("file:app/[slug]", "file:app/[slug]/page.ts#Page"),
    ("account:1", "account:1"),
    ("customer:acme", "customer:acme:onboarding"),
    ("customer:*", "customer:acme:onboarding:step"),
)
APART: Final = (
    ("file:a.py", "file:b.py"),
    ("file:a.py", "file:a.pyi"),
    ("file:src/", "file:srcs/a.py"),
    ("file:src", "file:srcs/a.py"),
    ("file:src", "file:src.py"),
    ("file:src/a/", "file:src/b/"),
    ("file:a.py#f", "file:a.py#g"),
    ("file:a.py#f", "file:b.py#f"),
    ("file:a.py#C.m", "file:a.py#C.n"),
    ("file:a.py#C.@header", "file:a.py#C.m"),
    ("file:a.py#C.@header", "file:a.py#f"),
    ("file:a.py#f~1", "file:a.py#f~2"),
    ("file:a.py#f", "file:a.py#ff"),
    ("account:1", "account:12"),
    ("account:1", "user:1"),
    ("customer:acme:a", "customer:acme:b"),
    ("customer:acme", "customers:acme"),
    ("account:*", "accounts:1"),
)


class NameConformance(Conformance):
    """One namespace of names, and which of them contain others."""

    def test_overlapping_keys_exclude_each_other_in_either_order(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        for left, right in MEETING:
            for first, second in ((left, right), (right, left)):
                denied = _second(one, two, first, second)
                assert isinstance(denied, Denied), (first, second)
                assert [(each.key, each.held) for each in denied.conflicts] == [(second, first)]

    def test_keys_that_do_not_overlap_are_held_side_by_side(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        for left, right in APART:
            for first, second in ((left, right), (right, left)):
                assert isinstance(_second(one, two, first, second), Granted), (first, second)

    def test_a_folder_excludes_what_is_below_it_however_long_its_path_is(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        for length in (*range(960, 1001), 2_000):  # a store may cut off what it finds leases by
            folder = f"file:{'d' * 99}/{'e' * (length - 107)}/"
            for name in ("x", "é", "名", "🙂"):
                assert isinstance(_second(one, two, folder + name, folder), Denied), (length, name)
                assert isinstance(_second(one, two, folder, folder + name), Denied), (length, name)

    def test_one_lease_may_hold_keys_of_all_kinds(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease("file:src/", "file:a.py#f", "account:1", "customer:*")
        for key in ("file:src/b.py", "file:a.py#@header", "account:1:2", "customer:acme"):
            assert isinstance(two.acquire(key), Denied)
        for key in ("file:b.py", "file:a.py#g", "account:2", "user:acme"):
            two.lease(key)

    def test_names_in_any_script_are_kept_apart_and_given_back(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        names = (
            "file:straße/naïve café.py#größe",
            "file:名前/模块.py",
            "city:Zürich:Ä",
            "file:a%23b.py",
            "x:100%25 %2A",
        )
        for name in names:
            key = str(canonical(name))
            assert one.lease(key).keys == (key,)
            assert isinstance(two.acquire(key), Denied)
        with one.registry.read() as view:
            assert [view.overlapping([canonical(name)])[-1].keys[0] for name in names] == [
                str(canonical(name)) for name in names
            ]

    def test_overlapping_leases_are_found_in_the_order_of_their_grants(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        leases = [caller.lease(key) for caller, key in ((one, "file:src/b.py"), (two, "file:src/a.py#f"))]
        one.lease("account:1")
        with two.registry.read() as view:
            near = [
                lease for lease in view.overlapping([canonical("file:src/")]) if lease.covering(canonical("file:src/"))
            ]
            assert near == leases
            assert all(not lease.covering(canonical("file:x/")) for lease in view.overlapping([canonical("file:x/")]))


def _second(one: Caller, two: Caller, first: str, second: str) -> object:
    """Return the answer to the second of two agents that request two keys; both keys are free again."""
    lease = one.lease(first)
    answer = two.acquire(second)
    if isinstance(answer, Granted):
        two.release(answer.lease)
    one.release(lease)
    return answer
