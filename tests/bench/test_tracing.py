"""The bench of traces counts each operation, once."""

from collections.abc import Iterator

import pytest
from bench.tracing import ROUNDS, Trace, Tracer, figures, in_daemon, in_process

MOST = {"commit, in process": (108, 495, 33), "acquire, in process": (50, 208, 17)}
"""The most files, functions and levels of calls that a reader must follow: lower them whenever a way gets shorter."""


@pytest.fixture
def tracer() -> Iterator[Tracer]:
    made = Tracer()
    yield made
    made.close()


@pytest.mark.slow
def test_a_commit_in_process_is_counted_in_files_functions_and_transactions(tracer: Tracer) -> None:
    traces = {name: (trace, names) for name, trace, names in in_process(tracer, rounds=1)}
    trace, names = traces["commit, in process"]
    assert 1 < trace.files < trace.functions
    assert trace.calls > trace.functions
    assert trace.depth > 1
    assert trace.writing == 2, "a commit journals, then records"
    assert trace.writing <= trace.transactions <= trace.views
    assert any(name.startswith("commits/service.py:") for name in names)
    assert any(name.endswith(" WorkingTree._stage_one") for name in names), "it changes its file"
    for name, most in MOST.items():
        found, _ = traces[name]
        assert all(
            count <= limit for count, limit in zip((found.files, found.functions, found.depth), most, strict=True)
        )
    acquire, _ = traces["acquire, in process"]
    assert (acquire.writing, acquire.functions < trace.functions) == (1, True)


@pytest.mark.slow
def test_a_daemon_counts_what_it_does_for_a_session_and_for_hooks() -> None:
    traces = {name: (trace, names) for name, trace, names in in_daemon(ROUNDS)}
    hooks, before, after = (traces[name] for name in ("hooks of an edit", "hook before an edit", "hook after an edit"))
    assert hooks[0].functions > max(before[0].functions, after[0].functions)
    assert any(name.startswith("agents/runtime/editing.py:") for name in before[1])
    assert traces["commit, in the daemon"][0].flushes == traces["commit, in the daemon"][0].writing == 2
    assert (before[0].writing, before[0].flushes) == (2, 1), "the write slot becomes durable with the proposal"
    assert not any(name.startswith("client/channel.py:") for name in hooks[1]), "the daemon is not its own client"


def test_a_count_with_a_goal_says_whether_it_is_met() -> None:
    trace = Trace(45, 251, calls=400, depth=1, transactions=2, writing=2, views=2, flushes=0, statements=9)
    told = {each.name: each.goal for each in figures("commit, in process", trace)}
    assert told["commit, in process: files"] == "≤ 45: met"
    assert told["commit, in process: functions"] == "≤ 250: missed"
    assert told["commit, in process: statements"] == ""
