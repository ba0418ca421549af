"""Whose a change is that was found after a command: only who could have written it may have. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from commonhold.app.giving import Holding, is_in_any

Reach = Callable[[str], bool]
"""Whether a command could write a path."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """Paths by whose they are: the command's own, nobody's that can be told, and others' that will see to them."""

    own: tuple[str, ...]
    nobody: tuple[str, ...]
    others: tuple[str, ...]


def attributed(
    paths: Iterable[str], reach: Reach, beside: Sequence[Reach], mine: Sequence[Holding], others: Sequence[Holding]
) -> Attributed:
    """Sort what differs after a command that could write what `reach` says.

    Commands `beside` it ran at some moment of its time. What another holds is the other's to account for. What several
    could have written is the session's that holds it; else it is laid on nobody.
    """
    found: dict[str, list[str]] = {"own": [], "nobody": [], "others": []}
    held, of_others = [each.path for each in mine], [each.path for each in others]
    for path in paths:
        is_held = is_in_any(path, held)
        if not reach(path) or (is_in_any(path, of_others) and not is_held):
            whose = "others"
        elif is_held or not any(other(path) for other in beside):
            whose = "own"
        else:
            whose = "nobody"
        found[whose].append(path)
    return Attributed(*map(tuple, found.values()))
