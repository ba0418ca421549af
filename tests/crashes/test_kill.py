"""An operation killed before each statement, file operation and step: it is there as a whole or not at all.

Whoever repeats the request afterwards gets one effect, and fences go on.
"""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from tests.crashes.chronicle import STATE, files_of
from tests.crashes.counted import counted
from tests.crashes.disk import Image, read_tree
from tests.crashes.dying import NEVER, NEW, OLD
from tests.crashes.ledger import damage, disagreements, fingerprint, log_of
from tests.crashes.survey import lay_out
from tests.crashes.survivor import Wound
from tests.effort import is_stress

from commonhold.bootstrap import open_repository
from commonhold.kernel.events import Committed, Event, LeaseGranted, LeaseReleased, LeaseRenewed, Recorded, holder_of
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

PROJECT: Final = Path(__file__).parents[2]
KILLED: Final = -9
APART: Final = 1 if is_stress() else 3
"""How far apart the points are at which an operation is killed."""
EFFECTS: Final[dict[str, type[Event]]] = {
    "acquire": LeaseGranted,
    "renew": LeaseRenewed,
    "release": LeaseReleased,
    "commit": Committed,
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What was heard of one child: states it saw settled, answers that it gave, and how it ended."""

    settled: tuple[str, ...]
    answers: tuple[str, ...]
    code: int


class Children:
    """Does operations in children of a process that has all loaded."""

    def __init__(self, server: "subprocess.Popen[str]") -> None:
        self._server = server

    def do(self, operation: str, root: Path, *, kill_at: int = NEVER, times: int = 1) -> Reply:
        """One operation, in a child that dies before the thing with the number `kill_at`."""
        print(operation, kill_at, times, root, file=self._server.stdin)
        lines = [line.split(" ", 1) for line in self._lines()]
        said = {word: tuple(rest for each, rest in lines if each == word) for word in ("settled", "answered", "ended")}
        return Reply(said["settled"], said["answered"], int(said["ended"][0]))

    def _lines(self) -> Iterator[str]:
        line = ""
        while not line.startswith("ended"):
            line = self._server.stdout.readline().rstrip("\n") if self._server.stdout else ""
            assert line, "the server is gone"
            yield line


@contextmanager
def server(*mutant: str) -> Iterator[Children]:
    """The process that has children."""
    command = (sys.executable, "-m", "tests.crashes.dying", *mutant)
    with subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        yield Children(process)
        if process.stdin:
            process.stdin.close()


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    with server() as serving:
        yield serving


@dataclass(frozen=True, slots=True)
class Case:
    """An operation, what is there before it, and the states that it goes through."""

    root: Path
    operation: str
    before: Image
    log: tuple[Recorded, ...]
    states: tuple[str, ...]


def case(children: Children, root: Path, operation: str, *, is_first: bool = False) -> Case:
    """The operation done whole; nothing at all is there before the very first one."""
    lay_out(root, OLD)
    if not is_first:
        assert children.do("prepare", root).code == 0
    before = read_tree(root)
    with closing(SqliteStore(str(root / STATE))) as store, store.read() as session:
        log, found = log_of(session), fingerprint(session)
    whole = children.do(operation, root)
    assert whole.code == 0
    return Case(root, operation, before, log, (found, *whole.settled))


def deaths(children: Children, case: Case) -> Iterator[tuple[int, Reply]]:
    """The operation killed at one point after the other, until it comes through; `make stress` leaves none out."""
    for kill_at in itertools.count(1, APART):
        lay_out(case.root, case.before)
        reply = children.do(case.operation, case.root, kill_at=kill_at)
        assert reply.code == (0 if reply.answers else KILLED)
        yield kill_at, reply
        if reply.answers:
            return


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Looks at what one death left."""

    children: Children
    case: Case
    reply: Reply
    wounds: set[Wound] = field(default_factory=set)

    def examine(self) -> set[Wound]:
        """What is wrong with it."""
        with self._state() as session:
            self._check_state(session)
        with counted("eve"):
            self._go_on()
        self._repeat()
        with self._state() as session:
            self._note(Wound.UNEXPLAINED, bool(disagreements(session)))
        return self.wounds

    @contextmanager
    def _state(self) -> Iterator[SqliteSession]:
        # Closed at once: whoever reads the files in this process drops the locks of its connections on them.
        with closing(SqliteStore(str(self.case.root / STATE))) as store, store.read() as session:
            yield session

    def _note(self, wound: Wound, is_there: bool) -> None:  # noqa: FBT001 - what was found, not how to behave
        if is_there:
            self.wounds.add(wound)

    def _check_state(self, session: SqliteSession) -> None:
        found, states = fingerprint(session), self.case.states
        self._note(Wound.CORRUPT, bool(damage(session)))
        self._note(Wound.UNEXPLAINED, bool(disagreements(session)))
        self._note(Wound.HALF, found not in states)
        self._note(Wound.LOST, bool(self.reply.answers) and found != states[-1])

    def _go_on(self) -> None:
        with open_repository(str(self.case.root), agent="eve") as hold:
            hold.recover()
            log = [each.event for each in hold.log(after=0)]
            is_committed = any(isinstance(event, Committed) for event in log)
            self._note(Wound.FILES, files_of(self.case.root) != (NEW if is_committed else OLD))
            fences = [event.lease.fence for event in log if isinstance(event, LeaseGranted)]
            lease = hold.acquire("account:9", ttl_seconds=600.0).lease
            self._note(Wound.FENCE, lease is None or lease.fence <= max(fences, default=0))

    def _repeat(self) -> None:
        again = self.children.do(self.case.operation, self.case.root, times=2)
        self._note(Wound.UNUSABLE, again.code != 0)
        self._note(Wound.TWICE, len({*self.reply.answers, *again.answers}) != 1 or self._count_effects() != 1)

    def _count_effects(self) -> int:
        with self._state() as session:
            new = [each.event for each in log_of(session)[len(self.case.log) :]]
        return sum(isinstance(event, EFFECTS[self.case.operation]) and holder_of(event) == "ann" for event in new)


@pytest.mark.parametrize(
    ("operation", "is_first", "least"),
    [("acquire", True, 40), ("acquire", False, 20), ("renew", False, 8), ("release", False, 8), ("commit", False, 60)],
    ids=["the very first acquire", "acquire", "renew", "release", "commit"],
)
def test_a_killed_operation_is_whole_or_not_there(
    root: Path, children: Children, operation: str, *, is_first: bool, least: int
) -> None:
    this = case(children, root, operation, is_first=is_first)
    kill_at = 0
    for kill_at, reply in deaths(children, this):
        assert Aftermath(children, this, reply).examine() == set(), f"killed at {kill_at}"
    assert kill_at > least


@pytest.mark.parametrize(
    ("mutant", "operation", "wound"),
    [
        ("AnswersApart", "acquire", Wound.HALF),
        ("AnswersForgotten", "acquire", Wound.TWICE),
        ("ProjectionApart", "acquire", Wound.UNEXPLAINED),
        ("JournalForgotten", "commit", Wound.FILES),
    ],
)
def test_a_mutant_is_found(root: Path, children: Children, mutant: str, operation: str, wound: Wound) -> None:
    this = case(children, root, operation)
    with server(mutant) as mutants:
        assert any(wound in Aftermath(mutants, this, reply).examine() for _, reply in deaths(mutants, this))
