"""The effect of a commit on the read sets of others: pure, from the event and their reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonhold.kernel.events import Committed, ContractChange, RegionChange
from commonhold.kernel.keys import Key, canonical, contains
from commonhold.kernel.read_set import Overtaking, Sighting, StaleRead

# A reader of a rewritten file is notified of the file, not of each part of it.
MOST_PARTS: Final = 30
_NOTHING: Final = RegionChange("", None, None)


def places_of(regions: Iterable[RegionChange], contracts: Iterable[ContractChange]) -> tuple[str, ...]:
    """Return all keys whose content shows the commit's changes: a reader of any of them is affected."""
    around = (str(key) for change in contracts for key in canonical(change.key).upward())
    return tuple(dict.fromkeys((*(change.key for change in regions), *around)))


def shows(read: Key, definition: Key, *, is_region: bool) -> bool:
    """Whether reading `read` exposes `definition`: it contains it, or is its enclosing header.

    `is_region`: the definition has a region of its own, so that the header around it does not show it.
    """
    bare = read.bare()
    if contains(bare, definition.bare()):
        return True
    if not bare.is_header or bare.path != definition.path:
        return False
    around, names = bare.names[:-1], definition.bare().names
    return bool(names) and (around == names or (not is_region and around == names[:-1]))


def overtaken_by(
    commit: Committed,
    sequence: int,
    seen: Iterable[tuple[str, Sighting]],
    known: Mapping[tuple[str, str], StaleRead],
) -> Iterator[StaleRead]:
    """Yield the new states of others' stale reads; `seen` are their reads by holder, `known` the states so far.

    A holder that has already seen all results of the commit is not affected.
    """
    results = {(change.key, change.after) for change in commit.regions}
    by_holder: dict[str, list[Sighting]] = {}
    for holder, sighting in seen:
        if sighting.lines or (sighting.key, sighting.hash) not in results:
            by_holder.setdefault(holder, []).append(sighting)
    for holder, sightings in by_holder.items():
        newest = max(each.sequence for each in sightings)
        found: dict[str, StaleRead] = {}
        for change, what in _concerning(commit, sightings):
            new = StaleRead(holder, commit.worktree, change.key, None, None, seen=newest, told=newest)
            so_far = found.get(change.key) or known.get((holder, change.key), new)
            overtaking = Overtaking(sequence, commit.holder, commit.intent, what)
            found[change.key] = so_far.after(overtaking, change.before, change.after)
        yield from found.values()


def _concerning(commit: Committed, sightings: Sequence[Sighting]) -> Iterator[tuple[RegionChange, str]]:
    """Yield a session's notifications: changed contracts that it saw, then other changes in its reads.

    A change inside an enclosing region that was deleted, and that the session saw, is not reported separately.
    """
    changes = {canonical(change.key): change for change in commit.regions}
    read = [canonical(each.key) for each in sightings]
    met = [each for each in commit.contracts if any(_meets(key, each, commit.regions) for key in read)]
    gone = {key for key in (*read, *(canonical(each.key) for each in met)) if _is_gone(changes.get(key))}
    for contract in met:
        if gone.isdisjoint(list(canonical(contract.key).upward())[1:]):
            yield replace(_own(contract, commit.regions), key=contract.key), contract.what
    yield from ((changes[key], "") for key in _bodies(commit, changes, read, met))


def _is_gone(change: RegionChange | None) -> bool:
    return change is not None and change.after is None


def _bodies(
    commit: Committed, changes: Mapping[Key, RegionChange], read: Sequence[Key], met: Sequence[ContractChange]
) -> Sequence[Key]:
    """Return the innermost changed regions in `read`, without those that contract changes account for."""
    whole = [key for key in read if _is_gone(changes.get(key)) and not key.names]
    leaves = [each for each in leaves_of(commit.regions) if not any(_accounts_for(one, each) for one in met)]
    inside = [each for each in leaves if any(contains(key, each) for key in read) and each.file not in whole]
    concerned = [key for key in inside if _is_told(changes[key], key, read, commit.regions)]
    if len(concerned) > MOST_PARTS:
        concerned = [key for key in read if key in changes]
    return [*whole, *concerned]


def _is_told(change: RegionChange, key: Key, read: Sequence[Key], regions: Sequence[RegionChange]) -> bool:
    """Whether a changed body is reported: it existed, and is no header that only made room for others."""
    if change.before is None or (change.after is None and key.is_header):
        return False
    makes_room = any(None in (each.before, each.after) for each in regions)
    return not (key.is_header and makes_room) or key in read


def _meets(read: Key, contract: ContractChange, regions: Sequence[RegionChange]) -> bool:
    return shows(read, canonical(contract.key), is_region=_own(contract, regions) is not _NOTHING)


def _own(contract: ContractChange, regions: Iterable[RegionChange]) -> RegionChange:
    """Return the change of the definition's own region; an empty change for a name defined in a header."""
    key = canonical(contract.key)
    return next((change for change in regions if canonical(change.key).bare() == key), _NOTHING)


def _accounts_for(contract: ContractChange, leaf: Key) -> bool:
    """Whether a contract change fully describes the change in a leaf, for the purposes of a reader."""
    return shows(leaf, canonical(contract.key), is_region=True)


def leaves_of(regions: Sequence[RegionChange]) -> list[Key]:
    """Return the innermost changed regions."""
    keys = [canonical(change.key) for change in regions]
    around = {outer for key in keys for outer in list(key.upward())[1:]}
    return [key for key in keys if key not in around]


def caught_up(found: StaleRead, read: Iterable[Key], sequence: int) -> StaleRead | None:
    """Return the stale read after the session has read all these keys; None if they do not show it."""
    definition = canonical(found.key)
    is_region = not (found.base is None and found.now is None)
    is_there = found.now is not None
    if not found.unread or not any(shows(each, definition, is_region=is_region and is_there) for each in read):
        return None
    return found.read_at(sequence)
