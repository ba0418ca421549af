"""Merges of a queue in git: admitted as by `commonhold check`, or refused with a repair packet."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.e2e.branches import asked, commit
from tests.e2e.cli_driver import git

from commonhold.code.indexes import Index
from commonhold.config import load_settings
from commonhold.coordinator.integration import MOST_TEXT, GitBranch, changed_regions
from commonhold.index.index import index_at
from commonhold.kernel.entry import Entry, EntryRecord, Fault, RepairPacket
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository

SHOP = """LIMIT = 3


def charge(amount):
    return amount


def total(orders):
    return sum(charge(each) for each in orders)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "r"
    made.mkdir()
    git(made, "init", "--quiet")
    commit(made, {"shop.py": SHOP, "notes.txt": "one\ntwo\n"}, "begin")
    return made


def change(root: Path, name: str, **files: str) -> EntryRecord:
    """Make a branch with other content in some files, and the entry of it."""
    git(root, "switch", "--quiet", "--create", name, "main")
    commit(root, {path.replace("_", "."): text for path, text in files.items()}, f"what {name} does")
    git(root, "switch", "--quiet", "--detach", "main")
    entry = Entry(
        f"e-{name}", name, asked(root, "rev-parse", name), "refs/heads/main", f"what {name} does", author="bot"
    )
    return EntryRecord(entry, 1, 1, "bot", 0.0, 0.0)


def branch(root: Path) -> GitBranch:
    @contextmanager
    def index() -> Iterator[Index]:
        with closing(index_at(find_repository(str(root)), 1_000_000)) as found:
            yield found

    settings = load_settings(str(root))
    return GitBranch(Git(str(root)), str(root / ".git"), "refs/heads/main", settings, index)


def merged(root: Path, record: EntryRecord, head: str = "main", *, has_checks: bool = True) -> str | RepairPacket:
    return branch(root).merged(record, asked(root, "rev-parse", head), has_checks=has_checks)


def refused(found: str | RepairPacket) -> RepairPacket:
    assert isinstance(found, RepairPacket), found
    return found


def test_changes_of_two_functions_are_merged_into_one_commit_with_its_attribution(root: Path) -> None:
    first = change(root, "one", shop_py=SHOP.replace("LIMIT = 3", "LIMIT = 4"))
    second = change(root, "two", shop_py=SHOP.replace("return sum(", "return 1 + sum("))
    tip = merged(root, first)
    assert isinstance(tip, str)
    both = branch(root).merged(second, tip, has_checks=False)
    assert isinstance(both, str), both
    text = asked(root, "show", f"{both}:shop.py")
    assert "LIMIT = 4" in text
    assert "return 1 + sum(" in text
    assert asked(root, "show", "--no-patch", "--format=%P", both).split() == [tip, second.entry.commit]
    message = asked(root, "show", "--no-patch", "--format=%B", both)
    assert message == "Land two: what two does\n\nCommonhold-Entry: e-two\nCommonhold-Agent: bot"
    assert branch(root).head() == asked(root, "rev-parse", "main")


def test_a_conflict_is_returned_with_the_present_text_and_who_changed_it(root: Path) -> None:
    first = change(root, "one", shop_py=SHOP.replace("return amount", "return amount + 1"))
    second = change(root, "two", shop_py=SHOP.replace("return amount", "return amount * 2"))
    tip = merged(root, first)
    assert isinstance(tip, str)
    packet = refused(branch(root).merged(second, tip, has_checks=True))
    assert (packet.fault, packet.head) == (Fault.MERGE_CONFLICT, tip)
    (conflict,) = packet.conflicts
    assert (conflict.path, conflict.region) == ("shop.py", "charge")
    assert conflict.text == "def charge(amount):\n    return amount + 1\n"
    (line,) = conflict.changed_by
    assert line.endswith("Land one: what one does (entry e-one, agent bot)")
    assert "shop.py" in packet.why


def test_a_call_that_the_branch_has_broken_is_returned_although_the_lines_merge(root: Path) -> None:
    first = change(
        root,
        "one",
        shop_py=SHOP.replace("def charge(amount):", "def charge(amount, rate):").replace(
            "charge(each)", "charge(each, 1)"
        ),
    )
    second = change(root, "two", more_py="from shop import charge\n\nDUE = charge(3)\n")
    tip = merged(root, first)
    assert isinstance(tip, str)
    packet = refused(branch(root).merged(second, tip, has_checks=True))
    assert packet.fault is Fault.SEMANTIC_CONFLICT
    (conflict,) = packet.conflicts
    assert (conflict.path, conflict.region) == ("shop.py", "charge")
    assert conflict.text.startswith("def charge(amount, rate):")
    assert "more.py:3" in conflict.why


