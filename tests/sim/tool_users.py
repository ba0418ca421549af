"""Agents that write with tools of their own, step by step in any order, as a seed has it; some die on the way.

Each edit brings one token into one place and takes none away. A tool finds and replaces in the file as it is, or writes
the whole file from what it read once. What an agent was told is written down, to be held against the log.
"""

import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.hooked import Agent, House
from tests.in_memory.store import MemoryStore

from commonhold.agents.edits.intended_writes import result
from commonhold.agents.hook_events import Caller, IntendedWrite, Response, Stance, Swap, Unclear, Whole
from commonhold.api.service import Service
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.repository import Repository

PATHS = ("a.py", "b.py")
FUNCTIONS = 4
SOURCE = "import os\n\n\n" + "\n\n".join(f"def f{n}():\n    return {n}\n" for n in range(FUNCTIONS))


class Stage(House):
    """A house in memory: many stories have to be told in a short time."""

    def __post_init__(self) -> None:
        self.root = self.folder / "repo"
        (self.root / ".commonhold").mkdir(parents=True)
        self.store = MemoryStore()
        self.repository = Repository(str(self.root), str(self.root / ".commonhold"))
        self.attending = self.attend()
        for path in PATHS:
            self.write(path, SOURCE)

    def service(self, agent: str | None, root: str | Path | None = None) -> Service:
        files = WorkingTree(str(root or self.root))
        return Service(store=self.store, files=files, clock=self.clock, ids=self.ids, agent=agent, options=self.options)


@dataclass
class Told:
    """What one edit came to, as its agent knows it. `foretold` is what its file was to hold when it was admitted."""

    token: str
    path: str
    foretold: bytes
    is_settled: bool = False
    was_said_to_be_gone: bool = False


@dataclass(frozen=True)
class Weather:
    """How much time may pass at a step, and how likely it is that somebody dies, or that a person writes."""

    passing: tuple[float, ...]
    dying: float
    meddling: float


ROUGH = Weather((0.0, 0.0, 1.0, 3.0, 9.0, 16.0), 0.04, 0.05)
CALM = Weather((0.0, 0.1), 0.0, 0.0)
"""Nobody is ever late."""


@dataclass
class Story:
    """One seed's world."""

    seed: int
    stage: Stage
    weather: Weather = ROUGH
    edits: list[Told] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def play(self, agents: int = 4, steps: int = 70) -> "Story":
        """Let agents act in turns, time pass, and a person write now and then; then let all come to rest."""
        lives = [self._life(number) for number in range(agents)]
        for _ in range(steps):
            self.stage.clock.advance(self.random.choice(self.weather.passing))
            self.stage.attending.let_go_of_silent()
            if self.random.random() < self.weather.meddling:
                self._person()
            number = self.random.randrange(agents)
            if next(lives[number], "over") == "over":
                lives[number] = self._life(number)
        for life in lives:
            life.close()
        self.stage.clock.advance(3600.0)
        self._notice()
        return self

    def token(self) -> str:
        self.count += 1
        return f"t{self.count}_"

    def _life(self, number: int) -> Generator[str, None, None]:
        """One run of an agent's process; the next goes by the same name."""
        agent = Agent(self.stage, Caller("agent", str(number), process=self.token()))
        agent.begins()
        while True:
            for step in self._edit(agent):
                yield step
                if self.random.random() < self.weather.dying:
                    return
            if self.random.random() < 0.4:
                agent.rests()
                yield "rested"

    def _edit(self, agent: Agent) -> Iterator[str]:
        path = self.random.choice(PATHS)
        content = self.stage.root.joinpath(path).read_bytes()
        agent.reads(path)
        yield "has read"
        wish, token = self._wish(path, content)
        before = self.stage.root.joinpath(path).read_bytes()
        asked = agent.wants(wish, call=token)
        if asked.stance is Stance.DENY:
            yield "was refused"
            return
        foretold = result(wish, before)
        assert isinstance(foretold, bytes)
        told = Told(token, path, foretold)
        self.edits.append(told)
        yield "may write"
        if isinstance(result(wish, self.stage.root.joinpath(path).read_bytes()), Unclear):
            yield "found nothing to replace"
            return
        agent.writes(wish)
        yield "has written"
        self._heard(told, agent.has_written(wish, call=token))
        yield "was heard"

    def _heard(self, told: Told, response: Response) -> None:
        told.is_settled = not response.reason
        told.was_said_to_be_gone = f"{told.path} is as" in response.context

    def _wish(self, path: str, content: bytes) -> tuple[IntendedWrite, str]:
        """A token into a function or among the imports: replaced in place, or written with all that was read."""
        token = self.token()
        old, new = self.random.choice(
            [("import os\n", f"import os\nimport {token}\n")]
            + [(f"def f{n}():\n", f"def f{n}():\n    {token} = 1\n") for n in range(FUNCTIONS)]
        )
        if self.random.random() < 0.5:
            return Swap(path, old, new), token
        return Whole(path, content.decode().replace(old, new)), token

    def _person(self) -> None:
        """Adds a line, and asks nobody."""
        target = self.stage.root / self.random.choice(PATHS)
        target.write_text(target.read_text() + f"# {self.token()}\n")
        if self.random.random() < 0.5:
            self._notice()

    def _notice(self) -> None:
        self.stage.service(None).record_external_changes(PATHS)
