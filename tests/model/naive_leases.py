"""The plainest model of leases, lines and values: lists that are walked from end to end, and keys as sets of atoms."""

from collections.abc import Iterator
from dataclasses import dataclass, field

HALF = 0.5
FRIENDS = {("shared", "shared"), ("shared", "upgradable"), ("upgradable", "shared")}
_IN_FILE = {"header", "class header", "method", "function"}
_ACCOUNTS = {"1", "1:x", "2"}


def _below_src(*atoms: str) -> set[str]:
    """Atoms below a path that may be a file's: each goes with one that it shares with that file alone."""
    return {*atoms, *_instead_of_src(*atoms)}


def _instead_of_src(*atoms: str) -> set[str]:
    return {f"src, or {atom}" for atom in atoms}


ATOMS: dict[str, set[str]] = {
    "file:./": {*_below_src(*_IN_FILE), "other"},
    "file:src/": _below_src(*_IN_FILE),
    "file:src": _instead_of_src(*_IN_FILE),
    "file:src/a.py": _below_src(*_IN_FILE),
    "file:src/a.py#@header": _below_src(*_IN_FILE),
    "file:src/a.py#C": _below_src("class header", "method"),
    "file:src/a.py#C.@header": _below_src("class header"),
    "file:src/a.py#C.m": _below_src("method"),
    "file:src/a.py#f": _below_src("function"),
    "file:b.py": {"other"},
    "account:*": _ACCOUNTS,
    "account:1": {"1", "1:x"},
    "account:1:x": {"1:x"},
    "account:2": {"2"},
}
"""What each key is made of: two keys overlap if they share an atom."""


@dataclass
class Claim:
    """A lease or a place in line."""

    id: str
    holder: str
    keys: tuple[str, ...]
    mode: str
    ttl: float
    ends: float
    patience: float = 0.0
    replaces: str | None = None
    fence: int = 0
    is_claimed: bool = True
    has_bases: bool = False
    wish: str | None = None

    def excludes(self, other: "Claim") -> bool:
        if self.holder == other.holder or (self.mode, other.mode) in FRIENDS:
            return False
        return any(ATOMS[mine] & ATOMS[theirs] for mine in self.keys for theirs in other.keys)


