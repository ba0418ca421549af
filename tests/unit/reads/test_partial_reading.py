"""Files that a session reads in parts: what it knows of them then, and what it may overwrite."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.in_memory.store import MemoryStore
from tests.own_tools import Hand, Workshop, workshop

from commonhold.kernel.answers import RegionHash
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.refusals import Refusal
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

SOURCE = """import os

LIMIT = 3


def f(x):
    y = x + 1
    return y


class C:
    size = 2

    def m(self):
        return 30

    def n(self):
        return 40


WORD = "w"
"""
LINES = SOURCE.splitlines()
CHANGES = {
    "@header": ("LIMIT = 3", "LIMIT = 33"),
    "f": ("y = x + 1", "y = x + 11"),
    "C.@header": ("size = 2", "size = 22"),
    "C.m": ("return 30", "return 33"),
    "C.n": ("return 40", "return 44"),
}
OTHERWISE = {
    "@header": ('WORD = "w"', 'WORD = "x"'),
    "f": ("return y", "return -y"),
    "C.@header": ("class C:", "class C(object):"),
    "C.m": ("def m(self)", "def m(self, a=1)"),
    "C.n": ("def n(self)", "def n(self, a=1)"),
}
STANDS_ON = {
    "@header": {0, 2, 20},
    "f": {5, 6, 7},
    "C.@header": {10, 11},
    "C.m": {13, 14},
    "C.n": {16, 17},
}
REGIONS = tuple(STANDS_ON)
windows = st.tuples(st.integers(0, len(LINES) - 1), st.integers(1, 12)).map(
    lambda window: range(window[0], min(len(LINES), sum(window)))
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        made.write("a.py", SOURCE)
        yield made


def shown(hand: Hand, *lines: range) -> None:
    now = hand.shop.text().split("\n")
    for each in lines:
        if text := "\n".join(now[each.start : each.stop]).strip("\n"):
            hand.service.record_read("a.py", shown=text)


def changed(text: str, region: str, how: dict[str, tuple[str, str]]) -> str:
    was, becomes = how[region]
    assert text.count(was) == 1
    return text.replace(was, becomes)


def known(hand: Hand) -> set[str]:
    asked = [f"a.py#{region}" for region in REGIONS]
    return {each.key.partition("#")[2] for each in hand.service.last_read(*asked) if each.hash is not None}


def seen(lines: set[int], region: str) -> bool:
    return STANDS_ON[region] <= lines


@examples(0.5)
@given(
    st.lists(windows, min_size=1, max_size=6),
    st.sampled_from(REGIONS),
    st.sampled_from(REGIONS),
    st.sampled_from(["", SOURCE]),
)
def test_known_is_what_was_shown_by_and_by(
    tmp_path_factory: pytest.TempPathFactory, read: list[range], other: str, wanted: str, before: str
) -> None:
    """Whatever is shown, in any order: a region is known once all its lines were, and no other is.

    What another has changed since may be overwritten only then, as what was never read.
    """
    store = MemoryStore()
    with workshop(tmp_path_factory.mktemp("shop")) as shop:
        shop.store = lambda _folder: store
        shop.write("a.py", SOURCE)
        one, two = shop.hand("one"), shop.hand("two")
        one.service.record_read(*(["a.py"] if before else []), shown=before)
        two.edit({"a.py": changed(SOURCE, other, CHANGES)})
        two.service.end_turn()
        shown(one, *read)
        lines = {line for each in read for line in each}
        complete = {region for region in REGIONS if seen(lines, region)}
        if not before:
            assert known(one) == complete
            assert (one.service.last_read("a.py")[0].hash is not None) == (complete == set(REGIONS))
        text = changed(shop.text(), wanted, OTHERWISE)
        answer = one.propose({"a.py": text}, blind=["a.py"])
        knows = wanted in complete or (before != "" and wanted != other)
        assert answer.code is (None if knows else Refusal.REGION_CHANGED)
        shown(one, range(12), range(12, 21))
        assert one.propose({"a.py": text}, blind=["a.py"]).code is None, "it has read it again"


def test_what_is_left_of_a_file_is_told_when_it_was_read_in_part(shop: Workshop) -> None:
    one = shop.hand("one")
    assert [
        (each.key, each.hash is None) for each in one.service.record_read("a.py", shown="\n".join(LINES[5:12]))
    ] == [
        ("file:a.py#f", False),
        ("file:a.py#C.@header", False),
    ]
    assert one.service.record_read("a.py", shown=LINES[13]) == (RegionHash("file:a.py#C.m", None),)
    answer = one.propose({"a.py": SOURCE.replace("30", "31").replace("40", "41").replace("+ 1", "+ 2")}, blind=["a.py"])
    assert answer.why == (
        "file:a.py#C.m is there already, and this session has read only a part of it; "
        "file:a.py#C.n is there already, and this session has not read it"
    )
    assert [each.text for each in answer.repair.regions] == [
        "    def m(self):\n        return 30\n",
        "    def n(self):\n        return 40\n",
    ]


def test_a_part_that_was_read_may_be_replaced_by_who_names_it(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    shown(one, range(5, 7))
    assert one.edit({"a.py": changed(SOURCE, "f", CHANGES)}).outcome == "recorded"
    shown(two, range(13, 14))
    one.edit({"a.py": changed(shop.text(), "C.m", CHANGES)}, call="other")
    one.service.end_turn()
    answer = two.propose({"a.py": changed(shop.text(), "C.m", OTHERWISE)})
    assert answer.why == "file:a.py#C.m changed since this session read it", (
        "the part that it has read is another's now"
    )


def test_who_has_read_a_part_hears_of_what_others_make_of_that_region(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    shown(one, range(13, 14))
    for region in ("f", "C.m"):
        two.edit({"a.py": changed(shop.text(), region, CHANGES)}, call=region)
    assert [each.key for each in one.service.news()] == ["file:a.py#C.m"]


def test_a_change_is_still_to_be_read_until_all_of_it_was_shown(shop: Workshop) -> None:
    """A part of the definition does not settle that its contract is another."""
    one, two = shop.hand("one"), shop.hand("two")
    shop.write("b.py", "def g():\n    return 1\n")
    one.service.record_read("a.py")
    two.edit({"a.py": SOURCE.replace("def f(x)", "def f(x, z=0)").replace("import os", "import os.path as os")})
    uses = Changeset((Edit(Op.CREATE_FILE, "c.py", text="from a import f\n\n\ndef h():\n    return f(1)\n"),))
    assert one.service.commit(uses).code is Refusal.CONTRACT_CHANGED
    shown(one, range(6, 8))
    assert one.service.commit(uses).code is Refusal.CONTRACT_CHANGED
    shown(one, range(5, 6))
    assert one.service.commit(uses).outcome == "committed"


def test_a_file_that_was_read_in_pieces_may_be_deleted(shop: Workshop) -> None:
    one = shop.hand("one")
    shown(one, range(12), range(12, 20))
    assert one.propose({"a.py": None}, blind=["a.py"]).code is Refusal.REGION_CHANGED
    two = shop.hand("two")
    shown(two, range(12), range(12, 21))
    assert two.propose({"a.py": None}, blind=["a.py"]).code is None


def test_what_was_shown_of_a_region_counts_only_while_it_is_the_same(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    shown(one, range(5, 7))
    two.edit({"a.py": changed(SOURCE, "f", CHANGES)})
    shown(one, range(7, 8))
    assert known(one) == set()
    shown(one, range(5, 7))
    assert known(one) == {"f"}


def test_what_is_read_again_in_part_is_written_once(tmp_path: Path) -> None:
    stores: list[Counting] = []

    def store(folder: str) -> Counting:
        stores.append(Counting(folder, synchronous="OFF"))
        return stores[-1]

    with workshop(tmp_path) as shop:
        shop.store = store
        shop.write("a.py", SOURCE)
        one = shop.hand("one")
        shown(one, range(5, 7))
        count = stores[0].writes
        assert count
        shown(one, range(5, 7), range(5, 6))
        assert stores[0].writes == count
        shown(one, range(7, 8))
        assert stores[0].writes == count + 1


class Counting(SqliteStore):
    """Counts what is written."""

    writes = 0

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        self.writes += 1
        with super()._writing() as session:
            yield session
