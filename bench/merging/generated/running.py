"""Run small Python programs before and after a merge: what a side meant for its callers is what they must see.

A function that one side left alone, with all that it uses, must behave as the other side made it. Where both sides
changed the function itself, and one of them without a difference to its callers, likewise.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final

from bench.merging.generated.judges import Complaints
from bench.merging.generated.measure import Merged
from bench.merging.generated.small_programs import CHANGES, made
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

_GIVEN: Final = (0, 3, 7)
_SIZE: Final = 11  # no number that the programs have, so that what sets it is seen
_EDITS_OF_EACH: Final = 2
_CONSTANT: Final = re.compile(rb"^([A-Z]+ = )(\d+)$", re.MULTILINE)
_OTHER_CONSTANTS: Final = (1, 4)
LANGUAGE: Final = "python, run"

Seen = tuple[object, ...]


@dataclass(frozen=True)
class Ran:
    """A version of a program, and what its functions and methods do when they are called with each `given`."""

    source: bytes
    given: tuple[int, ...] = _GIVEN

    @cached_property
    def _definitions(self) -> Mapping[str, ast.AST]:
        """Functions, methods as "Box.name", and constants."""
        found: dict[str, ast.AST] = {}
        for node in ast.parse(self.source).body:
            if isinstance(node, ast.ClassDef):
                found |= {f"Box.{each.name}": each for each in node.body if isinstance(each, ast.FunctionDef)}
            elif isinstance(node, ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node
        return found

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What each definition says, whatever its formatting."""
        return {name: ast.dump(node) for name, node in self._definitions.items()}

    @cached_property
    def uses(self) -> Mapping[str, frozenset[str]]:
        """The definitions that each names. A program has one class, so that attributes are its methods."""
        known = {*self._definitions}
        result = {}
        for name, node in self._definitions.items():
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

    def varied(self, by: int) -> "Ran":
        """The same program with other constants, called with other arguments."""
        source = _CONSTANT.sub(lambda found: found[1] + str(int(found[2]) + by).encode(), self.source)
        return Ran(source, tuple(each + by for each in self.given))

    @cached_property
    def seen(self) -> Mapping[str, Seen]:
        """What a caller of each function or method sees: results or errors, and the state afterwards."""
        return {
            name: tuple(_called(self.source, name, given) for given in self.given)
            for name, node in self._definitions.items()
            if isinstance(node, ast.FunctionDef)
        }


def _called(source: bytes, name: str, given: int) -> Seen:
    names: dict[str, Any] = {"__builtins__": builtins.__dict__}
    exec(compile(source, "program", "exec"), names)  # noqa: S102 - a program that was made here
    of, _, method = name.rpartition(".")
    box = names["Box"](_SIZE)
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

    If they can see a change of a function below it, or one with other constants or arguments, it is by chance that they
    see none of the function itself: the other side's change may make them see it.
    """
    pairs = [(base, side), *((base.varied(by), side.varied(by)) for by in _OTHER_CONSTANTS)]
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


def of_programs(seed: int, most: int) -> list[Merged]:
    """Make programs, edit and merge them until there are so many merges, and run what is proven."""
    found: list[Merged] = []
    number = 0
    while len(found) < most:
        found += of_program(f"{seed}:{number}")
        number += 1
    return found[:most]


def of_program(seed: str) -> list[Merged]:
    """Merge all pairs of edits of one program."""
    program = made(Random(seed))  # noqa: S311 - repeatable on purpose
    base = Ran(program.text().encode())
    sides: dict[bytes, str] = {}
    for kind, change in CHANGES.items():
        for number in range(_EDITS_OF_EACH):
            text = change(program, Random(f"{seed}:{kind}:{number}")).text().encode()  # noqa: S311 - as above
            sides.setdefault(text, kind)
    ran = [(kind, Ran(text)) for text, kind in sides.items() if text != base.source]
    return [_merged(base, mine, other) for index, mine in enumerate(ran) for other in ran[index + 1 :]]


def _merged(base: Ran, mine: tuple[str, Ran], other: tuple[str, Ran]) -> Merged:
    ours, theirs = mine[1], other[1]
    first, second = sorted((mine[0], other[0]))
    answer = merge(base.source, ours.source, theirs.source, "program.py")
    versions = (base.source, ours.source, theirs.source)
    if not isinstance(answer, Proven):
        reasons = tuple(str(each.reason) for each in answer.spots)
        return Merged(LANGUAGE, "program.py", (first, second), versions, None, Counter(), None, reasons)
    said = misbehaving(base, ours, theirs, Ran(answer.source))
    return Merged(LANGUAGE, "program.py", (first, second), versions, answer.source, said)
