"""New uses that do not fit the definitions: a call with wrong arguments, a name that does not exist."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from commonhold.code.analysis.chains import Chain
from commonhold.code.analysis.effects import call_text
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.interface import CallShape
from commonhold.code.analysis.references import CALL_FAILS, NAME_FAILS, Reference, Use
from commonhold.code.analysis.repository.call_signatures import binds, how_used, met_by
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.parts import PartedSummary
from commonhold.code.analysis.repository.resolution import is_property
from commonhold.code.analysis.repository.states import States, member_of
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.analysis.repository.symbols import Thing, What
from commonhold.code.analysis.test_files import is_test

_Sameness = tuple[str, Use, CallShape | None, Chain]
"""Uses that are the same except for their place."""


def misfits(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the new uses in these files that provably fail, or that change a definition of another file at run time."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if after is not None and not after.problem:
            found = (_misfit(states, path, after, use) for use in added_uses(before, after))
            yield from (concern for concern in found if concern is not None)


def added_uses(before: Summary | None, after: Summary) -> Sequence[Reference]:
    """Return the uses that occur more often than before, by line; of equal ones, those in other definitions.

    The costs depend on the parts that the two summaries do not share, and on how often the names are used that are used
    more often.
    """
    old, new = map(_grouped, _compared(before, after))
    added: list[Reference] = []
    for same, uses in new.items():
        known = old.get(same, [])
        if len(uses) > len(known):
            added += _surplus(uses, known, before, after) if before and known else uses
    return sorted(added, key=_place)


def _place(use: Reference) -> tuple[object, ...]:
    return use.line, use.name, use.use, use.chain, str(use.shape)


def _compared(before: Summary | None, after: Summary) -> tuple[Sequence[Reference], Sequence[Reference]]:
    """Return the uses before and after, without names of which there are no more than before."""
    if not (isinstance(before, PartedSummary) and isinstance(after, PartedSummary)):
        return before.uses if before else (), after.uses
    # Parts that both summaries share are not counted.
    kept = set(map(id, before.chunks)) & set(map(id, after.chunks))
    was, now = (
        Counter(_sameness(use) for chunk in each.chunks if id(chunk) not in kept for use in chunk.part.uses)
        for each in (before, after)
    )
    names = {same[0] for same, count in now.items() if count > was[same]}
    old, new = ([use for name in names for use in each.uses_by_name.get(name, ())] for each in (before, after))
    return old, new


def _surplus(
    uses: Sequence[Reference], known: Sequence[Reference], before: Summary, after: Summary
) -> Sequence[Reference]:
    there = Counter(before.definition_at(use.line) for use in known)
    stayed: list[Reference] = []
    moved: list[Reference] = []
    for use in uses:
        place = after.definition_at(use.line)
        (stayed if there[place] else moved).append(use)
        there[place] -= 1
    return [*moved, *reversed(stayed)][: len(uses) - len(known)]


def _grouped(uses: Iterable[Reference]) -> dict[_Sameness, list[Reference]]:
    found: dict[_Sameness, list[Reference]] = {}
    for use in uses:
        found.setdefault(_sameness(use), []).append(use)
    return found


def leads_out(summary: Summary, use: Reference) -> bool:
    """Whether the target of a use may stand in another file."""
    if use.chain or use.name in summary.imported:
        return True
    return linkage_of(summary.language).has_siblings and use.name not in summary.offered


def _sameness(use: Reference) -> _Sameness:
    return use.name, use.use, use.shape, use.chain


def _misfit(states: States, path: str, summary: Summary, use: Reference) -> Concern | None:
    if use.use is Use.TEXT or not (states.is_throughout or leads_out(summary, use)):
        return None
    thing = states.new.use(path, use)
    if use.use is Use.STORE:
        return _patched(path, use, thing)
    if thing.what is What.NOTHING:
        return _missing(states, path, use)
    is_left = thing.path == path and not states.is_throughout
    if not thing.is_found or is_left or use.shape is None or linkage_of(summary.language).may_omit:
        return None
    found = None if CALL_FAILS in use.expects else met_by(states.new, thing, use)
    if found is None or binds(found) or not _is_plain(states, thing):
        return None
    how = f"calls `{call_text(found.reference)}`, but it takes {found.signatures[-1]}"
    return Concern(path, use.line, "", how, Evidence.CONTRACT, *thing.place, is_broken=True)


def _patched(path: str, use: Reference, thing: Thing) -> Concern | None:
    """Return a concern if a definition of another file is replaced at run time; a property takes the value itself."""
    if thing.what not in (What.FUNCTION, What.CLASS) or thing.path == path or is_test(path):
        return None
    if thing.offer is not None and is_property(thing.offer):
        return None
    how = f"replaces `{thing.place[1]}` of `{thing.path}` when it runs: what then calls it cannot be seen"
    return Concern(path, use.line, "", how, Evidence.SUSPICION, *thing.place, is_open=True)


def _missing(states: States, path: str, use: Reference) -> Concern | None:
    owner = states.new.chain(path, use.chain) if use.chain else None
    if owner is None or NAME_FAILS in use.expects:
        return None
    if owner.what is What.MODULE and _is_set(states, owner, use.name):
        return None
    if owner.what is What.MODULE:
        how = f"{how_used(use)}: `{use.name}`, but `{owner.path}` has nothing of that name"
        return Concern(path, use.line, "", how, Evidence.CONTRACT, owner.path, use.name, is_broken=True)
    if use.shape is None or owner.path == path or not _has_nowhere(states, owner, use.name):
        return None
    how = f"calls `{call_text(use)}`, but `{owner.place[1]}` of `{owner.path}` has no such method"
    return Concern(path, use.line, "", how, Evidence.CONTRACT, *owner.place, is_broken=True)


def _is_set(states: States, module: Thing, name: str) -> bool:
    """Whether some code assigns this attribute of a module when it runs."""
    users = ((user, states.new.library.summary(user)) for user in states.new.library.users(name))
    stores = (
        states.new.chain(user, use.chain)
        for user, summary in users
        for use in (summary.uses_by_name.get(name, ()) if summary else ())
        if use.use is Use.STORE
    )
    return any(each.what is What.MODULE and set(each.paths) & set(module.paths) for each in stores)


def _has_nowhere(states: States, owner: Thing, name: str) -> bool:
    """Whether a name is nowhere: no subclass defines it, no outside code assigns it, the language does not add it."""
    summary = states.new.library.summary(owner.path)
    if summary is None or linkage_of(summary.language).adds_members:
        return False
    if owner.offer is None or any(member_of(states.new, heir, name) for heir in states.new.lineage.heirs(owner.place)):
        return False
    users = map(states.new.library.summary, states.new.library.users(name))
    uses = (use for summary in users if summary for use in summary.uses_by_name.get(name, ()))
    return not any(use.use is Use.STORE for use in uses)


def _is_plain(states: States, thing: Thing) -> bool:
    """Whether the called definition is certain: the only one of its name, and overridden in no subclass."""
    if thing.offer is None or not thing.offer.is_sole:
        return False
    if thing.what is not What.FUNCTION or thing.reached_on is None:
        return True
    summary = states.new.library.summary(thing.path)
    if summary and linkage_of(summary.language).overloads and not states.new.lineage.of(thing.reached_on).is_closed:
        return False
    heirs = states.new.lineage.heirs(thing.reached_on)
    return not any(member_of(states.new, heir, thing.offer.name) for heir in heirs)
