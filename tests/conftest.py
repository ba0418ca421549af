"""What every test shares: how hard Hypothesis looks, which tests are slow, and that no test leaves a process behind."""

import gc
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from tests import warm
from tests.patience import PATIENCE_SECONDS

from commonhold.workspace import parse_trials

# Containers often forbid bytecode. Then each of the many interpreters that the tests start would compile the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest_plugins = ("tests.services.fixtures",)

# Speed varies on shared machines: the timeout of pytest is the only deadline.
# The suite looks at the same few examples each time: a failure is due to the change. `make stress` looks for new ones.
settings.register_profile(
    "suite",
    max_examples=25,
    deadline=None,
    print_blob=True,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "stress", settings.get_profile("suite"), derandomize=False, max_examples=2_000, stateful_step_count=200
)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=10)
settings.load_profile("suite")

QUICK: Final = "not slow"
"""The expression by which `make quick` selects tests."""
WHOLLY_SLOW: Final = re.compile(r"^pytestmark = (?:\[[^]]*)?pytest\.mark\.slow\b", re.MULTILINE)
"""What marks all tests of a file as slow."""

LONGEST: Final = (
    *("e2e/test_stress.py", "architecture/test_tools.py", "e2e/test_crash.py", "crashes/test_kill.py"),
    *("architecture/test_wheel.py", "docs/test_readme.py", "mcp/test_conformance.py", "bench/test_contention.py"),
    *("e2e/test_what_commands_load.py", "bench/test_semantics.py", "e2e/test_demo.py"),
)
"""Files with tests of half a minute."""

# A test that wants a daemon says so, and ends it; so does one that wants a type checker to be asked: starting one takes
# longer than most tests.
OF_TESTS = {"COMMONHOLD_DAEMON": "off", "COMMONHOLD_TYPES": "off"}
os.environ.update(OF_TESTS)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected, and never look at these again: that takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest: one that began last would keep a single worker busy after all others."""
    items.sort(key=lambda item: not str(item.path).endswith(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Reset logging after each test, and fail a file that changes the environment: the next would start daemons."""
    done = yield
    ours = logging.getLogger("commonhold")
    ours.setLevel(logging.NOTSET)
    ours.handlers[:] = [each for each in ours.handlers if isinstance(each, logging.NullHandler)]
    if nextitem is None or nextitem.path != item.path:
        found = {name: os.environ.get(name) for name in OF_TESTS}
        os.environ.update(OF_TESTS)
        assert found == OF_TESTS, "the tests of this file have changed the environment"
    return done


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files whose tests are all slow in `make quick`: loading them takes longer than running many others."""
    is_left_out = config.option.markexpr == QUICK and collection_path.name.startswith("test_")
    return True if is_left_out and WHOLLY_SLOW.search(collection_path.read_text(encoding="utf-8")) else None


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever the tests of a worker have started has ended, and was waited for, when the last of them is over.

    So have the daemons that serve what it has made, whoever started them.
    """
    before, folder = _children(), tmp_path_factory.getbasetemp()
    yield
    parse_trials.TRIALS.close()
    warm.end()
    left = _left_in_the_end(lambda: (_children() - before) | _daemons(folder))
    assert not left, f"still there, or never waited for: {sorted(map(_described, left))}"


def _children() -> set[int]:
    """The processes that this one has started, as far as the system tells."""
    found: set[int] = set()
    for each in Path("/proc/self/task").glob("*/children") if sys.platform == "linux" else ():
        with suppress(FileNotFoundError, ProcessLookupError):  # that thread has ended meanwhile
            found.update(map(int, each.read_text(encoding="ascii").split()))
    return found


def _left_in_the_end(found: Callable[[], set[int]]) -> set[int]:
    """Those that go on: what was told to end, or has nobody left to serve, and who waits for it, are given the time."""
    until = time.monotonic() + PATIENCE_SECONDS
    while (left := found()) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def _daemons(folder: Path) -> set[int]:
    """Those that serve a repository in a folder, and are no one's children."""
    words = f"-m\0commonhold.server.daemon\0{folder}/".encode()
    found = set()
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            if words in each.read_bytes():
                found.add(int(each.parent.name))
    return found


def _described(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return str(pid)
    return f"{pid} {words}"
