"""The plainest model of what Commonhold does: lists, dictionaries and texts."""

from dataclasses import dataclass, field

HEADER = "#@header"


@dataclass
class Held:
    id: str
    fence: int
    holder: str
    keys: frozenset[str]
    is_shared: bool
    ends: float

    def blocks(self, holder: str, key: str, *, is_shared: bool) -> bool:
        is_friend = self.holder == holder or (self.is_shared and is_shared)
        return not is_friend and any(meet(key, held) for held in self.keys)


@dataclass
class Model:
    """`files` maps each path to its functions, and each function to the number it returns."""

    seconds: float = 0.0
    fence: int = 0
    leases: dict[str, Held] = field(default_factory=dict)
    files: dict[str, dict[str, int]] = field(default_factory=dict)

    def live(self) -> list[Held]:
        return [lease for lease in self.leases.values() if lease.ends > self.seconds]

    def is_free(self, holder: str, keys: frozenset[str], *, is_shared: bool = False) -> bool:
        return not any(lease.blocks(holder, key, is_shared=is_shared) for lease in self.live() for key in keys)

    def holds(self, holder: str, lease_id: str) -> bool:
        return any(lease.id == lease_id and lease.holder == holder for lease in self.live())

    def text(self, path: str) -> str:
        return "\n\n".join(function(name, number) for name, number in self.files[path].items())


def function(name: str, number: int) -> str:
    return f"def {name}():\n    return {number}\n"


def meet(left: str, right: str) -> bool:
    """Say whether two keys may touch the same bytes."""
    mine, theirs = left.partition("#"), right.partition("#")
    if "./" in (left, right):
        return True
    if mine[0] != theirs[0]:
        return False
    return left == right or "" in (mine[2], theirs[2]) or "@header" in (mine[2], theirs[2])
