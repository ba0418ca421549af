"""Run small programs before and after a merge: what a side meant for its callers is what they must see.

A function that one side left alone, with all that it uses, must behave as the other side made it. Where both sides
changed the function itself, and one of them without a difference to its callers, likewise.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from random import Random
from typing import Any, Final, Protocol

from bench.merging.generated.judges import Complaints
from bench.merging.generated.measure import Merged
from bench.merging.generated.small_programs import CHANGES, made
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

_GIVEN: Final = (0, 3, 7)
_SIZE: Final = 11  # no number that the programs have, so that what sets it is seen
_EDITS_OF_EACH: Final = 2
_DIGIT: Final = re.compile(rb"\b\d\b")
_RENAMED: Final = re.compile(rb"_new\b")
_VARIATIONS: Final = 12

Seen = tuple[object, ...]


class Engine(Protocol):
    """Writes small programs of Python in a language, and runs what was written."""

    @property
    def name(self) -> str:
        """The language, as a table shows it."""

    @property
    def file(self) -> str:
        """The name of a file in that language."""

    def written(self, source: bytes) -> bytes:
        """A program of Python in that language."""

    def run(self, text: bytes, given: Sequence[int], size: int) -> Mapping[str, Seen]:
        """What a caller of each function or method sees: results or errors, and the state afterwards.

        Each is called with each of `given`; `size` is that of the box.
        """


@dataclass(frozen=True)
class Python:
    """Runs the programs as they are."""

    name: str = "python, run"
    file: str = "program.py"

    def written(self, source: bytes) -> bytes:
        """The same."""
        return source

    def run(self, text: bytes, given: Sequence[int], size: int) -> Mapping[str, Seen]:
        """What callers see."""
        names = (name for name, node in _definitions(text).items() if isinstance(node, ast.FunctionDef))
        return {name: tuple(_called(text, name, each, size) for each in given) for name in names}


@dataclass(frozen=True)
class Ran:
    """A version of a program, and what its functions and methods do when they are called with each `given`.

    `text` is it in the language of the engine, if that is known; the merged one is known only so.
    """

    source: bytes
    given: tuple[int, ...] = _GIVEN
    engine: Engine = field(default_factory=Python)
    text: bytes | None = None

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What each definition says, whatever its formatting."""
        return {name: ast.dump(node) for name, node in _definitions(self.source).items()}

    @cached_property
    def uses(self) -> Mapping[str, frozenset[str]]:
        """The definitions that each names. A program has one class, so that attributes are its methods."""
        known = {*_definitions(self.source)}
        result = {}
        for name, node in _definitions(self.source).items():
            named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            named |= {f"Box.{each.attr}" for each in ast.walk(node) if isinstance(each, ast.Attribute)}
            named |= {"Box.__init__"} if "Box" in named else set()
            result[name] = frozenset(named & known - {name})
        return result

    def below(self, name: str) -> frozenset[str]:
        """All that a definition uses, over however many steps."""
        found: set[str] = set()
        rest = [*self.uses.get(name, ())]
        while rest:
            each = rest.pop()
            if each not in found:
                found.add(each)
                rest += self.uses.get(each, ())
        return frozenset(found - {name})

    def varied(self, seed: int) -> "Ran":
        """The same program with other numbers, called with other arguments.

        Equal lines, whatever names their variables have, keep equal numbers; all other numbers are equal by chance.
        """
        lines = (_with_other_numbers(line, seed) for line in self.source.splitlines(keepends=True))
        return Ran(b"".join(lines), tuple(each + seed for each in self.given), self.engine)

    @cached_property
    def seen(self) -> Mapping[str, Seen]:
        """What callers see of each function or method."""
        text = self.engine.written(self.source) if self.text is None else self.text
        return self.engine.run(text, self.given, _SIZE)


def _with_other_numbers(line: bytes, seed: int) -> bytes:
    said = _RENAMED.sub(b"", line.strip()).decode()
    others = Random(f"{seed}:{said}").sample(range(10), 10)  # noqa: S311 - repeatable on purpose
    return _DIGIT.sub(lambda found: str(others[int(found[0])]).encode(), line)


