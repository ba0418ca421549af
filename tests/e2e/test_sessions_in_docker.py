"""Managed sessions in containers, with a real daemon and engine: they see each other, and leave nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cli_driver import git
from tests.e2e.terminal import at_terminal
from tests.e2e.test_sessions import COMMONHOLD, Office, opened
from tests.patience import until

import commonhold
from commonhold import EndCause, Sandbox, SessionAction, SessionState
from commonhold.config import Settings
from commonhold.session_host.docker import sessions_with_containers
from commonhold.session_host.session_files import SessionFiles
from commonhold.workspace.repository import find_repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
EXPOSED = (str(Path(commonhold.__file__).parents[2]),)


@pytest.fixture(scope="module")
def office(docker_host: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", docker_host)
        with opened(tmp_path_factory.mktemp("docker")) as office:
            yield office


def test_a_person_attaches_in_a_container_and_nothing_is_left(office: Office) -> None:
    session = office.start("echo begun; sleep 600", sandbox=Sandbox.DOCKER)
    office.until_printed(session, "begun")
    with at_terminal("session", "attach", session, cwd=office.root) as person:
        person.sees("is being paused")
        person.types("touch mine /etc/no\r")
        person.sees("Read-only file system")
        for rows, columns in ((24, 80), (50, 132)):
            person.resize(rows, columns)
            size = f"{rows} {columns}"
            # Docker gives a container its size a moment after it has begun.
            person.types(f"until stty size | grep -q '{size}'; do sleep 0.1; done; echo is-$((40 + 2))-wide\r")
            person.sees("is-42-wide")
        person.types("exit\r")
        assert person.ended() == 0
    assert office.record(session).state is SessionState.PAUSED
    assert not has_containers(office)
    with at_terminal(
        "session", "attach", session, "--", "sh", "-c", "trap '' TERM; echo up; sleep 600", cwd=office.root
    ) as person:
        person.sees("up")
        record = office.record(session)
        person.process.kill()
        until(lambda: not has_containers(office), what="its container is gone")
    office.hold.break_lease(record.lease_id, reason="it is dead")
    office.until_printed(session, "begun", attempt=2)
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:mine")
    office.hold.change_managed_session(session, SessionAction.CANCEL, note="seen")
    office.until_clear(session)
    assert not has_containers(office)


def has_containers(office: Office) -> bool:
    return bool(sessions_with_containers(SessionFiles.of(find_repository(str(office.root)), Settings()).mark))


def test_two_sessions_see_each_other_and_their_work_comes_out(office: Office) -> None:
    line = f"cat {{prompt_file}} > e.py; git add e.py; git commit -qm e; {COMMONHOLD} acquire a.py#one --ttl 600"
    waits = "until [ -e go ]; do sleep 0.1; done"
    holds = office.start(f"{line}; echo held; {waits}", sandbox=Sandbox.DOCKER, exposed=EXPOSED)
    office.until_printed(holds, "held")
    asks = office.start(f"{COMMONHOLD} acquire a.py#one; echo status $?", sandbox=Sandbox.DOCKER, exposed=EXPOSED)
    office.until_printed(asks, "status 1")
    assert f"agent:{holds}" in office.log(asks)
    (workspace,) = office.workspaces(holds)
    (workspace / "go").touch()
    record = office.until(holds, SessionState.AWAITING_REVIEW)
    assert record.result is not None
    git(office.root, "cat-file", "-e", f"agent/{holds}:e.py")
    office.until_clear(holds)
    office.until(asks, SessionState.AWAITING_REVIEW)
    office.until_clear(asks)
    assert not has_containers(office)


def test_a_killed_supervisor_leaves_no_container_and_loses_no_work(office: Office) -> None:
    line = "echo 'x = 1' > b.py; (setsid sleep 600 &); echo begun; sleep 600"
    session = office.start(line, sandbox=Sandbox.DOCKER, teardown="echo torn")
    office.until_printed(session, "begun")
    office.kill_supervisor(session)
    office.until_printed(session, "begun", attempt=2)
    assert office.record(session).attempts[0].cause is EndCause.LOST
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:b.py")
    assert "torn" in office.log(session)
    office.hold.change_managed_session(session, SessionAction.CANCEL, note="seen")
    office.until(session, SessionState.CANCELLED)
    office.until_clear(session)
    assert not has_containers(office)
