"""The sandbox docker beside what all sandboxes share: images, labels, and an engine that is missing or lost."""

import io
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.services.docker_engine import DockerEngine
from tests.services.fixtures import require
from tests.unit.session_host.repository import Project
from tests.unit.session_host.test_sandboxes import Box, NewBox
from tests.unit.session_host.test_sandboxes import new_box as new_box  # noqa: PLC0414 - a fixture
from tests.unit.session_host.test_sandboxes import project as project  # noqa: PLC0414 - a fixture

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import EndCause, Sandbox, SessionMove
from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.machine.process_tree import with_variable
from commonhold.session_host import containers, docker
from commonhold.session_host.commands import Command
from commonhold.session_host.containers import started
from commonhold.session_host.docker import sessions_with_containers
from commonhold.session_host.leftovers import Leftovers, end_session, sweep
from commonhold.session_host.session_files import WorkspaceNote

pytestmark = [pytest.mark.slow]


def sleeping(box: Box) -> Command:
    """Start a command in a box that does not end, and wait until it runs."""
    line = "trap '' TERM; (setsid sleep 73 &); echo begun; sleep 74 & wait"
    command = started(box.note, ("/bin/sh", "-c", line), {**os.environ, SESSION_LABEL: box.label}, box.log)

    def has_begun() -> bool:
        assert not command.has_ended(0.01), (command.outcome(), box.printed)
        return "begun" in box.printed

    until(has_begun)
    assert len(with_variable(SESSION_LABEL, box.label)) >= 3
    return command


def leftovers(box: Box) -> Leftovers:
    return Leftovers(box.project.worktrees, box.project.files, dict(os.environ))


def ended(command: Command) -> Command:
    until(lambda: command.has_ended(0.05))
    command.end(is_asked=False)
    return command


@pytest.mark.parametrize("missing", ["program", "engine", "image"])
def test_a_missing_part_is_named_with_the_next_step(
    request: pytest.FixtureRequest, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    if missing == "program":
        monkeypatch.setattr(docker, "PROGRAM", "no-such-docker")
    else:
        require("docker")
        nowhere = f"unix://{tmp_path}/nowhere"
        monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue("docker_host") if missing == "image" else nowhere)
    with pytest.raises(StoreError) as caught:
        Box(project, Sandbox.DOCKER, tmp_path, image="no-such-image:1" if missing == "image" else "")
    assert caught.value.code is Code.SANDBOX_FAILED
    why, step = {
        "program": ("the program `docker` is not installed", "apt-get install docker.io"),
        "engine": ("Is the docker daemon running?", "start the Docker engine"),
        "image": ("the image no-such-image:1 is not there", "docker pull no-such-image:1"),
    }[missing]
    assert why in caught.value.message
    assert step in caught.value.hint


def test_a_container_that_cannot_be_made_is_an_end_with_its_reason(new_box: NewBox) -> None:
    report = new_box(Sandbox.DOCKER, exposed=("/nowhere/at/all:rw",)).run("true")
    assert (report.move, report.cause) == (SessionMove.FAIL, EndCause.NOT_STARTED)
    assert "its container could not be started" in report.note
    assert "/nowhere/at/all" in report.note


@pytest.fixture
def small_image(docker_host: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An image with a shell and no other program."""
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    listed = subprocess.run(("ldd", "/bin/sh"), check=True, capture_output=True, text=True).stdout
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
        for file in ("/bin/sh", *re.findall(r"(/\S+) \(", listed)):
            tar.add(file)
    name = "commonhold-test-small:1"
    assert docker.call("import", "-", name, given=archive.getvalue()).returncode == 0
    yield name
    docker.call("rmi", name)


def test_a_chosen_image_brings_its_own_programs_and_path(new_box: NewBox, small_image: str) -> None:
    box = new_box(Sandbox.DOCKER, image=small_image)
    line = "command -v git || echo $PATH; echo new > b.py"
    command = ended(started(box.note, ("/bin/sh", "-c", line), dict(os.environ), box.log))
    assert command.outcome() == (0, None)
    assert box.printed == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    assert (Path(box.note.path) / "b.py").read_text() == "new\n"


def test_containers_are_known_by_labels_and_swept(new_box: NewBox, project: Project) -> None:
    box = new_box(Sandbox.DOCKER)
    mark = project.files.mark
    first = sleeping(box)
    words = ("ps", "--format", '{{.Label "commonhold.session"}} {{.Label "commonhold.attempt"}}')
    assert docker.call(*words, "--filter", f"label=commonhold.repository={mark}").stdout == "s1 1"
    end_session(project.files, "s1")
    assert with_variable(SESSION_LABEL, box.label) == ()
    assert sessions_with_containers(mark) == frozenset()
    ended(first)
    assert first.outcome()[0] is not None
    box.log.write_text("")
    second = sleeping(box)
    project.files.drop_note("s1")  # somebody has deleted it
    unused: Any = None
    sweep(unused, leftovers(box))
    assert sessions_with_containers(mark) == frozenset()
    ended(second)


def test_a_lost_engine_ends_the_turn_and_the_workspace_waits_for_it(
    new_box: NewBox, private_docker: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "ENGINE_SECONDS", 1.0)
    box = new_box(Sandbox.DOCKER, docker_host=private_docker.url)
    Path(box.note.path, "b.py").write_text("x = 1\n")
    command = sleeping(box)
    private_docker.kill()
    _, stopped = ended(command).outcome()
    assert stopped is not None
    assert (stopped.cause, "has not answered for 1 s" in stopped.note) == (EndCause.ENGINE_LOST, True)
    assert with_variable(SESSION_LABEL, box.label) == ()
    with pytest.raises(StoreError, match="could not be listed"):
        leftovers(box).remove(box.note)
    assert Path(box.note.path, "b.py").exists()
    private_docker.start()
    leftovers(box).clear(box.note)
    assert sessions_with_containers(box.project.files.mark) == frozenset()
    assert not Path(box.note.path).exists()
    assert box.project.ref("refs/commonhold/sessions/s1/1:b.py")


def test_an_engine_that_answers_late_has_not_ended_what_ended_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = subprocess.CompletedProcess((), 124, "", "the Docker engine has not answered for 8 s")
    told = subprocess.CompletedProcess((), 0, '[{"Running": false, "ExitCode": 3}, 0]', "")
    answers = [late, told]
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setattr(docker, "PROGRAM", str(tmp_path / "docker"))
    monkeypatch.setattr(docker, "call", lambda *_, **__: answers.pop(0) if answers else told)
    monkeypatch.setattr(containers, "_FIRST_PAUSE_SECONDS", 0.0)
    note = WorkspaceNote("s1", 1, str(tmp_path), "", "", "c" * 40, container=("an-image",))
    command = ended(started(note, ("/bin/sh", "-c", "exit 3"), {}, tmp_path / "log"))
    assert (answers, command.outcome()) == ([], (3, None))


def test_an_engine_that_comes_back_is_asked_for_the_end(
    new_box: NewBox, private_docker: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "ENGINE_SECONDS", 600.0)
    box = new_box(Sandbox.DOCKER, docker_host=private_docker.url)
    command = sleeping(box)
    private_docker.kill()
    for _ in range(20):  # its client ends, and the engine is asked in vain
        assert not command.has_ended(0.05)
    private_docker.start()
    status, stopped = ended(command).outcome()
    assert stopped is not None
    assert (bool(status), stopped.cause) == (True, EndCause.ENGINE_LOST)
    assert "has ended its container" in stopped.note
    assert with_variable(SESSION_LABEL, box.label) == ()
