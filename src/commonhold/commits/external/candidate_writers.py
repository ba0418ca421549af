"""Attribute a change found after a command: only to holders that could have written it. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from commonhold.shell.held_paths import Holding, is_in_any
from commonhold.shell.reach import Reach

ReachOf = Callable[[str], Reach]
"""A function that returns how likely a command wrote a path."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """Paths by author: the command itself, unknown, and others that will record them."""

    own: tuple[str, ...]
    nobody: tuple[str, ...]
    others: tuple[str, ...]


def attributed(
    paths: Iterable[str], reach: ReachOf, beside: Sequence[ReachOf], mine: Sequence[Holding], others: Sequence[Holding]
) -> Attributed:
    """Attribute the differences after a command, by its `reach` and that of the commands still running `beside` it.

    A file that one of `others` is writing belongs to that one, and a file that the session holds is its own. Any other
    belongs to the command that most likely wrote it; if several are equally likely, to none, unless they name it: then
    it belongs to the one that ends first, since they do the same, as two formatters do.
    """
    found: dict[str, list[str]] = {"own": [], "nobody": [], "others": []}
    held, of_others = [each.path for each in mine], [each.path for each in others]
    for path in paths:
        own, rival = reach(path), max((other(path) for other in beside), default=Reach.NOTHING)
        is_held = is_in_any(path, held)
        if own is Reach.NOTHING or (is_in_any(path, of_others) and not is_held):
            whose = "others"
        elif is_held or own > rival or own is Reach.NAMED:
            whose = "own"
        else:
            whose = "nobody" if own is rival else "others"
        found[whose].append(path)
    return Attributed(*map(tuple, found.values()))
