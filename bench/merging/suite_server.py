"""Runs test files in forked children, so that pytest is imported once. A script: it needs pytest and nothing of ours.

A line of JSON in asks for a run: `folder`, `tests`, `seconds`, and perhaps more `options` for pytest. A line of JSON
out answers: `passed`, `said`.
"""

import json
import os
import signal
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import Any

import pytest

KEPT = 8000
OPTIONS = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider"]
PLUGIN = "pytest_mock"


def run(folder: str, tests: list[str], options: list[str]) -> None:
    """Become a process that runs the tests and ends."""
    os.setsid()
    os.chdir(folder)
    sys.path[:0] = [folder + "/src", folder]
    os.environ["PYTHONPATH"] = folder + "/src"
    sys.stdout.flush()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what else is installed here is not the project's
    plugin = ["-p", PLUGIN] if find_spec(PLUGIN) else []
    status = pytest.main([*OPTIONS, *plugin, *options, *tests])
    sys.stdout.flush()
    os._exit(int(status))


def answer(folder: str, tests: list[str], seconds: float, options: "list[str] | None" = None) -> dict[str, Any]:
    """What the tests say in a child of ours; a child that takes too long is ended."""
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if not child:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((nothing, 0), (told.fileno(), 1), (told.fileno(), 2)):
                os.dup2(source, target)
            run(folder, tests, options or [])
        status = wait(child, seconds)
        told.seek(0)
        said = told.read().decode(errors="replace")
    return {"passed": status == 0, "said": said[-KEPT:] if status is not None else "It took too long."}


def wait(child: int, seconds: float) -> "int | None":
    """How the child ended; None if it had to be ended."""
    until, pause = time.monotonic() + seconds, 0.005
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main() -> None:
    """Answer until nobody asks."""
    sys.dont_write_bytecode = True
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
