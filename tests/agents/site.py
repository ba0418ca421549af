"""A repository that an agent was installed in, and what Commonhold says of it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from tests.agents.acting import ACTS, Acts
from tests.agents.cli import Cli, Outcome, Place, environment, outcome, start
from tests.e2e.scripted.conversation import Script
from tests.e2e.scripted.server import ScriptedModel

APP: Final = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
NOTES: Final = "alpha\nbeta\ngamma\n"


@dataclass(frozen=True, slots=True)
class Site:
    """A repository, the agent that works there, and the model it asks."""

    cli: Cli
    place: Place
    model: ScriptedModel

    @property
    def root(self) -> str:
        return str(self.place.root)

    @property
    def acts(self) -> Acts:
        """The turns of this agent."""
        return ACTS[self.cli.name]

    def text(self, file: str) -> str:
        return (self.place.root / file).read_text()

    def begin(self, name: str, script: Script, *, home: str = "", **variables: str) -> "subprocess.Popen[bytes]":
        """A session that plays a script, in a home of its own if more than one runs at a time."""
        place = Place(self.place.root, self.place.home.with_name(home), self.place.model) if home else self.place
        return start(self.cli, place, f"{self.model.plays(name, script)} Improve the code", **variables)

    def play(self, script: Script, **variables: str) -> Outcome:
        """What comes of a script that is played to its end."""
        return outcome(self.begin("main", script, **variables))

    def told(self, name: str = "main") -> list[str]:
        """What tools have answered to a script."""
        return [result.text for result in self.model.told(name)]

    def commonhold(self, *words: str, by: str = "ann", text: str = "") -> str:
        """What Commonhold answers to another agent session; that it must not fail is asserted."""
        variables = environment(self.place, {"COMMONHOLD_AGENT": by})
        command = [sys.executable, "-m", "commonhold", *words]
        done = subprocess.run(
            command, cwd=self.root, env=variables, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commits(self) -> list[Mapping[str, Any]]:
        """What the log says was committed, oldest first."""
        events = json.loads(self.commonhold("log", "--limit", "100000", "--json"))["events"]
        return [each["event"] for each in events if each["kind"] == "committed"]

    def leases(self) -> list[Mapping[str, Any]]:
        """What is held."""
        return list(json.loads(self.commonhold("leases", "--json"))["leases"])

    def daemon(self) -> int:
        """The id of the process that answers hooks, which is started if need be."""
        self.commonhold("daemon", "start")
        return int(json.loads(self.commonhold("daemon", "status", "--json"))["pid"])

    def holders(self) -> set[str]:
        """Who has committed."""
        return {str(event["holder"]) for event in self.commits()}


def once(action: Callable[[], object]) -> Callable[[], None]:
    """The action, done at the first call alone: a script is played again at each request."""
    lock = Lock()
    done: list[object] = []

    def doing() -> None:
        with lock:
            if not done:
                done.append(action())

    return doing


def repository(root: Path) -> Path:
    """A repository with two functions, some notes, and a first commit."""
    root.mkdir(parents=True)
    (root / "app.py").write_text(APP)
    (root / "notes.txt").write_text(NOTES)
    as_ann = ["-c", "user.name=ann", "-c", "user.email=ann@example.invalid"]
    for words in (["init", "-q"], ["add", "-A"], [*as_ann, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


@contextmanager
def installed(site: Site, *what: str) -> Iterator[Site]:
    """The same while `commonhold install` has been run there; the daemon ends with it."""
    site.commonhold("install", *(what or (site.cli.name,)), "--yes")
    try:
        yield site
    finally:
        site.commonhold("daemon", "stop")


@contextmanager
def coordinated(cli: Cli, folder: Path, model: ScriptedModel, *what: str) -> Iterator[Site]:
    """A repository in which `commonhold install` was run, whose daemon ends with it."""
    place = Place(repository(folder / "work"), folder / "home", model.url)
    place.home.mkdir()
    with installed(Site(cli, place, model), *what) as site:
        yield site
