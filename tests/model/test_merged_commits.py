"""Two late changes of one base: whatever they are, both are there in the end, or the second is refused."""

import ast
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.effort import examples
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.code.regions.discover import discover
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.events import Committed
from commonhold.kernel.options import Options
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

FUNCTIONS, STATEMENTS = 3, 5
PATH, FUNCTION = "a.py", "a.py#f0"


@dataclass(frozen=True)
class Function:
    """A function of statements that have nothing to do with each other; each is told by its text."""

    name: str
    lines: tuple[str, ...]

    def text(self) -> str:
        return "\n".join([f"def {self.name}(x):", *(f"    {line}" for line in self.lines), ""])


@dataclass(frozen=True)
class Program:
    header: tuple[str, ...]
    functions: tuple[Function, ...]

    def text(self) -> str:
        return (
            "\n\n\n".join(["\n".join(self.header), *(function.text().rstrip() for function in self.functions)]) + "\n"
        )

    def lines(self) -> set[str]:
        return {*self.header, *(line for function in self.functions for line in function.lines)}


def statement(who: str, number: int) -> str:
    return f"{who}_{number} = {number}"


BASE = Program(
    tuple(statement("H", n) for n in range(3)),
    tuple(Function(f"f{f}", tuple(statement(f"f{f}", n) for n in range(STATEMENTS))) for f in range(FUNCTIONS)),
)


@dataclass(frozen=True)
class Change:
    """What one side does to one statement of a function (or of the header, -1)."""

    function: int
    place: int
    how: str

    def of(self, lines: tuple[str, ...], who: str) -> tuple[str, ...]:
        place = self.place % len(lines)
        new = statement(f"{who}_{self.how}", self.place)
        match self.how:
            case "replace":
                return (*lines[:place], f"{lines[place].partition(' = ')[0]} = '{new}'", *lines[place + 1 :])
            case "insert":
                return (*lines[:place], new, *lines[place:])
            case _:
                return (*lines[:place], *lines[place + 1 :])


@dataclass(frozen=True)
class Wish:
    """The changes of one side, sent as the text of `key`: of the whole file, or of its first function."""

    changes: tuple[Change, ...]
    key: str = PATH

    def program(self, who: str) -> Program:
        program = BASE
        for number, change in enumerate(self.changes):
            program = applied(program, change, f"{who}{number}")
        return program

    def edit(self, bases: dict[str, str], who: str) -> Edit:
        program = self.program(who)
        text = program.text() if self.key == PATH else program.functions[0].text()
        return Edit(Op.REPLACE, self.key, bases[self.key], text)


def applied(program: Program, change: Change, who: str) -> Program:
    if change.function < 0:
        return replace(program, header=change.of(program.header, who))
    functions = list(program.functions)
    function = functions[change.function]
    functions[change.function] = replace(function, lines=change.of(function.lines, who))
    return replace(program, functions=tuple(functions))


hows = st.sampled_from(("replace", "insert", "delete"))
anywhere = st.builds(Change, st.integers(-1, FUNCTIONS - 1), st.integers(0, STATEMENTS - 1), hows)
in_the_first = st.builds(Change, st.just(0), st.integers(0, STATEMENTS - 1), hows)
whole = st.builds(Wish, st.lists(anywhere, min_size=1, max_size=2).map(tuple))
single = st.builds(Wish, st.lists(in_the_first, min_size=1, max_size=2).map(tuple), st.just(FUNCTION))
wishes = whole | single


@contextmanager
def shop() -> Iterator[tuple[Path, dict[str, Service]]]:
    folder = Path(tempfile.mkdtemp())
    (folder / "root").mkdir()
    (folder / "root" / PATH).write_text(BASE.text())
    store = SqliteStore(str(folder / "state"), synchronous="OFF")
    services = {
        name: Service(
            store=store,
            files=WorkingTree(str(folder / "root")),
            clock=FakeClock(),
            ids=CountingIds(),
            agent=name,
            options=Options(retention_seconds=1e6),
        )
        for name in ("one", "two")
    }
    try:
        yield folder / "root" / PATH, services
    finally:
        store.close()
        shutil.rmtree(folder)


@given(wishes, wishes)
@examples(1.5)
def test_both_sides_are_there_or_the_second_is_refused(first: Wish, second: Wish) -> None:
    with shop() as (path, services):
        bases = {key: services["one"].read(key)[0].hash for key in (PATH, FUNCTION)}
        assert services["one"].commit(Changeset((first.edit(bases, "one"),))).outcome == "committed"
        before = path.read_text()
        edit = second.edit(bases, "two")
        answer = services["two"].commit(Changeset((edit,)))
        after = path.read_text()
        event(answer.outcome)
        if answer.outcome == "refused":
            assert after == before
            return
        ast.parse(after)
        ones, twos = first.program("one").lines(), second.program("two").lines()
        if answer.outcome == "merged":
            check_both_are_there(after, ones, twos)
        check_what_was_told(services["two"], after, edit.key)


def check_both_are_there(after: str, ones: set[str], twos: set[str]) -> None:
    """Every line that a side made is there once, none that a side took away is, and there is no other."""
    base = BASE.lines()
    written = [line.strip() for line in after.splitlines() if " = " in line]
    wanted = (base & ones & twos) | (ones - base) | (twos - base)
    assert sorted(written) == sorted(wanted)


def check_what_was_told(service: Service, after: str, key: str) -> None:
    """The log's last word is what is there."""
    (last,) = [each.event for each in service.log(limit=1)]
    assert isinstance(last, Committed)
    now = {str(region.key): region.hash for region in discover(after.encode(), PATH).regions}
    assert all(now.get(change.key) == change.after for change in last.regions)
    assert {merge.key for merge in last.merged} <= {f"file:{key}"}
