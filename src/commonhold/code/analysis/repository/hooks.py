"""Methods that a class and its subclasses in other files give each other: hooks, and methods that mixins rely on."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from commonhold.code.analysis.effects import call_text
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Sort
from commonhold.code.analysis.references import CALL_FAILS, NAME_FAILS, Receiver, Reference, Use
from commonhold.code.analysis.repository.call_signatures import binds, how_used, met_by
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.new_use_errors import added_uses
from commonhold.code.analysis.repository.states import States, Subject, has_owner, member_of, uses_of
from commonhold.code.analysis.repository.symbols import What

_CALLS: Final = frozenset({Use.CALL, Use.ATTRIBUTE, Use.TEXT, Use.NAME})


def unhooked(states: States, subjects: Iterable[Subject]) -> Iterator[Concern]:
    """Yield the overrides, in other files, of a removed method, if nothing uses that name any more.

    Code called the method of the base, and so the override; a new name in its place leaves the override without effect.
    """
    for subject in subjects:
        name = subject.change.name
        is_hook = subject.owner is not None and subject.change.before.sort is Sort.FUNCTION
        if not is_hook or subject.change.after is not None or name.startswith("__") or not has_owner(states, subject):
            continue
        if _is_called(states, name, subject.path) or not _was_called(states, subject):
            continue
        for heir in states.new.lineage.heirs(subject.owner or subject.place):
            own = member_of(states.new, heir, name)
            if own is not None and heir[0] != subject.path and not states.new.lineage.of(heir).outside:
                how = "overrides it, and nothing calls it under that name any more"
                yield Concern(heir[0], own.line, subject.change.what, how, Evidence.SUSPICION, *subject.place)


def _is_called(states: States, name: str, path: str) -> bool:
    return any(use.use in _CALLS and not _is_super(use) for _, _, use in uses_of(states, name)) or any(
        use.use in _CALLS for use in _uses_in(states, path, name)
    )


def _uses_in(states: States, path: str, name: str) -> Iterator[Reference]:
    summary = states.new.library.summary(path)
    yield from summary.uses_by_name.get(name, ()) if summary else ()


def _was_called(states: States, subject: Subject) -> bool:
    summary = states.old.library.summary(subject.path)
    uses = summary.uses_by_name.get(subject.change.name, ()) if summary else ()
    return any(states.old.use(subject.path, use).place == subject.place for use in uses)


def _is_super(use: Reference) -> bool:
    return bool(use.chain) and use.chain[0].startswith("super ")


def overtaxed(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the overrides, in other files, that a new call of the method of their base does not fit."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if before is None or after is None or before.problem or after.problem or linkage_of(after.language).may_omit:
            continue
        for use in added_uses(before, after):
            if use.shape is not None and use.chain and CALL_FAILS not in use.expects and not _is_super(use):
                yield from _unfit(states, path, use)


def _unfit(states: States, path: str, use: Reference) -> Iterator[Concern]:
    thing = states.new.use(path, use)
    if thing.what is not What.FUNCTION or thing.reached_on is None or thing.offer is None:
        return
    found = met_by(states.new, thing, use)
    if found is None or not binds(found) or thing.offer.name in CONSTRUCTORS:
        return
    for heir in states.new.lineage.heirs(thing.reached_on):
        own = member_of(states.new, heir, thing.offer.name)
        if own is None or heir[0] == thing.path or not own.is_sole or own.sort is not Sort.FUNCTION:
            continue
        met = met_by(states.new, replace(thing, paths=(heir[0],), offer=own, reached_on=heir), use)
        if met is not None and not binds(met):
            what = f"`{call_text(found.reference)}` is called in `{path}` now"
            how = f"overrides it and takes {met.signatures[-1]}"
            yield Concern(heir[0], own.line, what, how, Evidence.CONTRACT, *thing.place)


def unsupplied(states: States, subjects: Iterable[Subject]) -> Iterator[Concern]:
    """Yield the uses, by `self` in a base in another file, of a method that only the changed class supplied."""
    for subject in subjects:
        if subject.owner is None or subject.change.before.sort is not Sort.FUNCTION or subject.change.after is not None:
            continue
        line = states.old.lineage.of(subject.owner).places[1:]
        if not line or not has_owner(states, subject) or _is_inherited(states, subject):
            continue
        for user, _, use in uses_of(states, subject.change.name):
            if user == subject.path or NAME_FAILS in use.expects or not _is_by_self(use, user, line):
                continue
            if states.old.use(user, use).what in (What.NOTHING, What.UNKNOWN):
                how = f"still {how_used(use)}, which `{subject.owner[1]}` supplied"
                yield Concern(user, use.line, subject.change.what, how, Evidence.CONTRACT, *subject.place)


def _is_inherited(states: States, subject: Subject) -> bool:
    line = states.new.lineage.of(subject.owner).places if subject.owner else ()
    return any(member_of(states.new, place, subject.change.name) for place in line)


def _is_by_self(use: Reference, user: str, line: tuple[tuple[str, str], ...]) -> bool:
    root, _, owner = use.chain[0].partition(" ") if len(use.chain) == 1 else ("", "", "")
    return root in (Receiver.SELF.value, Receiver.CLS.value) and (user, owner) in line
