"""Convert the outcomes of the store into the answers for people and agents."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer, Next, RegionHash
from commonhold.kernel.events import Event, LeaseBroken, LeaseExpired, LeaseGranted, LeaseHandedOver
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import DEFAULT_TTL_SECONDS, Conflict, Lease
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import (
    Asked,
    Broken,
    Cancelled,
    Denied,
    Granted,
    HandedOver,
    NotHeld,
    Queued,
    Released,
    Renewed,
)
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import short_name, short_names
from commonhold.kernel.values import Value
from commonhold.leases.requests import AcquireRequest


def granted(
    outcome: Granted,
    shadowed: Iterable[Key] = (),
    told: Iterable[str] = (),
    near: Callable[[Key], Sequence[str]] = lambda _: (),
) -> AcquireAnswer:
    """Return the answer for a granted lease: the lease, the base hashes, and notices for its holder.

    `near` returns the names in the file that are like that of a region which does not exist.
    """
    lease = outcome.lease
    regions = tuple(RegionHash(base.key, base.hash) for base in lease.bases if canonical(base.key).is_region)
    missing = [canonical(base.key) for base in lease.bases if base.hash is None]
    absent = [_not_there(key, near(key)) for key in missing]
    notices = (*told, *absent, *map(_looks_like_a_file, shadowed), *wishes(outcome.wished))
    return AcquireAnswer("granted", lease, regions=regions, notices=notices)


def _not_there(key: Key, near: Sequence[str] = ()) -> str:
    """Return the notice for a key that does not exist: it may be new, misspelt, or of the wrong kind."""
    reserved = f"{key} does not exist yet: its name is reserved for you"
    if key.is_region:
        return f"{reserved}, and nothing else; did you mean {' or '.join(near)}?" if near else reserved
    return reserved if "." in key.path[-1] else f"{reserved} as a file's; to lease a folder, name {key}/"


def for_writing(answer: AcquireAnswer, keys: Iterable[str]) -> AcquireAnswer:
    """Return the answer without the notice that a key does not exist, for a caller that is about to create it."""
    known = tuple(_not_there(canonical(key)) for key in keys)
    return replace(answer, notices=tuple(each for each in answer.notices if not each.startswith(known)))


def wishes(leases: Iterable[Lease]) -> tuple[str, ...]:
    """Return the requests of others to the holder of `leases`."""
    return tuple(
        f"{short_name(lease.wish.by)} asks you to release {lease.id} ({', '.join(lease.keys)}): {lease.wish.why}"
        for lease in leases
        if lease.wish
    )


def _looks_like_a_file(key: Key) -> str:
    return f"{key} is a free name, though there is a file of that name: to lease the file, write file:{key}"


def queued(outcome: Queued, request: AcquireRequest, estimated_wait_seconds: float) -> AcquireAnswer:
    """Return the answer for a place in line, and how to keep it."""
    ticket = outcome.waiter.id
    why = f"ask again with the ticket within {outcome.waiter.patience_seconds:g} seconds to keep your place in line"
    more = _options(request) | {"patience_seconds": request.patience_seconds, "ticket": ticket}
    return AcquireAnswer(
        "queued",
        conflicts=outcome.conflicts,
        ticket=ticket,
        position=outcome.position,
        estimated_wait_seconds=estimated_wait_seconds,
        next=Next.acquire(request.keys, request.task, why, **more),
    )


def done(value: Value, request: AcquireRequest) -> AcquireAnswer:
    """Return the answer for work that is done already, with its result."""
    return AcquireAnswer("done", result=replace(value, key=request.keys[0]))


def denied(outcome: Denied, request: AcquireRequest, held: Sequence[Lease]) -> AcquireAnswer:
    """Return the conflicting leases, and the next step; `held` are the leases that the holder already has."""
    if outcome.code is Refusal.DEADLOCK and held:
        why = "they wait for what you hold: release it, let them finish, then acquire all that you need in one call"
        step = Next("release", {"lease_id": held[-1].id}, why)
    elif outcome.code is Refusal.SLOTS_DIFFER:
        step = Next("leases", {}, "see how many slots its holders share the key in, then ask with the same number")
    else:
        step = ask_again(request.keys, request.task, outcome.conflicts, **_options(request))
    return AcquireAnswer("denied", conflicts=outcome.conflicts, next=step, code=outcome.code)


def _options(request: AcquireRequest) -> dict[str, object]:
    """Return the further arguments of the same call, if they differ from their defaults."""
    return {
        "mode": None if request.mode is Mode.EXCLUSIVE else request.mode.value,
        "ttl_seconds": None if request.ttl_seconds == DEFAULT_TTL_SECONDS else request.ttl_seconds,
        "replaces": request.replaces,
        "slots": request.slots or None,
        "once": request.once or None,
    }


def ask_again(keys: Iterable[object], task: str, conflicts: Sequence[Conflict], **more: object) -> Next:
    """Return the next call for a holder whose keys other holders have leased."""
    holders = short_names(sorted(conflict.holder for conflict in conflicts))
    why = f"do other work first, until {holders} has released what you need or it has expired; then ask again"
    return Next.acquire(keys, task, why, **more)


_Word = Literal["renewed", "released", "broken", "asked", "handed_over"]
_WORDS: Final[dict[type[Renewed | Released | Broken | Asked | HandedOver], _Word]] = {
    Renewed: "renewed",
    Released: "released",
    Broken: "broken",
    Asked: "asked",
    HandedOver: "handed_over",
}
Changed = Renewed | Released | Cancelled | Broken | Asked | HandedOver | NotHeld | Denied


def lease_answer(registry: Registry, asker: str, outcome: Changed) -> LeaseAnswer:
    """Return the change to a lease, or the reason of a refusal."""
    if isinstance(outcome, NotHeld | Denied):
        return _refused(registry, asker, outcome)
    if isinstance(outcome, Cancelled):
        return LeaseAnswer("cancelled")
    notices = wishes([outcome.lease]) if isinstance(outcome, Renewed) else ()
    return LeaseAnswer(_WORDS[type(outcome)], outcome.lease, notices=notices)


def _refused(registry: Registry, asker: str, outcome: NotHeld | Denied) -> LeaseAnswer:
    if isinstance(outcome, NotHeld):
        return _not_held(registry, asker, outcome)
    held = ", ".join(sorted({conflict.held for conflict in outcome.conflicts}))
    why = f"other leases, on {held}, would stand against the new holder"
    step = Next("leases", {}, "see which of your leases overlap this one, and release or hand over those first")
    return LeaseAnswer("refused", None, outcome.code, why, step, outcome.conflicts)


def _not_held(registry: Registry, asker: str, outcome: NotHeld) -> LeaseAnswer:
    """Return why a lease is not the caller's, and how to regain it properly if it was the caller's before."""
    with registry.read() as view:
        events = [recorded.event for recorded in view.events(lease_id=outcome.lease_id)]
    heirs = [event.to for event in events if isinstance(event, LeaseHandedOver)]
    begun = next((event for event in events if isinstance(event, LeaseGranted)), None)
    if outcome.code is Refusal.NOT_ONCE:
        step = Next("release", {"lease_id": outcome.lease_id}, "release it without a result")
    elif begun is None or asker not in (begun.lease.holder, *heirs) or outcome.code is Refusal.NOT_HOLDER:
        step = Next("leases", {}, "see which leases are yours")
    else:
        why = "acquire the keys again, and read the regions again before you write"
        counted = {"once": True} if begun.lease.is_once else {"slots": begun.lease.slots or None}
        step = Next.acquire(begun.lease.keys, begun.lease.task, why, **counted)
    return LeaseAnswer("refused", None, outcome.code, _how_lost(outcome, events), step)


def _how_lost(outcome: NotHeld, events: Sequence[Event]) -> str:
    """Return why a lease is not held; for one that was broken, by whom and why."""
    for event in reversed(events):
        if isinstance(event, LeaseBroken):
            return f"the lease {outcome.lease_id} was ended by {short_name(event.by)}: {event.reason}"
        if isinstance(event, LeaseExpired):
            return f"the lease {outcome.lease_id} lapsed: it expired without a sign of life from its holder"
    return outcome.why
