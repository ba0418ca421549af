"""Agents that commit to two files through one daemon, as a seed has it: the real commits and turns, in virtual time.

Planning takes a random time, of which the plan sees the files at some moment, and so does writing. Now and then a
planner dies and it takes that once more, or it takes longer than a turn lasts. Programs that take no turns write in
between, a few times. The referee is told of every commit when it comes and when it is answered.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import CountingIds
from tests.in_memory.index import MemoryIndex
from tests.in_memory.store import MemoryStore
from tests.sim.actors import Actors
from tests.sim.world import MachineClock, World

from commonhold.api.service import Service
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.commits.plan_sources import Plans
from commonhold.commits.turns import TURN_SECONDS, Turns
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.workspace.files import WorkingTree

AGENTS = 6
COMMITS_EACH = 3
MOST_FOREIGN_WRITES = 3
"""One less than a commit has tries."""
LONG = 10_000.0
FOREIGN = "# somebody was here\n"
OWN = "".join(f"\n\ndef agent{number}():\n    return 0\n" for number in range(AGENTS))
A = f"def shared():\n    return 0\n\n\ndef f(x):\n    return x\n{OWN}"
B = f"from a import f\n\n\ndef shared():\n    return 0\n{OWN}"
PATHS = ("a.py", "b.py")
TAKES = re.compile(r"def f\((.*?)\)")
GIVES = re.compile(r"= f\((.*?)\)")
NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True)
class Pace:
    """How long planning takes, and how likely it is that it takes longer than a turn, or that a planner dies of it."""

    most_seconds: float
    hanging: float
    dying: float


ROUGH = Pace(4.0, hanging=0.4, dying=0.1)
PACES = {"calm": Pace(1.0, hanging=0.0, dying=0.1), "rough": ROUGH}


@dataclass
class Asked:
    """A commit, as its agent knows it. `may_be_refused`: others may write the same, or what it does not fit to.

    `seconds` is how long it was being planned.
    """

    token: str
    paths: frozenset[str]
    may_be_refused: bool
    seconds: float = 0.0
    outcome: str = ""


@dataclass
class TimedPlans:
    """Plans that take their time."""

    story: "Story"
    own: Plans

    def plan(self, request: CommitRequest, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        while True:
            self._take_time(request)
            planned = self.own.plan(request, earlier)
            self._take_time(request)
            if not self.story.world.chance(self.story.pace.dying):
                return planned

    def still_links(self, crossed: CrossFileEffects) -> bool:
        self.story.actors.pause(0.1)
        return self.own.still_links(crossed)

    def _take_time(self, request: CommitRequest) -> None:
        world, pace = self.story.world, self.story.pace
        seconds = world.random.uniform(0.0, pace.most_seconds)
        if world.chance(pace.hanging):
            seconds += TURN_SECONDS
        self.story.asked[request.changeset.intent].seconds += seconds
        self.story.actors.pause(seconds)


@dataclass
class Story:
    """One seed's world."""

    seed: int
    root: Path
    pace: Pace
    asked: dict[str, Asked] = field(default_factory=dict)
    answered: list[Asked] = field(default_factory=list)
    foreign: int = 0
    count: int = 0

    def __post_init__(self) -> None:
        self.world = World(self.seed)
        self.actors = Actors(self.world)
        self.root.mkdir()
        for path, text in {"a.py": A, "b.py": B}.items():
            self.root.joinpath(path).write_text(text)
        self.store, self.ids, self.clock = MemoryStore(), CountingIds(), MachineClock(self.world)
        self.turns = Turns(lambda: self.world.seconds, self.actors.wait, is_complete=True)
        self.index = MemoryIndex(lambda: {path.name: path.read_bytes() for path in sorted(self.root.iterdir())})

    def play(self) -> "Story":
        """Let all agents do what they have to do. Raises AssertionError where one is never answered."""
        random = self.world.random
        for number in range(AGENTS):
            self.actors.begin(lambda number=number: self._work(number), random.uniform(0.0, 1.0))  # type: ignore[misc]
        for _ in range(random.randint(0, MOST_FOREIGN_WRITES)):
            self.world.after(random.uniform(0.0, 30.0), self._write_without_asking)
        self.world.after(LONG, self._end)
        try:
            self.world.run()
        finally:
            self.actors.close()
        return self

    def _end(self) -> None:
        unanswered = [each.token for each in self.asked.values() if each not in self.answered]
        assert not unanswered, f"{unanswered} are never answered"

    def text(self, path: str) -> str:
        return self.root.joinpath(path).read_text()

    def _write_without_asking(self) -> None:
        path = self.root / self.world.random.choice(PATHS)
        path.write_text(path.read_text() + FOREIGN)
        self.foreign += 1

    def _write_in_time(self, step: str) -> None:
        """A commit in flight takes its time, too; what is recorded is answered at once."""
        if step != "recorded":
            self.actors.pause(self.world.random.uniform(0.0, self.pace.most_seconds / 4))

    def _work(self, number: int) -> None:
        surroundings = Surroundings(
            see=lambda: Insight(self.index), plans_of=lambda own: TimedPlans(self, own), turns=self.turns
        )
        service = Service(
            store=self.store,
            files=WorkingTree(str(self.root), at_step=self._write_in_time),
            clock=self.clock,
            ids=self.ids,
            agent=f"agent{number}",
            surroundings=surroundings,
            at_step=self._write_in_time,
        )
        for _ in range(COMMITS_EACH):
            self._commit(service, number)
            self.actors.pause(self.world.random.uniform(0.0, 2.0))

    def _commit(self, service: Service, number: int) -> None:
        """Add a token to a function of one's own or to one of all, in one file or both; or change what files share."""
        self.count += 1
        token = f"t{self.count}_"
        kind = self.world.random.choice(("own", "own", "both", "shared", "parameters", "call"))
        path = self.world.random.choice(PATHS)
        own = f"agent{number}"
        match kind:
            case "parameters":
                names = self.world.random.choice(("x", "x, y", "x, y, z"))
                edits = [self._edit(service, "a.py#f", token, TAKES, f"def f({names})")]
            case "call":
                (takes,) = TAKES.findall(self.text("a.py"))
                call = f"= f({', '.join('1' for _ in takes.split(','))})"
                edits = [self._edit(service, f"b.py#{own}", token, GIVES, "= 1", call)]
            case "both":
                edits = [self._edit(service, f"{each}#{own}", token) for each in PATHS]
            case _:
                edits = [self._edit(service, f"{path}#{own if kind == 'own' else 'shared'}", token)]
        paths = frozenset(edit.key.partition("#")[0] for edit in edits)
        may_be_refused = kind in {"shared", "parameters", "call"}
        self._ask(service, Changeset(tuple(edits), intent=token), Asked(token, paths, may_be_refused))

    def _edit(
        self, service: Service, key: str, token: str, old: re.Pattern[str] = NOTHING, new: str = "", value: str = "= 1"
    ) -> Edit:
        """Replace `old` by `new` in what is there now, and give the token a value."""
        (read,) = service.read(key)
        return Edit(Op.REPLACE, key, read.hash, f"{old.sub(new, read.text or '')}    {token} {value}\n")

    def _ask(self, service: Service, changeset: Changeset, asked: Asked) -> None:
        self.asked[asked.token] = asked
        asked.outcome = service.commit(changeset).outcome
        self.answered.append(asked)


