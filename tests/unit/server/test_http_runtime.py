"""What is loaded with the first answer of a daemon to a hook, and what after it."""

import json
import subprocess
import sys
import threading

import pytest

from commonhold.agents.hook_events import NOTHING, Caller, Happening, Response, Unconcerned
from commonhold.kernel.errors import Code, InputError
from commonhold.server.http_runtime import LATER, Rest

pytestmark = pytest.mark.slow

LOADED = (
    "import json, sys, commonhold.server.daemon.lifetime, commonhold.server.http_runtime; "
    "print(json.dumps([*sys.modules]))"
)
JUDGES = (
    "commonhold.merging.",
    "commonhold.code.analysis.repository.",
    "commonhold.code.analysis.",
    "commonhold.index.index",
)


def test_the_first_answer_waits_for_nothing_that_judges() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, check=True)
    loaded = json.loads(done.stdout)
    assert "commonhold.agents.runtime.hook_dispatch" in loaded
    assert [name for name in loaded if name in LATER or f"{name}.".startswith(JUDGES)] == []


def test_the_rest_is_loaded_after_the_first_answer_and_once() -> None:
    loads = threading.Semaphore(0)
    rest = Rest(loads.release)

    def attend(happening: Happening) -> Response:
        if happening.cwd == "/broken":
            raise InputError(Code.PATH_INVALID, "broken", hint="mend it")
        return NOTHING

    attended, caller = rest.after(attend), Caller("claude", "s1")
    with pytest.raises(InputError):
        attended(Unconcerned(caller, "/broken"))
    assert [attended(Unconcerned(caller, "/")) for _ in range(3)] == [NOTHING] * 3
    assert loads.acquire(timeout=60)
    assert not loads.acquire(timeout=1)


def test_nothing_more_is_loaded_at_the_end() -> None:
    loads = threading.Semaphore(0)
    rest = Rest(loads.release)
    rest.cancel()
    rest.after(lambda _: NOTHING)(Unconcerned(Caller("claude", "s1"), "/"))
    assert not loads.acquire(timeout=1)