def test_a_suspicion_is_left_to_the_checks_and_refused_without_any(root: Path) -> None:
    first = change(root, "one", shop_py=SHOP.replace("return amount", "return amount + 1"))
    second = change(root, "two", shop_py=SHOP.replace("sum(charge(each)", "sum(2 * charge(each)"))
    tip = merged(root, first)
    assert isinstance(tip, str)
    assert isinstance(branch(root).merged(second, tip, has_checks=True), str)
    packet = refused(branch(root).merged(second, tip, has_checks=False))
    assert packet.fault is Fault.SEMANTIC_CONFLICT
    assert "no check decides" in packet.why


def test_a_commit_without_a_common_history_is_returned_and_one_that_is_gone_too(root: Path) -> None:
    record = change(root, "one", shop_py="x = 1\n")
    gone = EntryRecord(Entry("e9", "gone", "d" * 40, "refs/heads/main"), 1, 1, "bot", 0.0, 0.0)
    assert refused(merged(root, gone)).fault is Fault.COMMIT_GONE
    git(root, "checkout", "--quiet", "--orphan", "alone")
    commit(root, {"b.txt": "b\n"}, "alone")
    packet = refused(branch(root).merged(record, asked(root, "rev-parse", "alone"), has_checks=True))
    assert "no commit in common" in packet.why


def test_a_mode_that_one_side_changed_is_kept_where_both_changed_the_text(root: Path) -> None:
    first = change(root, "one", shop_py=SHOP.replace("LIMIT = 3", "LIMIT = 4"))
    git(root, "switch", "--quiet", "--create", "two", "main")
    (root / "shop.py").chmod(0o755)
    commit(root, {"shop.py": SHOP.replace("LIMIT = 3\n", "LIMIT = 3\nMOST = 9\n")}, "executable")
    second = EntryRecord(
        Entry("e2", "two", asked(root, "rev-parse", "two"), "refs/heads/main", "t"), 1, 1, "bot", 0.0, 0.0
    )
    tip = merged(root, first)
    assert isinstance(tip, str)
    both = branch(root).merged(second, tip, has_checks=True)
    assert isinstance(both, str), both
    assert asked(root, "ls-tree", both, "shop.py").startswith("100755")


def test_the_touched_keys_are_those_of_the_changed_regions(root: Path) -> None:
    record = change(
        root, "one", shop_py=SHOP.replace("return amount", "return 0"), notes_txt="one\n2\n", new_py="x = 1\n"
    )
    head = asked(root, "rev-parse", "main")
    assert branch(root).touched(record.entry.commit, head) == {
        "file:shop.py#charge",
        "file:notes.txt",
        "file:new.py",
    }
    assert branch(root).touched("d" * 40, head) == frozenset()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (SHOP, SHOP.replace("LIMIT = 3", "LIMIT = 4"), {"file:shop.py#@header"}),
        (SHOP, SHOP + "\n\ndef more():\n    pass\n", {"file:shop.py#more"}),
        (SHOP, None, {"file:shop.py"}),
        (None, SHOP, {"file:shop.py"}),
        (
            "class A:\n    def f(self): pass\n\n    def g(self): pass\n",
            "class A:\n    def f(self): pass\n\n    def g(self): x\n",
            {"file:shop.py#A.g"},
        ),
    ],
)
def test_a_change_touches_the_regions_that_differ(before: str | None, after: str | None, expected: set[str]) -> None:
    old, new = (None if each is None else each.encode() for each in (before, after))
    assert changed_regions("shop.py", old, new) == expected


def test_a_packet_quotes_no_more_than_its_limit(root: Path) -> None:
    long = "x\n" * MOST_TEXT
    commit(root, {"big.txt": long}, "big")
    first = change(root, "one", big_txt=f"1\n{long}")
    second = change(root, "two", big_txt=f"2\n{long}")
    tip = merged(root, first)
    assert isinstance(tip, str)
    packet = refused(branch(root).merged(second, tip, has_checks=True))
    assert all(len(each.text) <= MOST_TEXT + 2 for each in packet.conflicts)
