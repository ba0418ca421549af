"""Driving the command line: in this process for most tests, as a real process where that is the point."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.e2e.templates import copied

from commonhold.cli.program import main

SAMPLE = """import os

LIMIT = 3


def one():
    return os.sep


def two(value):
    return one() * value


class Box:
    size = 1

    def grow(self):
        self.size += 1
"""
NOBODY = 65534
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")


@dataclass(frozen=True)
class Outcome:
    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Outcome]


def call(capture: Any, monkeypatch: Any, *arguments: str, stdin: bytes = b"") -> Outcome:
    """Run a command in this process; `capture` is pytest's capsysbinary."""
    capture.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(arguments)
    captured = capture.readouterr()
    return Outcome(status, captured.out, captured.err.decode())


def process(*arguments: str | bytes, cwd: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a process of its own."""
    command = [sys.executable, "-m", "commonhold", *arguments]
    return warm.run(command, cwd=cwd, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})


def start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "commonhold", *arguments]
    return warm.Warm(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def git(root: Path, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)


def make_repository(root: Path) -> Path:
    return copied(root, "sample", _make_sample)


def _make_sample(root: Path) -> None:
    git(root, "init", "--quiet")
    (root / "a.py").write_text(SAMPLE, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "begin")


def snapshot(root: Path) -> dict[str, bytes | str]:
    """Every file outside `.git` with its bytes, where its link leads, or what is known of one that may not be read."""
    found: dict[str, bytes | str] = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in files:
            path = Path(folder, name)
            found[str(path)] = _content(path)
    return found


def _content(path: Path) -> bytes | str:
    if path.is_symlink():
        return str(path.readlink())
    if path.is_file() and os.access(path, os.R_OK, effective_ids=True):
        return path.read_bytes()
    known = path.lstat()  # not when it was read last: whoever looks at it changes that
    return f"{known.st_mode} {known.st_ino} {known.st_size} {known.st_mtime_ns}"


def only_root(what: str) -> None:
    """Skip where this user cannot make the trouble that the test is about; root has to be able to."""
    if os.geteuid():
        pytest.skip(f"only root can {what}")


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[Path]:
    """A small file system of its own at `place`."""
    only_root("mount a file system")
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def immutable(path: Path) -> Iterator[None]:
    """Let not even root change `path`."""
    only_root("make a file immutable")
    if subprocess.run(["chattr", "+i", path], check=False, capture_output=True).returncode:
        pytest.skip("this file system has no immutable files")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


@contextmanager
def user(uid: int) -> Iterator[None]:
    """Be another user for a while, as far as files are concerned."""
    only_root("become another user")
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
