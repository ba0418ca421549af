"""A command that runs under a lease: `commonhold acquire KEY -- COMMAND`."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call, process
from tests.patience import until

import commonhold
from commonhold.cli import run_under_lease
from commonhold.client import lease_keeper

pytestmark = pytest.mark.slow
SHOW = (
    "import os; print(os.environ['COMMONHOLD_LEASE'], os.environ['COMMONHOLD_FENCE'], os.environ['COMMONHOLD_AGENT'])"
)
# Says that it is there, then what it got; two of the same would be told twice.
LISTEN = """import signal, sys, time
def told(number, _):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        sys.exit(9)
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(each, told)
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""
# Ours, renewing its lease ten times a second: the lease itself lasts longer than any machine takes for all this.
OFTEN = """import sys
from commonhold.cli.program import main
from commonhold.client import lease_keeper
lease_keeper.RENEWALS = 600
sys.exit(main(sys.argv[1:]))
"""
MINUTE = ("--ttl", "60")
WAIT_FOR_A_RENEWAL = """import time, commonhold
with commonhold.open(".") as hold:
    (begun,) = hold.leases()
    while hold.leases()[0].deadline == begun.deadline:
        time.sleep(0.05)
"""


OURS = (sys.executable, "-m", "commonhold")


def script(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


@contextmanager
def started(*words: str, cwd: Path, program: tuple[str, ...] = OURS) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([*program, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


def ready(child: subprocess.Popen[bytes]) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"


def test_the_command_knows_its_lease_and_gives_the_exit_code(root: Path) -> None:
    done = process("acquire", "x:1", "--task", "t", "--", *script(f"{SHOW}; raise SystemExit(7)"), cwd=root)
    assert done.returncode == 7
    lease, fence, agent = done.stdout.decode().split()
    assert (lease.startswith("lease-"), fence, agent) == (True, "1", "ann")
    assert done.stderr == b""
    assert json.loads(process("leases", "--json", cwd=root).stdout)["leases"] == []


def test_options_after_the_mark_are_the_commands_own(root: Path) -> None:
    done = process("acquire", "x:1", "--", "echo", "--json", "--", "-x", cwd=root)
    assert (done.returncode, done.stdout) == (0, b"--json -- -x\n")


def test_the_command_runs_where_the_call_acts(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "here.sh").write_text("#!/bin/sh\npwd\n")
    (root / "sub" / "here.sh").chmod(0o755)
    done = process("-C", "sub", "acquire", "x.py", "--", "./here.sh", cwd=root)
    assert done.stdout.decode().strip() == str(root / "sub"), done


def test_a_command_of_ours_acts_under_the_lease(root: Path) -> None:
    (root / "commonhold.toml").write_text('[policies]\n"x:*" = "pessimistic"\n')
    ours = f"{sys.executable} -m commonhold put x:1 done --expect 0 --fence $COMMONHOLD_FENCE"
    assert process("acquire", "x:1", "--", "sh", "-c", ours, cwd=root).returncode == 0
    assert process("get", "x:1", cwd=root).stdout == b"done"


def test_what_others_hold_is_not_run_under(root: Path, run: Call) -> None:
    run("acquire", "x:1", "--agent", "ben")
    denied = run("acquire", "x:1", "--", "touch", "ran")
    assert (denied.status, denied.out) == (1, b"")
    assert denied.err.startswith("refused [LEASE_DENIED]: ben holds or waits for x:1\nhint: ")
    shape = run("acquire", "x:1", "--json", "--wait", "0.1", "--", "touch", "ran")
    assert (shape.status, shape.json["code"], shape.json["fields"]["holders"]) == (1, "LEASE_DENIED", "ben")
    assert not (root / "ran").exists()


def test_the_command_knows_its_slot(root: Path) -> None:
    slot = script("import os; print(os.environ['COMMONHOLD_SLOT'])")
    with started("acquire", "--slots", "2", "gpu:box", "--", *script(LISTEN), cwd=root) as child:
        ready(child)
        assert process("acquire", "--slots", "2", "gpu:box", "--", *slot, cwd=root).stdout == b"2\n"
        child.terminate()
        child.wait(60)
    assert process("acquire", "--slots", "2", "gpu:box", "--", *slot, cwd=root).stdout == b"1\n"


def test_work_is_done_once_and_its_output_is_given_to_all_that_ask_later(root: Path, run: Call) -> None:
    once = ("acquire", "--once", "build:7", "--")
    first = process(*once, "sh", "-c", "echo x >> ran; printf 'built\\n\\033[1m7'; echo noise >&2", cwd=root)
    assert (first.returncode, first.stdout, first.stderr) == (0, b"built\n\x1b[1m7", b"noise\n")
    again = process(*once, "sh", "-c", "echo x >> ran", cwd=root)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert (root / "ran").read_text() == "x\n"
    asked = run("acquire", "--once", "build:7")
    assert (asked.status, asked.out.decode().splitlines()[1:]) == (1, ["built", "\\x1b[1m7"])
    shape = run("acquire", "--once", "build:7", "--json").json
    assert (shape["outcome"], shape["result"]["text"], shape["result"]["key"]) == ("done", "built\n\x1b[1m7", "build:7")


def test_work_that_failed_is_left_to_the_next(root: Path) -> None:
    once = ("acquire", "--once", "build:8", "--")
    assert process(*once, "sh", "-c", "echo half; exit 3", cwd=root).returncode == 3
    assert process(*once, "echo", "whole", cwd=root).stdout == b"whole\n"
    assert process(*once, "echo", "again", cwd=root).stdout == b"whole\n"


def test_only_the_beginning_of_a_long_output_is_kept(root: Path, run: Call) -> None:
    long = script("print('a' * 70000, end='')")
    done = process("acquire", "--once", "build:9", "--", *long, cwd=root)
    assert (done.returncode, len(done.stdout)) == (0, 70000)
    assert done.stderr == b"only the first 65536 bytes of the output are kept as the result\n"
    assert run("acquire", "--once", "build:9", "--json").json["result"]["text"] == "a" * 65536


def test_a_result_is_given_with_the_release(run: Call) -> None:
    begun = run("acquire", "--once", "build:10", "--json").json["lease"]
    assert run("release", "--all", "--result", "x").status == 2
    released = run("release", begun["id"], "--result", "applied")
    assert released.status == 0
    assert run("acquire", "--once", "build:10").out.decode().splitlines()[1:] == ["applied"]
    other = run("acquire", "build:11", "--json").json["lease"]
    refused = run("release", other["id"], "--result", "x", "--json")
    assert (refused.status, refused.json["code"]) == (1, "NOT_ONCE")


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (("x:1", "--"), 2, "no command follows --"),
        (("--", "true"), 2, "KEY is missing"),
        (("x:1", "--queue", "--", "true"), 2, "--queue and a command to run exclude each other"),
        (("x:1", "--queue", "--wait", "3"), 2, "--queue and --wait exclude each other"),
        (("x:1", "--", "nonsense-nonsense"), 3, "there is no command 'nonsense-nonsense'"),
        (("x:1", "--", "./a.py"), 3, "there is no command './a.py'"),
        (("x:1", "--wait", "-1", "--", "true"), 2, "-1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_leased(
    words: tuple[str, ...], status: int, why: str, run: Call
) -> None:
    done = run("acquire", *words)
    assert (done.status, why in done.err) == (status, True), done
    assert run("log", "--json").json["events"] == []


def test_it_waits_its_turn(root: Path) -> None:
    with commonhold.open(str(root), agent="ben") as ben:
        lease = ben.acquire("x:1").lease
        assert lease is not None
        with started("acquire", "x:1", "--wait", "60", "--", *script("print('ran')"), cwd=root) as child:
            assert child.stderr is not None
            said = child.stderr.readline().decode()
            assert said == "waiting for x:1, at most 60 s: commonhold who x:1 shows the holder\n"
            until(lambda: ben.status().waiters, what="it is in line")
            ben.release(lease.id)
            assert child.communicate(timeout=60) == (b"ran\n", b"")


def test_the_lease_is_renewed_while_the_command_runs(root: Path) -> None:
    words = [*script(OFTEN), "acquire", "x:1", *MINUTE, "--", *script(WAIT_FOR_A_RENEWAL)]
    done = subprocess.run(words, cwd=root, check=False, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT], ids=lambda each: each.name
)
def test_signals_are_handed_on(number: signal.Signals, root: Path) -> None:
    with started("acquire", "x:1", "--", *script(LISTEN), cwd=root) as child:
        ready(child)
        child.send_signal(number)
        assert child.stdout is not None
        assert child.stdout.readline().decode().strip() == number.name
        if number is not signal.SIGTERM:
            child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
    assert child.returncode == 9
    assert json.loads(process("leases", "--json", cwd=root).stdout)["leases"] == []


def test_a_command_that_is_killed_gives_the_exit_code_of_a_shell(root: Path) -> None:
    assert process("acquire", "x:1", "--", "sh", "-c", "kill -KILL $$", cwd=root).returncode == 128 + 9


# Makes the terminal on standard input the one that rules this process, then runs what follows.
TERMINAL = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


def test_ctrl_c_of_a_terminal_comes_to_the_command_once(root: Path) -> None:
    """The terminal gives it to both: it must not be handed on, or the command would get it twice."""
    terminal, inside = pty.openpty()
    ours = [sys.executable, "-m", "commonhold", "acquire", "x:1", "--", *script(LISTEN)]
    streams = {"stdin": inside, "stdout": inside, "stderr": inside}
    with subprocess.Popen([*script(TERMINAL), *ours], cwd=root, start_new_session=True, **streams) as child:  # type: ignore[call-overload]
        os.close(inside)
        said = read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        said += read_until(terminal, b"SIGINT")
        child.send_signal(signal.SIGUSR1)  # handed on after whatever else was
        said += read_until(terminal, b"SIGUSR1")
        child.send_signal(signal.SIGTERM)
        said += read_until(terminal, None)
        os.close(terminal)
    assert child.returncode == 9
    assert (said.count(b"SIGINT"), said.count(b"SIGTERM")) == (1, 1)


def read_until(terminal: int, word: bytes | None) -> bytes:
    """What is said up to a word, or to the end, which Linux tells by an error."""
    said = b""
    with suppress(OSError):
        while word is None or word not in said:
            said += os.read(terminal, 1000)
    return said


def end_by_force(root: Path) -> None:
    with commonhold.open(str(root), agent="boss") as boss:
        until(lambda: boss.leases(holder="ann"))
        boss.break_lease(boss.leases(holder="ann")[0].id, reason="a test")


def test_when_the_lease_is_lost_the_command_is_ended(root: Path) -> None:
    with started("acquire", "x:1", *MINUTE, "--", *script(LISTEN), cwd=root, program=script(OFTEN)) as child:
        ready(child)
        end_by_force(root)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (1, b"SIGTERM\n")
    said = err.decode().splitlines()
    assert said[0].endswith(f" is lost, so {sys.executable} is ended")
    assert said[1].startswith("refused [LEASE_LOST]: ")
    assert said[2].startswith("hint: ")


def test_a_command_that_does_not_listen_is_killed(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_under_lease, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(lease_keeper, "RENEWALS", 600)

    def end_when_it_is_deaf() -> None:
        until((root / "deaf").exists)
        end_by_force(root)

    ending = threading.Thread(target=end_when_it_is_deaf)
    ending.start()
    deaf = "trap '' TERM; touch deaf; while :; do sleep 0.1; done"
    assert run("acquire", "x:1", *MINUTE, "--json", "--", "sh", "-c", deaf).json["code"] == "LEASE_LOST"
    ending.join()


def test_a_command_that_ended_just_when_the_lease_was_lost_is_not_taken_for_done(
    root: Path, run: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_under_lease, "_LOOK_SECONDS", 3600.0)
    monkeypatch.setattr(lease_keeper, "RENEWALS", 600)
    renewed = lease_keeper.LeaseHandle.renewed

    def noted(grip: lease_keeper.LeaseHandle, answer: commonhold.LeaseAnswer, asked_at: float) -> None:
        renewed(grip, answer, asked_at)
        if answer.lease is None:
            (root / "lost").touch()

    monkeypatch.setattr(lease_keeper.LeaseHandle, "renewed", noted)
    ending = threading.Thread(target=end_by_force, args=(root,))
    ending.start()
    until_lost = "while [ ! -e lost ]; do sleep 0.05; done"
    done = run("acquire", "x:1", *MINUTE, "--", "sh", "-c", until_lost)
    ending.join()
    assert (done.status, done.err.startswith("refused [LEASE_LOST]: ")) == (1, True)


def test_what_is_ignored_here_is_ignored_there(root: Path) -> None:
    nohup = "trap '' HUP; exec \"$@\""
    ask = "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    words = [sys.executable, "-m", "commonhold", "acquire", "x:1", "--", *script(ask)]
    done = subprocess.run(["sh", "-c", nohup, "sh", *words], cwd=root, check=False, capture_output=True)
    assert done.stdout == b"True\n", done
