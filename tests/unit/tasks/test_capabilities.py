"""Tasks that require capabilities: who gets them, and what others are told."""

from tests.unit.runs.blackboard import Board
from tests.unit.tasks.table import Table, kind, task

from commonhold.history.replay import replay
from commonhold.kernel.events import Recorded
from commonhold.kernel.presence import Presence
from commonhold.kernel.refusals import Refusal
from commonhold.runs.commands import NoItem
from commonhold.tasks.agents import AgentState, agents_of
from commonhold.tasks.capabilities import Capabilities
from commonhold.tasks.commands import NoTask

KNOWN = Capabilities({"claude:*": ["review"], "gpu-*": ["gpu", "cuda"], "*:b": ["gpu"]})


def test_a_session_has_the_words_of_all_patterns_that_match_its_name() -> None:
    assert KNOWN.of("claude:a") == {"review"}
    assert KNOWN.of("claude:b") == {"review", "gpu"}
    assert KNOWN.of("codex:a") == frozenset()


def test_a_task_goes_only_to_a_session_that_has_all_that_it_requires() -> None:
    table = Table(capabilities=KNOWN)
    table.add(task("a", requires=("gpu", "review"), priority=9), task("b"))
    assert table.claim("gpu-1").id == "b"
    assert table.claim("claude:b").id == "a"
    log = tuple(Recorded(number, 0.0, event) for number, event in enumerate(table.log, 1))
    assert replay(log).difference is None


def test_a_session_that_gets_no_task_is_told_what_it_lacks() -> None:
    table = Table(capabilities=KNOWN)
    table.add(task("a", requires=("gpu", "review")))
    why = "it requires gpu, review, which this session does not have"
    refused = kind(NoTask, table.ask("codex:a"))
    assert (refused.code, refused.waiting[0].why) == (Refusal.NO_TASK, why)
    named = kind(NoTask, table.ask("gpu-1", "a"))
    assert (named.code, named.waiting[0].why) == (
        Refusal.TASK_NOT_YOURS,
        "it requires review, which this session does not have",
    )


def test_patterns_of_names_count_beside_capabilities() -> None:
    assert KNOWN.why_barred(task("a", takers=("codex",), requires=("gpu",)), "gpu-1") == "only codex may take it"
    assert KNOWN.why_barred(task("a", takers=("gpu-*",), requires=("gpu",)), "gpu-1") == ""


def test_a_word_that_no_session_has_is_found() -> None:
    assert KNOWN.why_unclaimable(task("a", requires=("gpu", "gup"))) == (
        "no session has gup: see the setting `capabilities`"
    )
    assert KNOWN.why_unclaimable(task("a", requires=("gpu",))) == ""
    assert KNOWN.why_unclaimable(task("a")) == ""


def test_idle_sessions_are_shown_with_their_capabilities_and_the_tasks_that_are_not_for_them() -> None:
    table = Table(capabilities=KNOWN)
    table.add(task("a", requires=("review",)), task("b", requires=("gpu",), needs=("a",)))
    present = [Presence(name, "/w", "", "", 0.0, 0.0) for name in ("claude:a", "gpu-1")]
    first, second = agents_of(table.board, present, table.now)
    assert (first.state, first.best, first.can, first.barred) == (AgentState.IDLE, "a", ("review",), ())
    assert (second.best, second.can) == ("", ("cuda", "gpu"))
    assert [(each.task_id, each.why) for each in second.barred] == [
        ("a", "it requires review, which this session does not have")
    ]


def test_a_run_whose_editors_lack_a_capability_says_so() -> None:
    board = Board(capabilities=Capabilities({"editor:*": ["review"]}))
    board.start(task("a", requires=("review",)))
    assert board.take().task_id == "a"
    other = Board()
    other.start(task("a", requires=("review",)))
    found = kind(NoItem, other.ask_item())
    assert (found.is_over, found.waiting[0].why) == (True, "it requires review, which this session does not have")