def wrongs(story: Story) -> list[str]:
    """All that is wrong at the end of a story, in words."""
    return [*_lost_or_refused(story), *_misfits(story), *_overtaken(story)]


def _lost_or_refused(story: Story) -> Iterator[str]:
    for path in PATHS:
        text = story.text(path)
        for each in story.answered:
            found, wanted = text.count(each.token), path in each.paths and each.outcome != "refused"
            if found != wanted:
                yield f"{each.token}, {each.outcome}, is {found} times in {path}"
    for each in story.answered:
        if each.outcome == "refused" and not each.may_be_refused:
            yield f"{each.token} was refused"
    if story.foreign != sum(story.text(path).count(FOREIGN) for path in PATHS):
        yield "what others wrote is gone"


def _misfits(story: Story) -> Iterator[str]:
    """Of two commits that concern each other the second saw the first."""
    (takes,) = TAKES.findall(story.text("a.py"))
    for gives in GIVES.findall(story.text("b.py")):
        if gives.count(",") != takes.count(","):
            yield f"f takes ({takes}) and is called with ({gives})"


def _overtaken(story: Story) -> Iterator[str]:
    """Who came later to a file was answered earlier only if the other took longer than a turn lasts."""
    came = list(story.asked.values())
    for number, first in enumerate(story.answered):
        for later in story.answered[number + 1 :]:
            is_overtaken = first.paths & later.paths and came.index(later) < came.index(first)
            if is_overtaken and later.seconds < TURN_SECONDS:
                yield f"{first.token} overtook {later.token}, which took {later.seconds:.1f} s"
