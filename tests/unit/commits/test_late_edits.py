"""What of a late edit is merged: where its base is found, and what guards the result."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.commits import write_use_cases as composition
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.kernel.answers import CommitAnswer, RegionText
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.events import Committed
from commonhold.kernel.options import Options
from commonhold.kernel.refusals import Refusal
from commonhold.merging.verdict import Proven, Reason, Sides, Spot, Unproven
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

SOURCE = """import os
import sys


def f(x):
    a = 1
    print(a)
    b = 2
    print(b)
    c = 3
    return a + b + c


LIMIT = 1
OTHER = 2


def g():
    return os, sys
"""
F = SOURCE.partition("\n\n\n")[2].partition("\n\n\n")[0] + "\n"
MergeOf = Callable[[bytes, bytes, bytes], bytes | str]
"""What a test puts in the place of the merge: the merged bytes, or why they are refused."""


@dataclass
class Shop:
    """One file, and agents that share its state."""

    folder: Path
    services: dict[str, Service] = field(default_factory=dict)

    def agent(self, name: str) -> Service:
        if name not in self.services:
            self.services[name] = Service(
                store=SqliteStore(str(self.folder / "state"), synchronous="OFF"),
                files=WorkingTree(str(self.folder / "root")),
                clock=FakeClock(),
                ids=CountingIds(),
                agent=name,
                options=Options(retention_seconds=1e6),
            )
        return self.services[name]

    @property
    def path(self) -> Path:
        return self.folder / "root" / "a.py"

    def hash_of(self, key: str) -> str:
        """Read it: what is read is kept."""
        return self.agent("one").read(key)[0].hash

    def commit(self, name: str, *edits: Edit, intent: str = "", merge: bool = True) -> CommitAnswer:
        return self.agent(name).commit(Changeset(edits, intent, merge=merge))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path)
    shop.path.parent.mkdir()
    shop.path.write_text(SOURCE)
    yield shop
    for service in shop.services.values():
        service.close()


def replace(key: str, base: str, text: str, span: int | None = None) -> Edit:
    return Edit(Op.REPLACE, key, base, text, span=span)


def merge_with(monkeypatch: pytest.MonkeyPatch, merged: MergeOf) -> list[tuple[bytes, bytes, bytes, Sides]]:
    """Let `merged` be the merge; what it was called with."""
    calls: list[tuple[bytes, bytes, bytes, Sides]] = []

    def merge(base: bytes, ours: bytes, theirs: bytes, path: str, sides: Sides | None = None) -> Proven | Unproven:
        assert path == "a.py"
        assert sides is not None
        calls.append((base, ours, theirs, sides))
        found = merged(base, ours, theirs)
        return (
            Proven(found, ("joined",)) if isinstance(found, bytes) else Unproven((Spot(Reason.ORDER_MATTERS, found),))
        )

    monkeypatch.setattr(composition, "merge", merge)
    return calls


def test_the_sides_differ_in_nothing_but_what_the_edits_name(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = merge_with(monkeypatch, lambda _base, _ours, theirs: theirs)
    base = shop.hash_of("a.py#f")
    shop.commit("two", replace("a.py#f", base, F.replace("b = 2", "b = 20")), intent="more b")
    shop.commit("two", replace("a.py#g", shop.hash_of("a.py#g"), "def g():\n    return sys, os\n"))
    late = replace("a.py#f", base, F.replace("a = 1", "a = 10"))
    timely = replace("a.py#@header", shop.hash_of("a.py#@header"), "LIMIT = 100\nOTHER = 2\n", span=1)
    shop.commit("one", late, timely, intent="more a")
    now = SOURCE.replace("os, sys", "sys, os")
    ((base_source, ours, theirs, sides),) = calls
    assert base_source.decode() == now
    assert ours.decode() == now.replace("a = 1", "a = 10").replace("LIMIT = 1", "LIMIT = 100")
    assert theirs.decode() == now.replace("b = 2", "b = 20")
    assert sides == Sides("yours: more a", "two: more b")


def test_a_base_of_which_only_the_file_was_read_is_found_by_the_log(shop: Shop) -> None:
    shop.hash_of("a.py")
    listed = {str(region.key): region.hash for region in shop.agent("one").regions("a.py").regions}
    base = listed["file:a.py#f"]
    whole = replace("a.py", listed["file:a.py"], SOURCE.replace("b = 2", "b = 20"))
    assert shop.commit("two", whole).outcome == "committed"
    answer = shop.commit("one", replace("a.py#f", base, F.replace("a = 1", "a = 10")))
    assert answer.outcome == "merged"
    assert shop.path.read_text() == SOURCE.replace("a = 1", "a = 10").replace("b = 2", "b = 20")


@pytest.mark.parametrize(
    "named", [lambda header: header.pieces[1].hash, lambda header: header.hash], ids=["piece", "header"]
)
def test_a_piece_of_a_header_is_found_again_though_its_number_has_changed(
    shop: Shop, named: Callable[[RegionText], str]
) -> None:
    base = named(shop.agent("one").read("a.py#@header")[0])
    new = Edit(Op.INSERT, "a.py#e", text="def e(): ...\n", after="a.py#@header")
    shop.commit("two", new)
    shop.commit("two", replace("a.py#@header", shop.hash_of("a.py#@header"), "LIMIT = 1\nOTHER = 20\n", span=2))
    answer = shop.commit("one", replace("a.py#@header", base, "LIMIT = 10\nOTHER = 2\n", span=1))
    assert (answer.outcome, [region.span for region in answer.merged]) == ("merged", [2])
    text = shop.path.read_text()
    assert "LIMIT = 10\nOTHER = 20\n" in text
    assert text.count("LIMIT") == text.count("OTHER") == 1


def test_a_header_that_was_changed_from_outside_is_merged_by_what_stayed(shop: Shop) -> None:
    base = shop.hash_of("a.py#@header")
    shop.path.write_text(SOURCE.replace("OTHER = 2", "OTHER = 20"))
    answer = shop.commit("one", replace("a.py#@header", base, "LIMIT = 10\nOTHER = 2\n", span=1))
    assert answer.outcome == "merged"
    assert shop.path.read_text() == SOURCE.replace("LIMIT = 1", "LIMIT = 10").replace("OTHER = 2", "OTHER = 20")


def test_a_piece_that_may_have_become_one_of_two_is_not_merged(shop: Shop) -> None:
    shop.path.write_text("X = 1\nY = 2\n\n\ndef f(): ...\n\n\nA = 1\nB = 2\n\n\ndef g(): ...\n")
    piece = shop.agent("one").read("a.py#@header")[0].pieces[1]
    now = "X = 1\nY = 2\n\n\ndef f(): ...\n\n\nA = 1\nC = 3\n\n\ndef g(): ...\n\n\nB = 2\nD = 4\n"
    shop.path.write_text(now)
    answer = shop.commit("one", replace("a.py#@header", piece.hash, "A = 10\nB = 2\n"))
    assert answer.code is Refusal.REGION_CHANGED
    assert shop.path.read_text() == now


def test_the_number_of_a_piece_is_not_trusted_against_what_it_says(shop: Shop) -> None:
    piece = shop.agent("one").read("a.py#@header")[0].pieces[1]
    shop.path.write_text(SOURCE.replace("OTHER = 2", "OTHER = 20"))
    answer = shop.commit("one", replace("a.py#@header", piece.hash, "LIMIT = 10\nOTHER = 2\n", span=0))
    assert (answer.outcome, [region.span for region in answer.merged]) == ("merged", [1])
    assert shop.path.read_text() == SOURCE.replace("LIMIT = 1", "LIMIT = 10").replace("OTHER = 2", "OTHER = 20")


def test_a_piece_of_which_no_line_is_left_is_not_merged(shop: Shop) -> None:
    piece = shop.agent("one").read("a.py#@header")[0].pieces[1]
    now = SOURCE.replace("LIMIT = 1\nOTHER = 2\n", "NEITHER = 3\n")
    shop.path.write_text(now)
    answer = shop.commit("one", replace("a.py#@header", piece.hash, "LIMIT = 10\nOTHER = 2\n", span=1))
    assert (answer.code, answer.repair.unmerged) == (Refusal.REGION_CHANGED, ())
    assert shop.path.read_text() == now


@pytest.mark.parametrize(("span", "outcome"), [(None, "refused"), (0, "merged"), (1, "refused"), (9, "refused")])
def test_which_piece_of_a_whole_header_is_meant_is_said_or_plain(shop: Shop, span: int | None, outcome: str) -> None:
    base = shop.hash_of("a.py#@header")
    shop.path.write_text(SOURCE.replace("import sys", "import sys\nimport re").replace("OTHER = 2", "NEITHER = 3"))
    before = shop.path.read_text()
    text = "LIMIT = 1\nOTHER = 20\n" if span else "import io\nimport os\nimport sys\n"
    answer = shop.commit("one", replace("a.py#@header", base, text, span=span))
    assert answer.outcome == "refused", "two pieces have changed from outside: what each was is not known"
    shop.commit("two", replace("a.py", shop.hash_of("a.py"), SOURCE))
    shop.commit("two", replace("a.py", shop.hash_of("a.py"), before))
    answer = shop.commit("one", replace("a.py#@header", base, text, span=span))
    assert answer.outcome == outcome, "the log knows a version with that header"
    assert ("import io" in shop.path.read_text()) == (outcome == "merged")


BEYOND: list[tuple[str, str]] = [
    ("os, sys", "None"),
    ("LIMIT = 1", "LIMIT = 2"),
    ("def f(x):", "def f(x:"),
    ("def f(x):", "def h(x):"),
    ("import os\n", ""),
]


@pytest.mark.parametrize(("old", "new"), BEYOND)
def test_a_merge_is_not_trusted(shop: Shop, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """What no edit names stays, whatever a merge makes of it; and what is written compiles."""
    merge_with(monkeypatch, lambda _base, ours, _theirs: ours.replace(old.encode(), new.encode()))
    base = shop.hash_of("a.py#f")
    shop.commit("two", replace("a.py#f", base, F.replace("b = 2", "b = 20")))
    before = shop.path.read_bytes()
    answer = shop.commit("one", replace("a.py#f", base, F.replace("a = 1", "a = 10")))
    assert answer.code is Refusal.REGION_CHANGED
    assert [each.reason for found in answer.repair.unmerged for each in found.obstacles] == ["GATE"]
    assert shop.path.read_bytes() == before


def test_why_it_could_not_be_merged_is_told_for_every_file(shop: Shop) -> None:
    other = shop.path.with_name("b.py")
    other.write_text("x = 1\n")
    bases = {key: shop.hash_of(key) for key in ("a.py#f", "b.py")}
    texts = {"a.py#f": F.replace("a = 1", "a = {}"), "b.py": "x = {}\n"}
    shop.commit("two", *(replace(key, bases[key], text.format(10)) for key, text in texts.items()))
    answer = shop.commit("one", *(replace(key, bases[key], text.format(20)) for key, text in texts.items()))
    assert [each.key for each in answer.repair.unmerged] == ["file:a.py#f", "file:b.py"]
    for found in answer.repair.unmerged:
        assert found.marked is not None
        assert found.marked.count("<<<<<<<") == found.marked.count(">>>>>>>") == 1


def test_what_was_merged_is_told_and_recorded_with_its_notes(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    both = F.replace("a = 1", "a = 10").replace("b = 2", "b = 20")
    merge_with(monkeypatch, lambda _base, _ours, _theirs: SOURCE.replace(F, both).encode())
    base = shop.hash_of("a.py#f")
    sent = F.replace("a = 1", "a = 10")
    shop.commit("two", replace("a.py#f", base, F.replace("b = 2", "b = 20")), intent="more b")
    answer = shop.commit("one", replace("a.py#f", base[:16], sent))
    (region,) = answer.merged
    assert (region.key, region.text, region.changed_by, region.intent) == ("file:a.py#f", both, "two", "more b")
    assert region.notes == ("joined",)
    assert "in a.py: joined" in answer.notices
    assert [(each.key, each.hash) for each in answer.regions] == [(region.key, region.hash)]
    (event,) = [
        each.event for each in shop.agent("one").log() if isinstance(each.event, Committed) and each.event.merged
    ]
    (merge,) = event.merged
    kept = [shop.agent("one").content(each).decode() for each in (merge.base, merge.found, merge.sent)]
    assert kept == [F, F.replace("b = 2", "b = 20"), sent]


def test_a_file_that_moves_again_is_merged_again_inside_the_gate(shop: Shop) -> None:
    base = shop.hash_of("a.py#f")
    shop.commit("two", replace("a.py#f", base, F.replace("b = 2", "b = 20")))
    one = shop.agent("one")
    plan = one._writing.own_plans.plan

    def plan_and_be_overtaken(request: CommitRequest, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        one._writing.own_plans.plan = plan  # type: ignore[method-assign]
        planned = plan(request, earlier)
        assert isinstance(planned, Plan)
        shop.commit("two", replace("a.py#f", shop.hash_of("a.py#f"), F.replace("b = 2", "b = 200")))
        return planned

    one._writing.own_plans.plan = plan_and_be_overtaken  # type: ignore[method-assign]
    answer = shop.commit("one", replace("a.py#f", base, F.replace("c = 3", "c = 30")))
    assert answer.outcome == "merged"
    assert shop.path.read_text() == SOURCE.replace("c = 3", "c = 30").replace("b = 2", "b = 200")


@pytest.mark.parametrize(
    "edit",
    [
        Edit(Op.DELETE, "a.py#f"),
        Edit(Op.DELETE_FILE, "a.py"),
        Edit(Op.RENAME_FILE, "a.py", to="b.py"),
        Edit(Op.CHMOD, "a.py", mode="755"),
    ],
)
def test_only_new_text_is_merged(shop: Shop, edit: Edit) -> None:
    base = shop.hash_of(edit.key)
    shop.path.write_text(SOURCE.replace("b = 2", "b = 20"))
    answer = shop.commit("one", Edit(edit.op, edit.key, base, to=edit.to, mode=edit.mode))
    assert answer.code is Refusal.REGION_CHANGED
    assert answer.repair.unmerged == ()
    assert shop.path.read_text() == SOURCE.replace("b = 2", "b = 20")


def test_edits_that_make_no_sense_at_their_bases_are_refused_for_what_changed(shop: Shop) -> None:
    base = shop.hash_of("a.py#f")
    shop.path.write_text(SOURCE.replace("b = 2", "b = 20"))
    answer = shop.commit("one", replace("a.py#f", base, F), replace("a.py#f", base, F))
    assert answer.code is Refusal.REGION_CHANGED
    answer = shop.commit("one", replace("a.py#f", base, F.replace("\n", "\r", 1)))
    assert answer.code is Refusal.REGION_CHANGED


def test_line_ends_and_the_byte_order_mark_stay(shop: Shop) -> None:
    mark = b"\xef\xbb\xbf"
    shop.path.write_bytes(mark + SOURCE.replace("\n", "\r\n").encode())
    file, base = shop.hash_of("a.py"), shop.hash_of("a.py#f")
    shop.commit("two", replace("a.py", file, SOURCE.replace("b = 2", "b = 20")))
    assert shop.commit("one", replace("a.py", file, SOURCE.replace("LIMIT = 1", "LIMIT = 7"))).outcome == "merged"
    assert shop.commit("one", replace("a.py#f", base, F.replace("c = 3", "c = 30"))).outcome == "merged"
    wanted = SOURCE.replace("b = 2", "b = 20").replace("LIMIT = 1", "LIMIT = 7").replace("c = 3", "c = 30")
    assert shop.path.read_bytes() == mark + wanted.replace("\n", "\r\n").encode()


def test_an_encoding_stays(shop: Shop) -> None:
    source = "# coding: latin-1\n" + SOURCE.replace("LIMIT = 1", "LIMIT = 'é'")
    shop.path.write_bytes(source.encode("latin-1"))
    base = shop.hash_of("a.py")
    shop.commit("two", replace("a.py", base, source.replace("b = 2", "b = 'ü'")))
    answer = shop.commit("one", replace("a.py", base, source.replace("OTHER = 2", "OTHER = 'ß'")))
    assert answer.outcome == "merged"
    wanted = source.replace("b = 2", "b = 'ü'").replace("OTHER = 2", "OTHER = 'ß'")
    assert shop.path.read_bytes().decode("latin-1") == wanted
    assert answer.merged[0].text == wanted


def test_a_name_that_an_edit_changed_is_merged_under_its_new_name(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    base = shop.hash_of("a.py#f")
    shop.commit("two", replace("a.py#f", base, F.replace("b = 2", "b = 20")))
    merge_with(monkeypatch, lambda _base, ours, _theirs: ours.replace(b"b = 2", b"b = 20"))
    answer = shop.commit("one", replace("a.py#f", base, F.replace("def f", "def h")))
    assert [each.key for each in answer.merged] == ["file:a.py#h"]
    assert shop.path.read_text() == SOURCE.replace("def f", "def h").replace("b = 2", "b = 20")
