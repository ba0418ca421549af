"""The rest of a store: commits, contents, journals, answers, and taking back, in memory as in SQLite."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.in_memory.store import MemoryStore

from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import (
    CommitRefused,
    Committed,
    DebtWaived,
    FileChange,
    LeaseBroken,
    LeaseGranted,
    LeaseQueued,
    ValuePut,
)
from commonhold.kernel.files import Write
from commonhold.kernel.lease import Base, Lease, Waiter
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.modes import Mode
from commonhold.kernel.obligations import Debt
from commonhold.kernel.outcomes import Acknowledged
from commonhold.kernel.ports import Store
from commonhold.kernel.presence import Message, Presence, Proposal
from commonhold.kernel.read_set import Overtaking, Sighting, StaleRead
from commonhold.kernel.refusals import Refusal
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

REFUSED = CommitRefused("one", "", Refusal.PARSE_INVALID, (), "")
LEASE = Lease("l1", 1, "one", "", ("account:1",), Mode.SHARED, "acq", 0.0, Deadline("boot-1", 60.0, 60.0))
WRITES = (Write("a.py", None, "a" * 64, None, 0o644),)
HASHES = tuple(letter * 64 for letter in "abc")
ANSWER = StoredAnswer("asked", Acknowledged())
OVERTAKEN = StaleRead("one", "/w", "file:a.py#f", HASHES[0], HASHES[1], (Overtaking(7, "two", "why", "what"),), 3, 3)

PRESENCE = Presence("one", "/w", "mend it", "7:1", 1.0, 2.0)
MESSAGE = Message("one", "/w", "your lines of a.py were replaced", "two", 1.0)
PROPOSAL = Proposal("one", "/w", "call-1", "a.py", HASHES[0], None, "mend it", "l1", 1)


class Interrupted(Exception):  # noqa: N818 - it is thrown and caught here alone
    pass


def owned(folder: Path) -> MirroredStore:
    """A store as the daemon has it."""
    store = MirroredStore(str(folder), synchronous="OFF")
    store.own()
    return store


@pytest.fixture(params=["memory", "sqlite", "mirrored"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    makers: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "sqlite": lambda: SqliteStore(str(tmp_path / "state"), synchronous="OFF"),
        "mirrored": lambda: owned(tmp_path / "state"),
    }
    store = makers[request.param]()
    yield store
    store.close()
    store.close()


def commit(*paths: str, debts: tuple[Debt, ...] = (), settled: tuple[str, ...] = ()) -> Committed:
    files = tuple(FileChange(path, None, "h", None, 0o644) for path in paths)
    return Committed("one", ", ".join(paths), "/w", (), files, (), debts, settled)


def test_commits_are_found_by_path_by_folder_and_by_age(store: Store) -> None:
    with store.write() as writer:
        writer.record(
            [commit("src/a.py"), REFUSED, commit("src/b.py", "src/a.py"), commit("src0.py"), commit("x.py")], 0.0
        )
    with store.read() as reader:
        assert [commit.intent for _, commit in reader.commits_on("src/a.py", 9)] == ["src/b.py, src/a.py", "src/a.py"]
        assert [recorded.sequence for recorded, _ in reader.commits_on("src/a.py", 1)] == [3]
        assert [recorded.sequence for recorded, _ in reader.commits_below("src/", 9)] == [3, 1]
        assert [recorded.sequence for recorded, _ in reader.commits_below("", 3)] == [5, 4, 3]
        assert [recorded.sequence for recorded, _ in reader.latest_commits(2)] == [5, 4]
        assert reader.commits_on("never.py", 9) == ()
        assert reader.next_sequence == 6


def test_debts_are_open_where_they_are_owed_until_they_are_settled(store: Store) -> None:
    here, there = (
        Debt("file:b.py#f", "one", "why", "/w", (1, 7), "types"),
        Debt("file:a.py#f", "one", "why", "/elsewhere"),
    )
    with store.write() as writer:
        writer.record([commit("a.py", debts=(here, there))], 0.0)
        assert writer.debts() == (there, here)
        writer.record([commit("a.py", settled=(here.key, there.key, "file:never.py"))], 0.0)
        assert writer.debts() == (there,)


def test_a_debt_is_open_until_it_is_waived_where_it_is_owed(store: Store) -> None:
    debt = Debt("file:b.py#f", "one", "why", "/w", (1,))
    with store.write() as writer:
        writer.record([commit("a.py", debts=(debt,)), DebtWaived("two", debt.key, "/elsewhere", "never mind")], 0.0)
        assert writer.debts() == (debt,)
    with suppress(Interrupted), store.write() as writer:
        writer.record([DebtWaived("two", debt.key, "/w", "never mind")], 0.0)
        raise Interrupted
    with store.write() as writer:
        assert writer.debts() == (debt,)
        writer.record([DebtWaived("two", debt.key, "/w", "never mind")], 0.0)
        assert writer.debts() == ()


def test_contents_are_kept_by_hash_for_as_long_as_they_are_kept_anew(store: Store) -> None:
    with store.write() as writer:
        writer.keep([(HASHES[0], b"first"), (HASHES[1], b"")], 1.0)
        writer.keep([(HASHES[0], b"first")], 5.0)
        assert writer.content(HASHES[0]) == b"first"
        assert writer.content(HASHES[1]) == b""
        assert writer.missing(HASHES) == (HASHES[2],)
        writer.drop_before(contents_at=5.0, answers_at=0.0)
        assert writer.missing(HASHES) == HASHES[1:]
        assert writer.content(HASHES[1]) is None


def test_contents_are_found_by_the_beginning_of_a_hash(store: Store) -> None:
    hashes = [beginning.ljust(64, "0") for beginning in ("aa1", "aa2", "aa3", "ab")]
    with store.write() as writer:
        writer.keep([(each, b"x") for each in hashes], 1.0)
    with store.read() as reader:
        assert reader.contents_like("ab") == (hashes[3],)
        assert len(reader.contents_like("aa")) == 2
        assert reader.contents_like("ac") == ()


def test_answers_are_kept_by_holder_and_request_until_their_time_is_over(store: Store) -> None:
    with store.write() as writer:
        writer.remember("one", "r1", ANSWER, 1.0)
        writer.remember("two", "r1", ANSWER, 5.0)
        writer.drop_before(contents_at=0.0, answers_at=5.0)
    with store.read() as reader:
        assert reader.answer("one", "r1") is None
        assert reader.answer("two", "r1") == ANSWER
        assert reader.answer("two", "r2") is None


def test_each_answer_drops_some_of_those_that_are_older_than_a_week(store: Store) -> None:
    days = 86400.0
    with store.write() as writer:
        for number in range(12):
            writer.remember("one", f"r{number:02}", ANSWER, float(number))
        writer.remember("one", "young", ANSWER, 2 * days)
        writer.remember("one", "late", ANSWER, 8 * days)
    with store.read() as reader:
        kept = [number for number in range(12) if reader.answer("one", f"r{number:02}") is not None]
        assert kept == [10, 11]
        assert reader.answer("one", "young") == reader.answer("one", "late") == ANSWER
    with store.write() as writer:
        writer.remember("one", "later", ANSWER, 8 * days)
    with store.read() as reader:
        assert reader.answer("one", "r11") is None
        assert reader.answer("one", "young") == ANSWER


def test_a_commit_stands_in_the_journal_from_its_beginning_to_its_end(store: Store) -> None:
    with store.write() as writer:
        first, second = (writer.begin("/w", "one", intent, WRITES) for intent in ("first", "second"))
        assert (first.root, first.holder, first.intent, first.writes) == ("/w", "one", "first", WRITES)
    with store.write() as writer:
        assert writer.journals() == (first, second)
        writer.end(first.id)
        writer.end(first.id)
        assert writer.journals() == (second,)


def test_who_saw_what_is_kept_by_holder_and_working_tree(store: Store) -> None:
    mine, newer = Sighting("file:a.py", HASHES[0], 1), Sighting("file:a.py", HASHES[1], 4)
    function = Sighting("file:a.py#f", HASHES[2], 2, lines="0-3,7-8")
    with store.write() as writer:
        writer.see("one", "/w", [mine, function], 1.0)
        writer.see("two", "/w", [function], 5.0)
        writer.see("two", "/elsewhere", [newer], 5.0)
        writer.see("one", "/w", [newer], 5.0)
    keys = ["file:a.py", "file:a.py#f", "file:never.py"]
    with store.write() as writer:
        assert set(writer.sightings("one", "/w", keys)) == {newer, function}
        assert writer.sightings("one", "/w", keys[2:]) == ()
        assert writer.sightings("three", "/w", keys) == ()
        assert writer.seen_by_others("one", "/w", keys) == (("two", function),)
        assert set(writer.seen_by_others("three", "/w", keys)) == {("one", newer), ("one", function), ("two", function)}
        writer.drop_before(contents_at=5.0, answers_at=0.0)
        assert writer.sightings("one", "/w", keys) == (newer,)


def test_what_became_of_it_is_kept_until_it_is_over(store: Store) -> None:
    other = replace(OVERTAKEN, key="file:a.py#a", changes=(*OVERTAKEN.changes, Overtaking(9, "three", "")))
    with store.write() as writer:
        writer.overtake([OVERTAKEN, other, replace(other, holder="two"), replace(other, worktree="/elsewhere")], 1.0)
        writer.overtake([OVERTAKEN.once_told()], 5.0)
        assert writer.overtaken("one", "/w") == (other, OVERTAKEN.once_told())
        writer.overtake([OVERTAKEN.once_told().read_at(7), replace(OVERTAKEN, key="file:never.py", changes=())], 5.0)
        assert writer.overtaken("one", "/w") == (other,)
        writer.overtake([replace(other, holder="two")], 5.0)
        writer.drop_before(contents_at=5.0, answers_at=0.0)
        assert [len(writer.overtaken(holder, "/w")) for holder in ("one", "two")] == [0, 1]


def test_who_is_at_work_is_kept_by_holder_and_working_tree(store: Store) -> None:
    resting = replace(PRESENCE, seen_at=9.0, is_at_rest=True, intent="")
    others = [replace(PRESENCE, holder="a/é"), replace(PRESENCE, worktree="/elsewhere")]
    with store.write() as writer:
        for each in (PRESENCE, *others, resting):
            writer.attend(each)
        assert writer.presences("/w") == (others[0], resting)
        writer.end_session("one", "/w")
        writer.end_session("one", "/w")
        writer.end_session("never", "/w")
    with store.read() as reader:
        assert reader.presences("/w") == (others[0],)
        assert reader.presences("/elsewhere") == (others[1],)
        assert reader.presences("/never") == ()


def test_a_message_waits_for_its_session_once(store: Store) -> None:
    later = replace(MESSAGE, text="and this", at=5.0)
    others = [replace(MESSAGE, holder="two"), replace(MESSAGE, worktree="/elsewhere")]
    with store.write() as writer:
        writer.send([MESSAGE, later, *others])
        writer.send([replace(MESSAGE, at=9.0, by="four")])
        assert writer.messages("one", "/w") == (MESSAGE, later)
        writer.end_messages([later, replace(later, holder="never")])
    with store.write() as writer:
        assert writer.messages("one", "/w") == (MESSAGE,)
        writer.end_messages([MESSAGE])
        writer.send([later, MESSAGE])
        assert writer.messages("one", "/w") == (later, MESSAGE)
        writer.drop_before(contents_at=5.0, answers_at=0.0)
        assert writer.messages("one", "/w") == (later,)
        assert writer.messages("two", "/w") == ()


def test_a_proposal_stands_until_it_is_withdrawn(store: Store) -> None:
    anew = replace(PROPOSAL, before=None, after=HASHES[1], since=2)
    others = [
        replace(PROPOSAL, path="Z.py"),
        replace(PROPOSAL, call=""),
        replace(PROPOSAL, holder="two"),
        replace(PROPOSAL, worktree="/elsewhere"),
    ]
    with store.write() as writer:
        writer.propose([PROPOSAL, *others])
        writer.propose([anew])
        assert writer.proposals("/w") == (others[0], others[1], anew, others[2])
        writer.withdraw([replace(PROPOSAL, slot="", since=0), others[0], replace(PROPOSAL, path="never.py")])
        writer.withdraw([PROPOSAL])
    with store.read() as reader:
        assert reader.proposals("/w") == (others[1], others[2])
        assert reader.proposals("/elsewhere") == (others[3],)


def test_what_a_transaction_has_written_it_sees_where_nothing_was_before(store: Store) -> None:
    waiter = Waiter("w1", 2, "two", "", LEASE.keys, Mode.SHARED, "acq", 0.0, LEASE.deadline, 60.0, 60.0)
    lease = replace(LEASE, worktree="/w", bases=(Base("file:a.py", HASHES[0]),))
    with store.write() as writer:
        assert (writer.next_sequence, writer.waiters(), writer.lost(), writer.overtaken("one", "/w")) == (1, (), (), ())
        writer.record([LeaseGranted(lease), LeaseQueued(waiter), LeaseBroken("one", "l1", "two", "gone")], 0.0)
        writer.overtake([OVERTAKEN], 0.0)
        assert (writer.next_sequence, writer.waiters(), writer.lost()) == (4, (waiter,), (lease,))
        assert writer.overtaken("one", "/w") == (OVERTAKEN,)
    with store.write() as writer:
        assert (writer.next_sequence, writer.waiters(), writer.lost()) == (4, (waiter,), (lease,))
        assert writer.overtaken("one", "/w") == (OVERTAKEN,)


def test_an_exception_takes_back_all_of_it(store: Store) -> None:
    with store.write() as writer:
        writer.record([LeaseGranted(LEASE), commit("a.py", debts=(Debt("file:a.py", "one", "why", "/w"),))], 0.0)
        writer.keep([(HASHES[0], b"first")], 1.0)
        writer.remember("one", "r1", ANSWER, 1.0)
        writer.see("one", "/w", [Sighting("file:a.py", HASHES[0], 1), Sighting("file:b.py", HASHES[1], 1)], 1.0)
        writer.overtake([OVERTAKEN], 1.0)
        writer.attend(PRESENCE)
        writer.propose([PROPOSAL])
        writer.send([MESSAGE])
        journal = writer.begin("/w", "one", "first", WRITES)
    before = seen(store)
    with suppress(Interrupted), store.write() as writer:
        writer.record([ValuePut("one", "account:1", "x"), commit("b.py", settled=("file:a.py",))], 0.0)
        writer.keep([(HASHES[0], b"first"), (HASHES[1], b"second")], 9.0)
        writer.drop_before(contents_at=5.0, answers_at=5.0)
        writer.remember("two", "r1", ANSWER, 9.0)
        writer.see("one", "/w", [Sighting("file:a.py", HASHES[2], 3)], 9.0)
        writer.see("two", "/w", [Sighting("file:a.py", HASHES[2], 3)], 9.0)
        writer.overtake([OVERTAKEN.once_told().read_at(9), replace(OVERTAKEN, holder="two")], 9.0)
        writer.attend(replace(PRESENCE, is_at_rest=True))
        writer.end_session("one", "/w")
        writer.attend(replace(PRESENCE, holder="two"))
        writer.withdraw([PROPOSAL])
        writer.propose([replace(PROPOSAL, call="call-2")])
        writer.end_messages([MESSAGE])
        writer.send([replace(MESSAGE, text="another")])
        writer.end(journal.id)
        writer.begin("/w", "one", "second", WRITES)
        raise Interrupted
    assert seen(store) == before
    with store.write() as writer:
        writer.drop_before(contents_at=5.0, answers_at=0.0)
        assert writer.missing(HASHES) == HASHES


def seen(store: Store) -> tuple[object, ...]:
    with store.read() as reader:
        return (
            reader.events(),
            reader.leases(),
            reader.value("account:1"),
            reader.latest_commits(9),
            reader.debts(),
            [reader.content(each) for each in HASHES],
            [reader.answer(holder, "r1") for holder in ("one", "two")],
            reader.journals(),
            reader.next_sequence,
            [reader.sightings(holder, "/w", ["file:a.py", "file:b.py"]) for holder in ("one", "two")],
            [reader.overtaken(holder, "/w") for holder in ("one", "two")],
            reader.presences("/w"),
            reader.proposals("/w"),
            reader.messages("one", "/w"),
        )


def test_a_transaction_inside_another_is_part_of_it(store: Store) -> None:
    with suppress(Interrupted), store.write() as outer, store.write() as inner:
        inner.record([REFUSED], 0.0)
        assert outer.next_sequence == 2
        raise Interrupted
    with store.write() as outer:
        with store.write() as inner:
            inner.record([REFUSED], 0.0)
        outer.record([REFUSED], 0.0)
    with store.read() as reader:
        assert [each.sequence for each in reader.events()] == [1, 2]


def test_the_gate_is_entered_again_by_who_is_inside(store: Store) -> None:
    with store.gate(), store.gate(), store.write() as writer:
        writer.record([REFUSED], 0.0)
    with store.read() as reader:
        assert reader.latest(1)[0].event == REFUSED


def test_threads_take_turns(store: Store) -> None:
    def add() -> None:
        for _ in range(20):
            with store.write() as writer:
                sequence = writer.next_sequence
                writer.record([ValuePut("one", f"account:{sequence}", "x")], 0.0)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as reader:
        assert [(each.sequence, each.event.key) for each in reader.events() if isinstance(each.event, ValuePut)] == [
            (number, f"account:{number}") for number in range(1, 81)
        ]
