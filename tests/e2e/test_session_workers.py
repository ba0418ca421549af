"""Workers of managed sessions on several machines, each a clone of its own: woken by a real Celery, and killed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.e2e.cli_driver import Call, git, process
from tests.e2e.session_firm import NAMESPACE, Firm, Worker, opened, parsed
from tests.e2e.terminal import at_terminal
from tests.patience import PATIENCE_SECONDS, until
from tests.services.fixtures import NewRedis
from tests.services.postgres_server import Database

from commonhold import EndCause, SessionState
from commonhold.sessions import wakes
from commonhold.sessions.wakes import send_wake

pytestmark = pytest.mark.slow
CLOSED: Final = "redis://127.0.0.1:1/0"


@pytest.fixture
def firm(tmp_path: Path, database: Database, new_redis: NewRedis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Firm]:
    monkeypatch.setattr(wakes, "PATIENCE_SECONDS", PATIENCE_SECONDS)  # a wake that a test sends is not given up
    with opened(tmp_path, database, new_redis()) as made:
        yield made


def test_a_session_runs_on_another_machine_and_its_work_comes_back(firm: Firm) -> None:
    with firm.worker("there") as worker:
        worker.until_said("worker of")
        session = firm.start("echo 'x = 1' > b.py; git add b.py; git commit -q -m work")
        record = firm.until(session, SessionState.AWAITING_REVIEW)
        assert record.place.endswith(f":{worker.root}/.git/commonhold")
        found = {each["check"]: each for each in parsed(process("doctor", "--json", cwd=firm.root))["findings"]}
        assert (found["workers"]["level"], found["broker"]["level"]) == ("ok", "ok"), found
    shown = process("session", "show", session, cwd=firm.root).stdout.decode()
    assert "its work travels through the git remote origin" in shown
    logs = process("session", "logs", session, cwd=firm.root)
    assert (logs.returncode, str(worker.root) in logs.stderr.decode()) == (3, True), logs
    approved = process("session", "approve", session, cwd=firm.root)
    assert approved.returncode == 0, approved.stderr
    assert (firm.root / "b.py").read_text() == "x = 1\n"


def test_a_session_of_another_machine_is_attached_to_there(firm: Firm) -> None:
    with firm.worker("there") as worker:
        session = firm.start(firm.waits)
        firm.until(session, SessionState.RUNNING)
        place = firm.record(session).place
        with at_terminal("session", "attach", session, cwd=firm.root) as person:
            person.sees(f"{place}: attach there")
            assert person.ended() == 1
        assert (firm.record(session).state, firm.record(session).wish) == (SessionState.RUNNING, None)
        with at_terminal("session", "attach", session, "--", "touch", "mine", cwd=worker.root) as person:
            assert person.ended() == 0
        record = firm.record(session)
        assert (record.state, record.place) == (SessionState.PAUSED, place)
        with at_terminal("session", "attach", session, cwd=firm.root) as person:
            person.sees(f"{place}: attach there")
            assert person.ended() == 1


def test_wakes_that_are_doubled_lost_or_flushed_start_each_session_once(firm: Firm) -> None:
    with firm.worker("there") as worker:
        worker.until_said("worker of")
        wake_until_heard(firm, worker, 1)
        session = firm.start(f"echo begun >> {firm.folder}/begun; {firm.waits}")
        until((firm.folder / "begun").exists, what="the agent begins")
        for _ in range(5):
            send_wake(firm.broker.url, NAMESPACE)
        firm.broker.empty()
        wake_until_heard(firm, worker, worker.said("woken") + 1)
        lost = firm.start("true", COMMONHOLD_BROKER=CLOSED)
        firm.until(lost, SessionState.AWAITING_REVIEW)
        firm.broker.kill()
        firm.go()
        firm.until(session, SessionState.AWAITING_REVIEW)
        firm.broker.start()
        wake_until_heard(firm, worker, worker.said("woken") + 1)
    assert (firm.folder / "begun").read_text() == "begun\n"
    assert [firm.record(each).attempt for each in (session, lost)] == [1, 1]


def test_another_worker_goes_on_when_one_is_killed(firm: Firm) -> None:
    with firm.worker("first") as first:
        session = firm.start(f"echo begun > {firm.folder}/begun; {firm.waits}; echo done > c.py")
        until((firm.folder / "begun").exists, what="the agent begins")
        first.running.kill()
        first.running.wait()
        with firm.worker("second") as second:
            after = firm.start("echo second > d.py")
            assert str(second.root) in firm.until(after, SessionState.AWAITING_REVIEW).place
            firm.go()
            record = firm.until(session, SessionState.AWAITING_REVIEW)
    assert (record.attempt, str(first.root) in record.place) == (1, True)
    assert b"+done" in process("session", "diff", session, cwd=firm.root).stdout


def test_a_session_whose_base_cannot_be_fetched_fails_with_the_reason(firm: Firm) -> None:
    with firm.worker("there") as worker:
        worker.until_said("worker of")
        git(worker.root, "remote", "set-url", "origin", str(firm.folder / "gone.git"))
        git(firm.root, "commit", "--quiet", "--allow-empty", "--message", "newer than the clone")
        session = firm.start("true")
        record = firm.until(session, SessionState.FAILED)
    assert (record.cause, "cannot be fetched from the git remote origin" in record.note) == (EndCause.NOT_STARTED, True)


@pytest.mark.parametrize(
    ("words", "settings", "why"),
    [
        (("worker",), {"STORE": ""}, "names no PostgreSQL"),
        (("worker", "--store", "redis://x"), {}, "do not get its --store"),
        (("worker",), {"BROKER": "http://x"}, "no URL of Redis or RabbitMQ"),
        (("session", "start", "x", "--with", "a {prompt_file}", "--remote", "nowhere"), {}, "no git remote 'nowhere'"),
        (("session", "start", "x", "--with", "a {prompt_file}", "--remote", "."), {"STORE": ""}, "no git remote '.'"),
    ],
)
def test_commands_say_what_is_missing(
    run: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], settings: dict[str, str], why: str
) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "off")
    for name, value in {"STORE": "postgresql://127.0.0.1:1/x", **settings}.items():
        monkeypatch.setenv(f"COMMONHOLD_{name}", value)
    refused = run(*words)
    assert (refused.status in (2, 3), why in refused.err) == (True, True), refused


def wake_until_heard(firm: Firm, worker: Worker, times: int) -> None:
    """Send wakes until the worker has got as many: a broker that was lost is connected again after some time."""

    def is_heard() -> bool:
        send_wake(firm.broker.url, NAMESPACE)
        return worker.said("woken") >= times

    until(is_heard, what="the worker is woken")
