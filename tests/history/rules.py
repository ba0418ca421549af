"""What must be true of every history, whatever the store: each rule gives the sentences that tell where it is broken.

The rules know nothing of how leases are made. They take an operation to have happened at some instant between asking
and answering, and one that was never answered to have happened at any later time, or not at all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

from tests.history.record import NEVER, Operation, Place

Sentences = Iterator[str]


def broken(
    history: Sequence[Operation], places: Sequence[Place] = (), *, killed: Sequence[str] = (), slack: float = 0.0
) -> list[str]:
    """Everything that is wrong with a history.

    `killed` are workers that did not live to be served; `slack` is by how many seconds clocks may differ.
    """
    return [
        *fences_are_unique(history),
        *later_grants_have_higher_fences(history),
        *nobody_is_granted_what_another_holds(history, slack),
        *values_form_a_chain(history),
        *no_late_write_is_taken(history),
        *nobody_starves(history, killed),
        *first_come_first_served(places),
    ]


def fences_are_unique(history: Iterable[Operation]) -> Sentences:
    """No fence is given out twice."""
    counted = Counter(grant.answer["fence"] for grant in grants(history))
    return (f"the fence {fence} was given out {times} times" for fence, times in counted.items() if times > 1)


def later_grants_have_higher_fences(history: Iterable[Operation]) -> Sentences:
    """Who asks after another was granted something that overlaps gets a higher fence."""
    for first, second in _pairs(grants(history)):
        if first.answered < second.asked and overlap(first, second) and fence_of(second) <= fence_of(first):
            yield f"the fence fell: {first} / {second}"


def nobody_is_granted_what_another_holds(history: Sequence[Operation], slack: float = 0.0) -> Sentences:
    """A grant comes only after the release, or after the end of the time, of every grant that stands against it."""
    ends = ends_of(history)
    for first, second in _pairs(sorted(grants(history), key=fence_of)):
        is_at_once = second.answered + slack < ends[first.given["ticket"]] and first.holder != second.holder
        if is_at_once and overlap(first, second) and is_exclusive(first, second):
            yield f"two hold at once: {first} / {second}"


def values_form_a_chain(history: Iterable[Operation]) -> Sentences:
    """Each version of a value is based on the one before it, and versions grow with time."""
    puts = [each for each in history if each.what == "put"]
    stored = [put for put in puts if put.answer.get("outcome") == "stored"]
    for key in {put.given["key"] for put in stored}:
        lost = [put.given["expected"] for put in puts if put.given["key"] == key and not put.is_answered]
        of_key = [put for put in stored if put.given["key"] == key]
        yield from _chained(sorted(of_key, key=lambda put: put.answer["version"]), lost)
        for first, second in _pairs(of_key):
            if first.answered < second.asked and first.answer["version"] >= second.answer["version"]:
                yield f"the version fell: {first} / {second}"


def _chained(stored: Sequence[Operation], lost: Sequence[int]) -> Sentences:
    """`lost` is what unanswered puts were based on: a version that nobody was told of may be one of theirs."""
    before = 0
    for put in stored:
        is_told_of = put.given["expected"] == before
        may_be_lost = before in lost and before < put.given["expected"] < put.answer["version"]
        if not (is_told_of or may_be_lost):
            yield f"an update was lost: {put} was taken over version {before}"
        before = put.answer["version"]


def no_late_write_is_taken(history: Sequence[Operation]) -> Sentences:
    """What is written under a lease is refused as soon as another has been granted what stands against it."""
    granted = grants(history)
    by_fence = {fence_of(grant): grant for grant in granted}
    released = {each.given["ticket"]: each.answered for each in history if each.what == "release"}
    for put in history:
        if put.what != "put" or put.answer.get("outcome") != "stored" or put.given["fence"] is None:
            continue
        lease = by_fence.get(put.given["fence"])
        if lease is None:
            yield f"it was taken under a fence that nobody was given: {put}"
            continue
        if released.get(lease.given["ticket"], NEVER) < put.asked:
            yield f"it was taken after the lease was released: {put}"
        yield from (f"a late write was taken: {put} after {grant}" for grant in _newer(granted, lease, put.asked))


def _newer(granted: Iterable[Operation], lease: Operation, instant: float) -> Iterator[Operation]:
    """What had been granted before an instant that a lease cannot have outlived."""
    for grant in granted:
        is_newer = fence_of(grant) > fence_of(lease) and grant.answered < instant and grant.holder != lease.holder
        if is_newer and overlap(grant, lease) and is_exclusive(grant, lease):
            yield grant


def nobody_starves(history: Sequence[Operation], killed: Sequence[str] = ()) -> Sentences:
    """Whoever asked got something, if it lived."""
    served = {grant.worker for grant in grants(history)}
    asked = {each.worker for each in history}
    return (f"{worker} got nothing" for worker in sorted(asked - served - set(killed)))


def first_come_first_served(places: Iterable[Place]) -> Sentences:
    """Of those who stand in line for the same, the first is served first."""
    by_keys: dict[tuple[str, ...], list[Place]] = {}
    for place in sorted(places, key=lambda place: place.number):
        if place.fence is not None:
            by_keys.setdefault(place.keys, []).append(place)
    for line in by_keys.values():
        for first, second in pairwise(line):
            if (second.fence or 0) < (first.fence or 0):
                yield f"{second} was served before {first}"


def grants(history: Iterable[Operation]) -> list[Operation]:
    """The acquires that were granted, as far as anybody was told."""
    return [each for each in history if each.what == "acquire" and each.answer.get("outcome") == "granted"]


def fence_of(grant: Operation) -> int:
    """The fencing token of a grant."""
    fence: int = grant.answer["fence"]
    return fence


def overlap(first: Operation, second: Operation) -> bool:
    """Whether any key of the one is or contains one of the other."""
    return any(_contains(a, b) or _contains(b, a) for a in first.given["keys"] for b in second.given["keys"])


def _contains(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}:")


def is_exclusive(first: Operation, second: Operation) -> bool:
    """Whether the two cannot be held at once."""
    return "exclusive" in (first.given["mode"], second.given["mode"])


def ends_of(history: Iterable[Operation]) -> dict[str, float]:
    """From when on each lease that was granted may have ended, by its ticket.

    Its holder asked to release it; or its time is over, which counts at the earliest from when it was asked for, or
    asked to be renewed.
    """
    expires: dict[str, float] = {}
    released: dict[str, float] = {}
    for each in history:
        ticket = each.given.get("ticket", "")
        if each.answer.get("outcome") in ("granted", "renewed"):
            expires[ticket] = max(expires.get(ticket, 0.0), each.asked + each.given["ttl"])
        elif each.what == "release":
            released[ticket] = min(released.get(ticket, NEVER), each.asked)
    return {ticket: min(end, released.get(ticket, NEVER)) for ticket, end in expires.items()}


def _pairs(operations: Iterable[Operation]) -> Iterator[tuple[Operation, Operation]]:
    """Each two, in the order in which they are listed."""
    return combinations(operations, 2)
