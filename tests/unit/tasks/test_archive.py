"""The context archive: which sections are found for words, and which bear on keys."""

from collections.abc import Mapping

import pytest
from tests.unit.tasks.note_files import FakeFiles, archive_of

from commonhold.kernel.errors import Code, InputError
from commonhold.stores.archive.sections import SqliteSections
from commonhold.tasks.archive import Archive, Quote, tokens_of
from commonhold.tasks.linking import Links

DECISION = """---
kind: decision
applies_to: ["src/pay/**", "account:*"]
---
# Cents
Amounts are integers.
"""
AUTH = """# Auth
Users log in at `src/auth/login.py`.
## Tokens
The function `refresh()` in auth/login.py renews a token; see Session.close.
## Nothing
The total is not mentioned as code, and login is a word.
"""


def bearing(notes: Mapping[str, str], *keys: str, words: str = "", links: Links | None = None) -> list[str]:
    found = archive_of(notes, links or {}).relevant(keys, words)
    return [f"{each.section.name}: {each.why}" for each in found]


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("src/pay/card.py#charge", ["it applies to src/pay/**"]),
        ("src/pay/deep/down.py", ["it applies to src/pay/**"]),
        ("account:7", ["it applies to account:*"]),
        ("src/payment.py", []),
        ("gpu:box", []),
    ],
)
def test_front_matter_says_what_a_note_applies_to(key: str, found: list[str]) -> None:
    assert bearing({"d.md": DECISION}, key) == [f"d.md#0: {why}" for why in found]


@pytest.mark.parametrize(
    ("pattern", "key", "does_match"),
    [
        ("src/a.py", "src/a.py#C.m", True),
        ("src/a.py#C", "src/a.py#C.m", True),
        ("src/a.py#C", "src/a.py#D", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("**/a.py", "a.py", True),
        ("**/a.py", "x/y/a.py", True),
        ("src/", "src/b/a.py", True),
        ("./src/a.py", "src/a.py", True),
        ("file:src/a.py", "src/a.py", True),
        ("src/?.py", "src/a.py", True),
        ("src/a.py", "src/aXpy", False),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("src/**x.py", "src/a/bx.py", True),
        ("*", "a/b.py", False),
        ("*", "b.py", True),
        ("?.py", "/.py", False),
    ],
)
def test_patterns(pattern: str, key: str, does_match: bool) -> None:  # noqa: FBT001 - a case
    assert bool(bearing({"a.md": f"---\napplies_to: ['{pattern}']\n---\nx\n"}, f"file:{key}")) == does_match


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("file:src/auth/login.py", ["a.md#0: it mentions src/auth/login.py", "a.md#1: it mentions auth/login.py"]),
        ("file:other/auth/login.py", ["a.md#1: it mentions auth/login.py"]),
        ("file:src/auth/login.pyi", []),
        ("file:x.py#refresh", ["a.md#1: it mentions refresh"]),
        ("file:x.py#Session.close", ["a.md#1: it mentions Session.close"]),
        ("file:x.py#total", []),
        ("file:login/", []),
    ],
)
def test_a_section_bears_on_what_it_mentions(key: str, found: list[str]) -> None:
    assert bearing({"a.md": AUTH}, key) == found


def test_a_link_counts_most_and_holds_for_all_that_overlaps_the_key() -> None:
    links = {"a.md#nothing": ("file:src/pay/",), "gone.md#x": ("file:src/pay/",)}
    found = bearing({"a.md": AUTH, "d.md": DECISION}, "file:src/pay/card.py", links=links)
    assert found == ["a.md#2: it is linked to file:src/pay/", "d.md#0: it applies to src/pay/**"]


def test_words_alone_count_if_there_are_several() -> None:
    assert bearing({"a.md": AUTH}, words="renew a token") == []
    assert bearing({"a.md": AUTH}, words="renews the token") == ["a.md#1: it has words of the task"]
    assert bearing({"a.md": AUTH}, words="") == []


