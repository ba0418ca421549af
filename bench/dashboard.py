"""Measure the dashboard with 20 agents and 10,000 events in the log: `make bench-dashboard`.

For each page: the processor time that a headless Chromium spends on scripts, layout and all its tasks, while five
events come in six seconds; and the processor time of both views on the server.
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.e2e.browser import Page, browser
from tests.e2e.cli_driver import make_repository
from tests.e2e.served import served

from commonhold import Commonhold
from commonhold.kernel.scopes import Scope
from commonhold.workspace import tokens

AGENTS: Final = 20
PAGES: Final = ("now", "run", "map", "queue", "inbox", "tasks")
CHANGES: Final = 5
SECONDS: Final = 1.2
_PARTS: Final = {"ScriptDuration": "scripts", "LayoutDuration": "layout", "TaskDuration": "all"}
_LIVE: Final = "document.querySelector('.link')?.dataset.state === 'live'"


def main() -> None:
    """Fill the log, then watch it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=10_000, help="how many events the log has at least")
    least: int = options.parse_args().events
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as open_:
        root = make_repository(Path(scratch) / "shop")
        server = open_.enter_context(served(root, rate=100_000.0))
        agents = [open_.enter_context(server.connect(f"agent-{number}")) for number in range(AGENTS)]
        _fill(agents, least)
        _server_side(agents[0])
        page = open_.enter_context(browser(Path(scratch) / "profile"))
        _, text = tokens.issue(str(server.state), Scope.ADMIN, time.time(), ttl=600.0, is_once=True)
        page.size(1280, 900)
        page.open(f"{server.url}/#{text}")
        page.until(_LIVE)
        for name in PAGES:
            _watch(page, name, agents)


def _fill(agents: list[Commonhold], least: int) -> None:
    for each in agents:
        each.start_session(each.holder)
        each.set_intent(f"the work of {each.holder}")
    done = 0
    while done < least:
        for number, each in enumerate(agents):
            lease = each.acquire(f"a.py#one{number % 8}" if number % 3 else f"x:{number}", task="load").lease
            done += 1
            if lease is not None:
                each.release(lease.id)
                done += 1


def _server_side(session: Commonhold) -> None:
    for name, view in (("overview", session.overview), ("timeline", lambda: session.timeline(limit=10_000))):
        view()  # the first call loads the modules
        began = time.process_time()
        view()
        print(f"{name}: {1000 * (time.process_time() - began):.0f} ms on the server, reading the answer included")


def _watch(page: Page, name: str, agents: list[Commonhold]) -> None:
    page.run(f"location.hash = '#/{name}'")
    page.until(f"document.querySelector('main').dataset.page === '{name}'")
    time.sleep(3.0)
    before = _metrics(page)
    for number in range(CHANGES):
        agents[number].acquire(f"y:{name}{number}", task="a change")
        time.sleep(SECONDS)
    after = _metrics(page)
    spent = ", ".join(f"{words} {1000 * (after[part] - before[part]):.0f} ms" for part, words in _PARTS.items())
    print(f"{name}: {spent} in {CHANGES * SECONDS:g} s; {page.run('document.querySelectorAll(`*`).length')} elements")


def _metrics(page: Page) -> dict[str, float]:
    return {each["name"]: each["value"] for each in page.call("Performance.getMetrics")["metrics"]}


if __name__ == "__main__":
    main()
