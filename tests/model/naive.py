"""The plainest model of what Commonhold does: lists, dictionaries and texts."""

from dataclasses import dataclass, field

HEADER = "#@header"
FRIENDS = {("shared", "shared"), ("shared", "upgradable"), ("upgradable", "shared")}


@dataclass
class Held:
    id: str
    fence: int
    holder: str
    keys: frozenset[str]
    mode: str
    ttl: float
    ends: float

    def blocks(self, holder: str, key: str, mode: str) -> bool:
        is_friend = self.holder == holder or (self.mode, mode) in FRIENDS
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

    def is_free(self, holder: str, keys: frozenset[str], mode: str = "exclusive") -> bool:
        return not any(lease.blocks(holder, key, mode) for lease in self.live() for key in keys)

    def hear(self, holder: str, besides: str | None = None) -> None:
        """Take any call of a holder for a sign of life: what has less than half its time left lasts on."""
        for lease in self.live():
            if lease.holder == holder and lease.id != besides and lease.ends - self.seconds < lease.ttl / 2:
                lease.ends = self.seconds + lease.ttl

    def holds(self, holder: str, lease_id: str) -> bool:
        return any(lease.id == lease_id and lease.holder == holder for lease in self.live())

    def merged(self, path: str, name: str, base: int, number: int) -> int | None:
        """What a function gives after an edit of one that gave `base`; None where two changes of it disagree."""
        now = self.files[path][name]
        return number if now == base else now if number in (base, now) else None

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