@dataclass
class Town:
    """Who holds what, who waits, what things are worth. `sent_away` are those of whom it is known that they were.

    Which of several circles is broken first is not laid down, so the model takes it from the store, and checks it.
    """

    seconds: float = 0.0
    leases: list[Claim] = field(default_factory=list)
    line: list[Claim] = field(default_factory=list)
    values: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    works: list[str] = field(default_factory=list)
    sent_away: list[str] = field(default_factory=list)

    def begin(self, holder: str | None, besides: str | None) -> None:
        """Begin every command: what is over ends, a sign of life is heard, whoever can be served is."""
        for lease in [lease for lease in self.leases if lease.ends <= self.seconds]:
            self.lose(lease)
        self.line = [place for place in self.line if place.ends > self.seconds]
        for lease in self.leases:
            is_short = lease.ends - self.seconds < HALF * lease.ttl
            if lease.holder == holder and lease.id != besides and lease.is_claimed and is_short:
                lease.ends = self.seconds + lease.ttl
        self.settle()

    def lose(self, lease: Claim) -> None:
        self.leases.remove(lease)
        if lease.has_bases:
            self.lost.append(lease.id)

    def settle(self) -> None:
        """Serve whoever can be, and break circles, until all that is left has to wait and can."""
        while True:
            free = next((place for place in self.line if not self.in_the_way_of(place)), None)
            if free is not None:
                self.serve(free)
            elif any(self.circles()):
                self.break_a_circle()
            else:
                break

    def break_a_circle(self) -> None:
        """Let whoever was sent away leave the line: the youngest of a circle."""
        assert self.sent_away, "somebody waits in a circle, and nobody was sent away"
        lease_id = self.sent_away.pop(0)
        (place,) = (place for place in self.line if place.id == lease_id)
        youngest = [max(circle, key=self.youth).id for circle in self.circles()]
        assert lease_id in youngest, f"{lease_id} was sent away, but the youngest of circles are {youngest}"
        self.line.remove(place)

    def serve(self, place: Claim) -> None:
        self.line.remove(place)
        place.is_claimed, place.has_bases, place.ends = False, False, self.seconds + place.patience
        replaced = self.lease(place.replaces)
        if replaced is not None and replaced.holder == place.holder and replaced.is_claimed:
            place.is_claimed, place.has_bases, place.ends = True, replaced.has_bases, self.seconds + place.ttl
        self.take_the_place_of(place)
        self.leases.append(place)

    def take_the_place_of(self, claim: Claim) -> None:
        replaced = self.lease(claim.replaces)
        if replaced is not None and replaced.holder == claim.holder:
            self.leases.remove(replaced)

    def in_the_way_of(self, wanted: Claim) -> list[Claim]:
        """List the leases of others, and the places before it in line that do not wait for a lease of its holder."""
        ahead = self.line[: self.line.index(wanted)] if wanted in self.line else self.line
        mine = [lease for lease in self.leases if lease.holder == wanted.holder]
        waits_for_me = [place.id for place in ahead for lease in mine if lease.excludes(place)]
        claims = [*self.leases, *(place for place in ahead if place.id not in waits_for_me)]
        return [claim for claim in claims if claim.excludes(wanted)]

    def youth(self, place: Claim) -> tuple[float, int]:
        fences = [lease.fence for lease in self.leases if lease.holder == place.holder]
        return min(fences, default=float("inf")), self.line.index(place)

    def circles(self) -> Iterator[list[Claim]]:
        """Find all circles of places, each of which waits for the holder of the next."""
        waits_for = {
            place.id: {claim.holder for claim in self.in_the_way_of(place)} - {place.holder} for place in self.line
        }
        paths = [[place] for place in self.line]
        while paths:
            path = paths.pop()
            if path[0].holder in waits_for[path[-1].id]:
                yield path
            followed = (place for place in self.line if place.holder in waits_for[path[-1].id])
            holders = {place.holder for place in path}
            paths += [[*path, place] for place in followed if place.holder not in holders]

    def lease(self, lease_id: str | None) -> Claim | None:
        return next((lease for lease in self.leases if lease.id == lease_id), None)

    def place(self, lease_id: str) -> Claim | None:
        return next((place for place in self.line if place.id == lease_id), None)

    def position(self, place: Claim) -> int:
        return 1 + sum(claim in self.line for claim in self.in_the_way_of(place))

    def acquire(self, wanted: Claim, *, may_wait: bool) -> str:
        """Answer a wish that is not known yet."""
        replaced = self.lease(wanted.replaces)
        if wanted.replaces and (replaced is None or replaced.holder != wanted.holder):
            return "LEASE_LOST" if replaced is None else "NOT_HOLDER"
        if not self.in_the_way_of(wanted):
            return self.grant(wanted)
        return self.wait(wanted) if may_wait else "LOCK_CONFLICT"

    def grant(self, wanted: Claim) -> str:
        self.take_the_place_of(wanted)
        wanted.ends = self.seconds + wanted.ttl
        self.leases.append(wanted)
        return "granted"

    def wait(self, wanted: Claim) -> str:
        wanted.ends = self.seconds + wanted.patience
        self.line.append(wanted)
        if any(max(circle, key=self.youth) is wanted for circle in self.circles() if wanted in circle):
            self.line.remove(wanted)
            return "DEADLOCK"
        while any(self.circles()):
            self.break_a_circle()
        if not self.in_the_way_of(wanted):
            self.line.remove(wanted)
            return self.grant(wanted)
        return "queued"

    def again(self, known: Claim, holder: str, *, has_bases: bool) -> str:
        """Answer a wish that is known: a lease is taken, a place is kept."""
        if known.holder != holder:
            return "ID_IN_USE"
        if known in self.line:
            if known.ends - self.seconds < HALF * known.patience:
                known.ends = self.seconds + known.patience
            return "queued"
        if not known.is_claimed:
            known.is_claimed, known.has_bases, known.ends = True, has_bases, self.seconds + known.ttl
        return "granted"

    def why_not_held(self, lease_id: str, holder: str) -> str | None:
        lease = self.lease(lease_id)
        if lease is None:
            return "LEASE_LOST"
        return None if lease.holder == holder else "NOT_HOLDER"

    def hand_over(self, lease_id: str, holder: str, to: str) -> str:
        lease = self.lease(lease_id)
        if lease is None or lease.holder != holder:
            return self.why_not_held(lease_id, holder) or ""
        given = Claim(lease.id, to, lease.keys, lease.mode, lease.ttl, lease.ends)
        if any(other.excludes(given) for other in self.leases if other is not lease):
            return "LOCK_CONFLICT"
        lease.holder, lease.wish, lease.fence = to, None, 0
        return "handed over"

    def why_not_stored(self, key: str, holder: str, fence: int | None, *, must_hold: bool) -> str | None:
        covering = [lease for lease in self.leases if any(ATOMS[held] >= ATOMS[key] for held in lease.keys)]
        mine = [lease.fence for lease in covering if lease.holder == holder and lease.mode == "exclusive"]
        if fence is not None and fence not in mine:
            return "LEASE_LOST"
        if must_hold and not mine:
            return "LEASE_REQUIRED"
        written = Claim("", holder, (key,), "exclusive", 0.0, 0.0)
        return "LOCK_CONFLICT" if any(lease.excludes(written) for lease in self.leases) else None

    def why_stale(self, key: str, version: int, reads: dict[str, int]) -> str | None:
        if self.version(key) != version:
            return "VERSION_CHANGED"
        changed = [read for read, seen in reads.items() if self.version(read) != seen]
        return "READ_CHANGED" if changed else None

    def version(self, key: str) -> int:
        return self.values.get(key, (0, None))[0]
