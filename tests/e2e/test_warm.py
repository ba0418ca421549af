"""A process that starts warm is like any other: a child with streams, a folder and an environment of its own."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import warm

pytestmark = pytest.mark.slow

TELLING = """import json, os, random, resource, sys
told = {
    "words": sys.argv[1:], "folder": os.getcwd(), "parent": os.getppid(), "group": os.getpgrp(), "path": sys.path[0],
    "variables": {name: value for name, value in os.environ.items() if name.startswith("TOLD")},
    "umask": os.umask(0), "descriptors": os.listdir("/proc/self/fd"), "chance": random.random(), "name": __name__,
    "input": sys.stdin.read(), "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
}
print(json.dumps(told), flush=True)
print("complaint", file=sys.stderr)
sys.exit(7)
"""
WAITING = """import time
print("ready", flush=True)
time.sleep(600)
"""
BOTH: tuple[type["subprocess.Popen[bytes]"], ...] = (subprocess.Popen, warm.Warm)
KINDS = pytest.mark.parametrize("kind", BOTH)


def script(folder: Path, text: str) -> list[str]:
    (folder / "told.py").write_text(text, encoding="utf-8")
    return [sys.executable, str(folder / "told.py"), "é", "b c"]


def heard(kind: type[subprocess.Popen[bytes]], folder: Path, **options: Any) -> tuple[dict[str, Any], bytes, int]:
    (folder / "work").mkdir(exist_ok=True)
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with kind(script(folder, TELLING), cwd=folder / "work", **streams, **options) as process:
        out, err = process.communicate("größe".encode(), timeout=60)
    return json.loads(out), err, process.returncode


def test_it_is_told_the_same_as_any_other(tmp_path: Path) -> None:
    options: dict[str, Any] = {"env": {**os.environ, "TOLD": "more"}}
    before, limits = os.umask(0o027), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[0] // 2, limits[1]))
    try:
        (plain, *rest), (ours, *others) = (heard(kind, tmp_path, **options) for kind in BOTH)
    finally:
        os.umask(before)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert plain.pop("chance") != ours.pop("chance")
    assert ours == plain
    assert (ours["parent"], ours["umask"], ours["input"]) == (os.getpid(), 0o027, "größe")
    assert ours["open_files"] == [limits[0] // 2, limits[1]]
    assert others == rest == [b"complaint\n", 7]


def test_no_two_have_the_same_chances(tmp_path: Path) -> None:
    assert heard(warm.Warm, tmp_path)[0]["chance"] != heard(warm.Warm, tmp_path)[0]["chance"]


@KINDS
def test_one_that_is_apart_leads_a_group_of_its_own(kind: type[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    assert heard(kind, tmp_path)[0]["group"] == os.getpgrp()
    assert heard(kind, tmp_path, start_new_session=True)[0]["group"] != os.getpgrp()


@KINDS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it(kind: type[subprocess.Popen[bytes]], number: signal.Signals, tmp_path: Path) -> None:
    command = script(tmp_path, WAITING)
    with kind(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -number
    assert (b"KeyboardInterrupt" in err) is (number == signal.SIGINT)


def test_a_module_runs_as_with_m_and_what_an_interpreter_is_asked_for_starts_plainly(tmp_path: Path) -> None:
    version = warm.run([sys.executable, "-m", "commonhold", "--version"], cwd=tmp_path, stdout=subprocess.PIPE)
    assert (version.returncode, version.stdout.startswith(b"commonhold")) == (0, True)
    plain = warm.run([sys.executable, "-I", "-c", "print(__import__('sys').flags.isolated)"], stdout=subprocess.PIPE)
    assert plain.stdout == b"1\n"