@cache
def _definitions(source: bytes) -> Mapping[str, ast.AST]:
    """Functions, methods as "Box.name", and constants."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"Box.{each.name}": each for each in node.body if isinstance(each, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def _called(source: bytes, name: str, given: int, size: int) -> Seen:
    names: dict[str, Any] = {"__builtins__": builtins.__dict__}
    exec(compile(source, "program", "exec"), names)  # noqa: S102 - a program that was made here
    of, _, method = name.rpartition(".")
    box = names["Box"](size)
    try:
        if method == "__init__":
            result: object = box.size
        else:
            result = getattr(box, method)(given) if of else names[name](given)
    except (ArithmeticError, AttributeError, NameError, TypeError, ValueError) as error:
        result = type(error).__name__
    return result, tuple(names["state"]), box.size, tuple(box.seen)


def misbehaving(base: Ran, ours: Ran, theirs: Ran, merged: Ran) -> Complaints:
    """The functions whose callers see in the merged program what neither side meant."""
    found = Complaints()
    for name in {*base.seen, *ours.seen, *theirs.seen}:
        before, mine, others, now = (each.seen.get(name) for each in (base, ours, theirs, merged))
        expected, unseen = (others, ours) if mine == before else (mine, theirs)
        if now == expected or not _is_for_one_side(name, base, ours, theirs):
            continue
        if mine == others or (before in (mine, others) and _is_unseen(name, base, unseen)):
            found[f"{name}: {now} instead of {expected}"] += 1
    return found


def _is_unseen(name: str, base: Ran, side: Ran) -> bool:
    """Whether a side changed nothing that callers of a function, or of those that it uses, could see.

    If they can see a change of a function below it, or one with other numbers or arguments, it is by chance that they
    see none of the function itself: the other side's change may make them see it.
    """
    pairs = [(base, side), *((base.varied(seed), side.varied(seed)) for seed in range(1, 1 + _VARIATIONS))]
    return all(one.seen.get(each) == other.seen.get(each) for one, other in pairs for each in {name, *side.below(name)})


def _is_for_one_side(name: str, base: Ran, ours: Ran, theirs: Ran) -> bool:
    """Whether the other side changed nothing that a side's own version of a function uses.

    What that version names again counts as changed all the same: a merge promises to see that. It does not promise to
    see what is called by what is called, nor to count a use that is gone.
    """
    for side, other in ((ours, theirs), (theirs, ours)):
        if side.texts.get(name) == base.texts.get(name):
            continue
        named_anew = side.uses.get(name, frozenset()) - base.uses.get(name, frozenset())
        used = (side.below(name) - named_anew) | base.below(name)
        if any(base.texts.get(each) != other.texts.get(each) for each in used):
            return False
    return True


def of_programs(engine: Engine, seed: int, most: int) -> list[Merged]:
    """Make programs, edit and merge them until there are so many merges, and run what is proven."""
    found: list[Merged] = []
    number = 0
    while len(found) < most:
        found += of_program(engine, f"{seed}:{number}")
        number += 1
    return found[:most]


def of_program(engine: Engine, seed: str) -> list[Merged]:
    """Merge all pairs of edits of one program."""
    program = made(Random(seed))  # noqa: S311 - repeatable on purpose
    base = Ran(program.text().encode(), engine=engine)
    sides: dict[bytes, str] = {}
    for kind, change in CHANGES.items():
        for number in range(_EDITS_OF_EACH):
            text = change(program, Random(f"{seed}:{kind}:{number}")).text().encode()  # noqa: S311 - as above
            sides.setdefault(text, kind)
    ran = [(kind, Ran(text, engine=engine)) for text, kind in sides.items() if text != base.source]
    return [_merged(base, mine, other) for index, mine in enumerate(ran) for other in ran[index + 1 :]]


def _merged(base: Ran, mine: tuple[str, Ran], other: tuple[str, Ran]) -> Merged:
    engine, ours, theirs = base.engine, mine[1], other[1]
    first, second = sorted((mine[0], other[0]))
    versions = engine.written(base.source), engine.written(ours.source), engine.written(theirs.source)
    answer = merge(*versions, engine.file)
    if not isinstance(answer, Proven):
        reasons = tuple(str(each.reason) for each in answer.spots)
        return Merged(engine.name, engine.file, (first, second), versions, None, Counter(), None, reasons)
    said = misbehaving(base, ours, theirs, Ran(b"", engine=engine, text=answer.source))
    return Merged(engine.name, engine.file, (first, second), versions, answer.source, said)
