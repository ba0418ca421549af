"""Two scripted agents that collide again and again beside a server, to be watched in its dashboard."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from commonhold.client import daemon
from commonhold.demo.hooked import CHECKED, ROUNDED, Editor, HooksFailedError, build
from commonhold.kernel.scopes import Scope
from commonhold.workspace.repository import find_repository
from commonhold.workspace.tokens import LINK_SECONDS, issue

PAUSE_SECONDS: Final = 3.0


def show(folder: Path, port: int, tell: Callable[[str], None], rounds: int | None = None) -> None:
    """Serve a small repository in `folder` while two agents collide in it, until Ctrl-C or for some rounds.

    `tell` gets the link that signs a browser in. Raises HooksFailedError if the server or a hook fails.
    """
    root = folder / "shop"
    build(root)
    state_folder = find_repository(str(root)).state_folder
    try:
        with _served(root, port) as url:
            _, text = issue(state_folder, Scope.ADMIN, time.time(), label="demo", ttl=LINK_SECONDS, is_once=True)
            tell(f"{url}/#{text}")
            for number in count() if rounds is None else range(rounds):
                _collide(root, number)
    finally:
        daemon.stop(find_repository(str(root)))


@contextmanager
def _served(root: Path, port: int) -> Iterator[str]:
    command = [sys.executable, "-P", "-m", "commonhold", "serve", "--json", "--port", str(port)]
    server = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own command
    try:
        assert server.stdout is not None  # noqa: S101 - a pipe was asked for
        said = ""
        while not said.endswith("}\n"):
            line = server.stdout.readline()
            if not line:
                raise HooksFailedError(server.communicate()[1].strip())
            said += line
        yield json.loads(said)["url"]
    finally:
        server.terminate()
        server.communicate()


def edits(number: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the old and the new text of both edits of a round, each of which goes on from the round before."""
    if number == 0:
        return ROUNDED, CHECKED
    rounded, checked = "round(amount, {})", "        return {}\n"
    return (
        (rounded.format((number - 1) % 3 + 2), rounded.format(number % 3 + 2)),
        (checked.format((number - 1) % 5), checked.format(number % 5)),
    )


def _collide(root: Path, number: int) -> None:
    """Let both agents change one function: the second write is refused, and redone on the current text."""
    first, second = Editor("claude-1", root), Editor("claude-2", root)
    rounded, checked = edits(number)
    first.begin(f"Round the total to {number % 3 + 2} digits")
    second.begin(f"Let an empty basket cost {number % 5}")
    seen, old = first.read(), second.read()
    time.sleep(PAUSE_SECONDS)
    if why := first.edit(seen, *rounded):
        raise HooksFailedError(why)
    time.sleep(PAUSE_SECONDS)
    is_refused = bool(second.edit(old, *checked))
    time.sleep(PAUSE_SECONDS)
    first.end_turn()
    time.sleep(PAUSE_SECONDS)
    if is_refused and (why := second.edit(second.read(), *checked)):
        raise HooksFailedError(why)
    time.sleep(PAUSE_SECONDS)
    second.end_turn()
    time.sleep(PAUSE_SECONDS)
    for each in (first, second):
        each.end()
