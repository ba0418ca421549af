"""A repository to be in, and the command line to call there as the agent ann."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call, call, make_repository
from tests.e2e.daemon_process import place


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> Iterator[None]:
    """Let children see Ctrl-C and a hang-up also where the tests were started with `&` or `nohup`.

    What is ignored is inherited so.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler), signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGHUP, before[1])


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = make_repository(tmp_path / "work")
    monkeypatch.chdir(made)
    monkeypatch.setenv("COMMONHOLD_AGENT", "ann")
    monkeypatch.setenv("HOME", str(tmp_path))
    with place(made):
        yield made


@pytest.fixture
def run(
    root: Path,  # noqa: ARG001 - where it runs
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> Call:
    return lambda *arguments, stdin=b"": call(capsysbinary, monkeypatch, *arguments, stdin=stdin)
