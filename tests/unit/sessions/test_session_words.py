"""What is said about a managed session fits its state, and each next step is another command than the last one."""

from dataclasses import replace

import pytest

from commonhold.cli.session_words import answered, details
from commonhold.kernel.clock import Deadline
from commonhold.kernel.entry import Entry, EntryRecord, EntryState
from commonhold.kernel.managed_session import (
    EndCause,
    ManagedSession,
    ManagedSessionRecord,
    SessionResult,
    SessionState,
    SessionWish,
)
from commonhold.sessions.answers import ManagedSessionAnswer, ManagedSessionView

BASE, TIP, SNAPSHOT, MERGE = (letter * 40 for letter in "abcd")
SESSION = ManagedSession("s1", "Round prices", "claude", BASE, "/r", "here", branch="main")
RECORD = ManagedSessionRecord(SESSION, 1, "ann", 0.0, 0.0)
DONE = replace(RECORD, state=SessionState.COMPLETED, commit=TIP, result=SessionResult(TIP, SNAPSHOT))
ENTRY = EntryRecord(Entry("e2", "agent/s1", TIP, "refs/heads/main", session="s1"), 2, 2, "ann", 0.0, 0.0)


def said(record: ManagedSessionRecord, entry: EntryRecord | None = None) -> tuple[str, str]:
    """The details, and the next step."""
    view = ManagedSessionView(record, is_supervised=True, lease_seconds=5.0, why="", age_seconds=54.0, entry=entry)
    *_, last = answered(ManagedSessionAnswer("changed", (view,)))
    return "\n".join(details(view)), last if last.startswith("next: ") else ""


@pytest.mark.parametrize(
    ("entry", "words", "step"),
    [
        (ENTRY, "it waits in the merge queue as e2", "next: commonhold queue list"),
        (
            replace(ENTRY, state=EntryState.RETURNED, note="a check failed"),
            "the merge queue returned it as e2: a check failed",
            "next: commonhold queue show e2",
        ),
        (
            replace(ENTRY, state=EntryState.LANDED, built=MERGE),
            f"the merge queue landed it as e2, commit {MERGE[:12]}",
            "next: commonhold queue list",
        ),
        (None, f"its work is part of main: {TIP[:12]}", ""),
    ],
)
def test_work_is_said_to_be_merged_only_if_it_is(entry: EntryRecord | None, words: str, step: str) -> None:
    text, last = said(DONE, entry)
    assert (words in text, last) == (True, step)
    assert ("is part of main" in text) == (entry is None)
    assert "uncommitted" not in text


def test_a_session_that_changed_nothing_has_nothing_merged() -> None:
    text, _ = said(replace(DONE, commit=BASE, result=SessionResult(BASE, BASE)))
    assert "it has changed nothing" in text
    assert "part of" not in text


@pytest.mark.parametrize(("wish", "word"), [(SessionWish.PAUSE, "paused"), (SessionWish.CANCEL, "cancelled")])
def test_a_wish_is_not_given_the_age_of_the_state(wish: SessionWish, word: str) -> None:
    text, _ = said(replace(RECORD, state=SessionState.RUNNING, wish=wish))
    assert text.startswith(f"s1: is being {word}; running for 54 s")


def test_a_session_that_was_resumed_is_not_to_be_resumed() -> None:
    assert said(replace(RECORD, state=SessionState.PAUSED, is_due=False))[1] == "next: commonhold session resume s1"
    text, step = said(replace(RECORD, state=SessionState.PAUSED, is_due=True))
    assert (text.startswith("s1: resuming for "), step) == (True, "next: commonhold session logs -f s1")


def test_an_agent_that_was_not_started_has_no_log_to_look_at() -> None:
    failed = replace(RECORD, state=SessionState.FAILED)
    assert said(failed)[1] == "next: commonhold session logs s1"
    assert said(replace(failed, cause=EndCause.NOT_STARTED))[1] == "next: commonhold session retry s1"


def test_a_pause_that_ends_by_itself_needs_no_command() -> None:
    paused = replace(RECORD, state=SessionState.PAUSED)
    assert said(replace(paused, is_due=False))[1] == "next: commonhold session resume s1"
    assert said(replace(paused, due=Deadline("boot", 60.0, 60.0)))[1] == "next: commonhold session list"
