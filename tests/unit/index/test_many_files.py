"""Building over several processes: with those that end, are killed, or never begin."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from tests.processes import is_alive
from tests.unit.code.regions.hostile import repeated
from tests.unit.index import building
from tests.unit.index.rig import Rig

from commonhold.index import workers

FILES = 60
# Long, and soon read.
FILLER = f'"""{"words " * 3000}"""\n'

pytestmark = pytest.mark.slow


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    made = Rig(tmp_path)
    for number in range(FILES):
        made.write(f"p{number % 7}/m{number}.py", f"{FILLER}def f{number}():\n    return f{number + 1}()\n")
    made.write("empty.py", "")
    made.write("p1/__init__.py", "")
    return made


def begin(rig: Rig) -> subprocess.Popen[str]:
    command = [sys.executable, building.__file__, str(rig.state), str(rig.root)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def integrity(rig: Rig) -> object:
    connection = apsw.Connection(str(rig.state / "index.db"))
    try:
        return connection.pragma("integrity_check")
    finally:
        connection.close()


def test_several_processes_make_what_one_makes(rig: Rig) -> None:
    told: list[tuple[int, int]] = []
    index = rig.opened(processes=2)
    index.library(lambda done, total: told.append((done, total)))
    rig.check(index)
    assert told == sorted(told)
    assert told[-1] == (FILES + 2, FILES + 2)
    index.close()
    rig.check(rig.opened())


def test_two_that_build_at_once_agree(rig: Rig) -> None:
    both = [begin(rig), begin(rig)]
    for each in both:
        said, _ = each.communicate(timeout=100)
        assert said.splitlines()[-1] == f"all {FILES + 2}"
    assert integrity(rig) == "ok"
    rig.check()


def test_a_killed_build_leaves_what_it_had_done(rig: Rig) -> None:
    builder = begin(rig)
    assert builder.stdout is not None
    assert int(builder.stdout.readline().split()[0]) == 0, "that it begins is told before anything is done"
    done = int(builder.stdout.readline().split()[0])
    helpers = children(builder.pid)
    builder.kill()
    builder.wait()
    builder.stdout.close()
    assert integrity(rig) == "ok"
    connection = apsw.Connection(str(rig.state / "index.db"))
    kept = len(connection.execute("SELECT id FROM summaries").fetchall())
    connection.close()
    assert 0 < done <= kept + 1  # the two empty files have one summary
    rig.check()
    wait_for_the_end_of(helpers)


def children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def wait_for_the_end_of(pids: list[int]) -> None:
    """Return when all have ended; the timeout of the test says when that is too late."""
    for pid in pids:
        while is_alive(pid):
            time.sleep(0.01)


def test_a_file_that_kills_whoever_reads_it_has_a_problem(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    deadly = (
        "import json, os, signal, sys; sys.path[:] = json.loads(sys.argv.pop())\n"
        "from commonhold.index import summarising\n"
        "read = summarising.summarise\n"
        "def die(path, source):\n"
        "    if b'deadly' in source: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return read(path, source)\n"
        "summarising.summarise = die\n"
        "summarising.main()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", deadly)
    rig.write("p3/bad.py", f"{FILLER}deadly = 1\n")
    library = rig.opened(processes=2).library()
    summary = library.summary("p3/bad.py")
    assert summary is not None
    assert summary.problem == "it could not be summarised: the process that tried died"
    assert library.definers("deadly") == ()
    assert all(library.definers(f"f{number}") for number in range(FILES))


def test_a_file_over_which_somebody_killed_the_process_has_no_problem(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once alone with others in its batch, and twice by itself."""
    killing = (
        "import json, os, signal, sys; sys.path[:] = json.loads(sys.argv.pop())\n"
        "from commonhold.index import summarising\n"
        "read = summarising.summarise\n"
        "def die(path, source):\n"
        f"    place = {str(tmp_path / 'deaths')!r}\n"
        "    if b'unlucky' in source and (not os.path.exists(place) or os.path.getsize(place) < 3):\n"
        "        open(place, 'a').write('x')\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return read(path, source)\n"
        "summarising.summarise = die\n"
        "summarising.main()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", killing)
    rig.write("p3/bad.py", f"{FILLER}unlucky = 1\n")
    library = rig.opened(processes=2).library()
    summary = library.summary("p3/bad.py")
    assert summary is not None
    assert not summary.problem
    assert (tmp_path / "deaths").read_text() == "xxx"


def test_a_file_that_keeps_a_process_busy_for_too_long_has_a_problem(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = (
        "import json, sys; sys.path[:] = json.loads(sys.argv.pop())\n"
        "from commonhold.index import summarising\n"
        "read = summarising.summarise\n"
        "def go_on(path, source):\n"
        "    while b'endless' in source: pass\n"
        "    return read(path, source)\n"
        "summarising.summarise = go_on\n"
        "summarising._LIMIT_SECONDS = 0.2\n"
        "summarising.main()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", endless)
    rig.write("p3/bad.py", f"{FILLER}endless = 1\n")
    library = rig.opened(processes=2).library()
    summary = library.summary("p3/bad.py")
    assert summary is not None
    assert summary.problem == "it could not be summarised: the process that tried died"
    assert all(library.definers(f"f{number}") for number in range(FILES))


def test_a_file_whose_syntax_takes_too_much_work_has_a_problem_in_any_process(rig: Rig) -> None:
    rig.write("p3/Bad.java", repeated("a=>", 10_000).decode())
    summary = rig.opened(processes=2).library().summary("p3/Bad.java")
    assert summary is not None
    assert "more work than any ordinary file" in summary.problem


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "print('hello')"])
def test_where_no_process_can_be_begun_the_work_is_done_here(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(workers, "_PROGRAM", program)
    rig.check(rig.opened(processes=2))


def test_where_there_is_no_interpreter_the_work_is_done_here(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    rig.check(rig.opened(processes=2))


def test_who_stops_listening_stops_the_work(rig: Rig) -> None:
    class EnoughError(Exception):
        pass

    def stop(_done: int, _total: int) -> None:
        raise EnoughError

    index, others = rig.opened(processes=2), children(os.getpid())
    with pytest.raises(EnoughError):
        index.library(stop)
    wait_for_the_end_of([pid for pid in children(os.getpid()) if pid not in others])
    rig.check(index)


def test_a_worker_ends_when_nobody_asks_any_more() -> None:
    worker = workers.Worker()
    assert [each is not None for each in worker.summarise([("a.py", b"x = 1"), ("a.txt", b"x")])] == [True, False]
    worker._given.close()
    assert worker._child.wait(timeout=100) == 0
    worker._answers.close()


def test_a_worker_is_not_ended_by_an_interrupt_that_is_for_us() -> None:
    worker = workers.Worker()
    worker._child.send_signal(signal.SIGINT)
    assert len(worker.summarise([("a.py", b"x = 1")])) == 1
    worker.end()
