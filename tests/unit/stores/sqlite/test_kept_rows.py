"""Answers that are kept: as long as they are true, and no longer."""

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from commonhold.kernel.events import Committed, DebtWaived, FileChange
from commonhold.kernel.files import Write
from commonhold.kernel.obligations import Debt
from commonhold.kernel.ports import Reader
from commonhold.kernel.presence import Message, Presence
from commonhold.kernel.read_set import Overtaking, StaleRead
from commonhold.stores.sqlite.kept_rows import KEPT, MOST_KEPT, KeptRows, changes
from commonhold.stores.sqlite.mirror import MirroredStore

pytestmark = pytest.mark.slow

OVERTAKEN = StaleRead("one", "/w", "file:a.py#f", "a" * 64, "b" * 64, (Overtaking(7, "two", "why", "what"),), 3, 3)
DEBT = Debt("file:a.py#f", "one", "it calls g", "/w")
WRITES = (Write("a.py", None, "a" * 64, None, 0o644),)
ASKED: dict[str, Callable[[Reader], tuple[object, ...]]] = {
    "journals": lambda reader: reader.journals(),
    "overtaken": lambda reader: reader.overtaken("one", "/w"),
    "latest_commits": lambda reader: reader.latest_commits(10),
    "all_debts": lambda reader: reader.debts(),
    "presences": lambda reader: reader.presences("/w"),
    "messages": lambda reader: reader.messages("one", "/w"),
}


def commit(*debts: Debt) -> Committed:
    return Committed("one", "", "/w", (), (FileChange("a.py", None, "h", None, 0o644),), (), debts, ())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MirroredStore]:
    store = MirroredStore(str(tmp_path / "state"), synchronous="OFF")
    store.own()
    yield store
    store.close()


def statements_of(store: MirroredStore) -> list[str]:
    """What SQLite is asked for from now on."""
    run: list[str] = []

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        run.append(sql)
        return True

    with store.read() as session:
        session._connection.exec_trace = trace
    return run


def all_of(store: MirroredStore) -> dict[str, tuple[object, ...]]:
    with store.read() as reader:
        return {name: ask(reader) for name, ask in ASKED.items()}


def test_what_was_asked_once_is_not_asked_of_the_database_again(store: MirroredStore) -> None:
    first = all_of(store)
    run = statements_of(store)
    assert all_of(store) == first
    assert not run


def test_what_is_kept_changes_with_its_tables(store: MirroredStore) -> None:
    """After every change the kept answers are those that the database gives."""
    seen = [all_of(store)]
    with store.write() as writer:
        writer.record([commit(DEBT)], 1.0)
        writer.overtake([OVERTAKEN], 1.0)
        writer.attend(Presence("one", "/w", "mend it", "7:1", 1.0, 2.0))
        writer.send([Message("one", "/w", "look", "two", 1.0)])
        journal = writer.begin("/w", "one", "", WRITES)
    seen.append(all_of(store))
    with store.write() as writer:
        writer.record([DebtWaived("one", DEBT.key, "/w", "it is well")], 2.0)
        writer.drop_before(2.0, 2.0)
        writer.end_session("one", "/w")
        writer.end(journal.id)
    seen.append(all_of(store))
    assert set(ASKED) == set(KEPT)
    assert [{name for name, found in each.items() if found} for each in seen] == [
        set(),
        set(KEPT),
        {"latest_commits"},
    ]


def test_what_is_taken_back_was_never_known(store: MirroredStore) -> None:
    def taken_back() -> None:
        with store.write() as writer:
            writer.record([commit(DEBT)], 1.0)
            assert writer.debts()
            raise ZeroDivisionError

    before = all_of(store)
    with pytest.raises(ZeroDivisionError):
        taken_back()
    assert all_of(store) == before


def test_answers_to_no_end_of_sessions_are_not_kept() -> None:
    kept = KeptRows()
    for number in range(3 * MOST_KEPT):
        answers = kept.of("overtaken")
        assert answers is not None
        answers[(f"agent-{number}", "/w")] = []
        assert len(answers) <= MOST_KEPT


def test_what_a_statement_changes_is_read_in_the_statements_themselves() -> None:
    statements = {
        "seen": "SELECT a FROM one JOIN two USING (b)",
        "other": "SELECT a FROM three",
        "add": "INSERT OR REPLACE INTO two (b) VALUES (?)",
        "set": "UPDATE one SET a = ?",
        "drop": "DELETE FROM three WHERE a = ?",
        "elsewhere": "DELETE FROM four",
    }
    assert changes(statements, ("seen", "other")) == {"add": ("seen",), "set": ("seen",), "drop": ("other",)}