def test_no_more_is_quoted_than_the_budget_allows() -> None:
    notes = {f"{number}.md": f"# Note\nabout src/x.py\n{'word ' * 300}" for number in range(5)}
    for budget in (10, 100, 400, 900):
        found = quoted(notes, budget)
        assert sum(tokens_of(each.text) for each in found) <= budget
        assert all(each.is_cut == (len(each.text) < len(each.section.text)) for each in found)
        assert bool(found) == (budget > 10)
    whole, cut, *_ = quoted(notes, 900)[-2:]
    assert (whole.is_cut, cut.is_cut, cut.text.endswith("word")) == (False, True, True)


def quoted(notes: Mapping[str, str], budget: int) -> tuple[Quote, ...]:
    return archive_of(notes).relevant(["file:src/x.py"], "", budget)


def test_search_takes_all_words_and_if_there_is_no_such_section_any() -> None:
    archive = archive_of({"a.md": AUTH})
    assert [each.section.name for each in archive.search("renews token")] == ["a.md#1"]
    assert [each.section.name for each in archive.search("renews nonsense")] == ["a.md#1"]
    assert archive.search("nonsense") == archive.search("") == ()


def test_show_takes_a_number_an_anchor_or_a_note_and_gives_what_is_below() -> None:
    archive = archive_of({"a.md": AUTH + "### Below\nx\n"})
    assert [each.number for each in archive.show("a.md")] == ["0", "1", "2", "2.1"]
    assert [each.number for each in archive.show("a.md#2")] == ["2", "2.1"]
    assert archive.show("a.md#nothing") == archive.show("a.md#2")


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [
        ("b.md", Code.FILE_NOT_FOUND, "commonhold archive list"),
        ("bad.md", Code.FILE_NOT_FOUND, "commonhold archive list"),
        ("a.md#9", Code.SECTION_UNKNOWN, "the sections 0, 1, 2;"),
        ("empty.md#1", Code.SECTION_UNKNOWN, "it is empty"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(name: str, code: Code, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        archive_of({"a.md": AUTH, "bad.md": "\0", "empty.md": ""}).show(name)
    assert caught.value.code is code
    assert hint in caught.value.hint


def test_a_pattern_that_may_match_in_many_ways_takes_no_time() -> None:
    hostile = "**a" * 60 + "b"
    assert bearing({"a.md": f"---\napplies_to: ['{hostile}']\n---\nx\n"}, f"file:{'a' * 200}") == []


@pytest.mark.parametrize(
    "text", ["`" + "total " * 100_000, "./" * 100_000 + "y", "a/" * 100_000, "# " + " " * 500_000 + "x"]
)
def test_no_text_takes_long(text: str) -> None:
    for key in ("file:x.py#total", "file:x.py"):
        assert bearing({"a.md": f"total x.py {text}\n"}, key)[:1] in ([], ["a.md#0: it mentions x.py"])


def test_one_call_reads_no_more_than_it_may() -> None:
    files = FakeFiles({"a.md": AUTH, "b.md": DECISION, "c.md": "# C\n"})
    archive = Archive(files, SqliteSections(None, "/tree"), most_read=2)
    assert [each.path for each in archive.entries()] == ["a.md", "b.md"]
    assert [each.path for each in archive.entries()] == ["a.md", "b.md", "c.md"]


def test_only_changed_files_are_read_again() -> None:
    files = FakeFiles({"a.md": AUTH, "b.md": DECISION})
    archive = archive_of(files)
    archive.refresh()
    assert files.read_paths == ["a.md", "b.md"]
    files.texts["b.md"] = "# New\n"
    del files.texts["a.md"]
    assert [each.title for each in archive.entries()] == ["New"]
    assert files.read_paths[2:] == ["b.md"]


def test_all_notes_can_be_shown_by_their_beginnings() -> None:
    found = archive_of({"b.md": DECISION, "a.md": "# A\n## Part\nText.\n", "empty.md": ""}).beginnings()
    assert [each.name for each in found] == ["a.md#1", "b.md#0"]
