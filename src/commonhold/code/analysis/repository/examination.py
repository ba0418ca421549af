"""Examine a whole repository: find the places in any file that a change in some files affects."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.references import Reference
from commonhold.code.analysis.repository.abstract_methods import unmet
from commonhold.code.analysis.repository.assignments import unassignable
from commonhold.code.analysis.repository.binding import concern_of
from commonhold.code.analysis.repository.changed_results import misused_results
from commonhold.code.analysis.repository.changes import ContractChange, contract_changes
from commonhold.code.analysis.repository.constructor_changes import constructed
from commonhold.code.analysis.repository.field_order import misordered
from commonhold.code.analysis.repository.findings import Concern, Links
from commonhold.code.analysis.repository.framework_exposure import exposures
from commonhold.code.analysis.repository.hooks import overtaxed, unhooked, unsupplied
from commonhold.code.analysis.repository.interfaces import unsatisfied
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.moved_definitions import moved
from commonhold.code.analysis.repository.names_of_definitions import names_touched
from commonhold.code.analysis.repository.new_use_errors import misfits
from commonhold.code.analysis.repository.overrides import overrides
from commonhold.code.analysis.repository.protocols import misfitting
from commonhold.code.analysis.repository.redirected_names import redirected
from commonhold.code.analysis.repository.resolution import Resolver, is_place
from commonhold.code.analysis.repository.states import States, Subject, uses_of
from commonhold.code.analysis.repository.summary import Offer, Summary
from commonhold.code.analysis.repository.symbols import Place
from commonhold.code.analysis.repository.unpacked_results import misunpacked
from commonhold.code.analysis.repository.withdrawn_names import withdrawn


def examine(before: Library, after: Library, changed: Collection[str]) -> Links:
    """Compare two states that differ in the files `changed`; return the affected places, in those files as well.

    For Python, effects inside the one file are left to `code.analysis.admission`, as far as that sees them. Costs grow
    with how often the changed names are used, not with the size of the repository.
    """
    return _examined(States(Resolver(before), Resolver(after)), changed)


def examine_throughout(before: Library, after: Library, changed: Collection[str]) -> Links:
    """Do the same and include effects inside of one file, for callers that have no other check of these."""
    return _examined(States(Resolver(before), Resolver(after), is_throughout=True), changed)


def _examined(states: States, changed: Collection[str]) -> Links:
    before, after = states.old.library, states.new.library
    paths = sorted(changed)
    subjects = [
        Subject(path, change)
        for path in paths
        for change in (*contract_changes(before.summary(path), after.summary(path)), *moved(states, path))
    ]
    concerns = (
        *_affected(states, subjects),
        *misfitting(states, subjects),
        *_exposed(states, subjects),
        *redirected(states, paths),
        *unmet(states, paths),
        *unsatisfied(states, paths),
        *unassignable(states, paths),
        *misordered(states, subjects),
        *unhooked(states, subjects),
        *unsupplied(states, subjects),
        *overtaxed(states, paths),
        *misused_results(states, paths),
        *misunpacked(states, paths),
        *misfits(states, paths),
        *constructed(states, paths),
        *withdrawn(states, paths),
    )
    return Links(tuple(dict.fromkeys(concerns)))


def _affected(states: States, subjects: Iterable[Subject]) -> Iterator[Concern]:
    """Yield the affected uses of changed contracts, also through functions that pass their arguments on."""
    pending, seen = list(subjects), set[Place]()
    while pending:
        subject = pending.pop()
        for user, summary, use in _uses(states, subject):
            concern = concern_of(states, subject, user, use)
            if concern is not None:
                yield concern
            pending += _passed_on(states, subject, user, summary, use, seen)
        yield from overrides(states, subject)


def _uses(states: States, subject: Subject) -> Iterator[tuple[str, Summary, Reference]]:
    """Yield the uses, in files that existed before, of the names that may mean it."""
    for name in names_touched(states.old, subject.place, subject.change):
        yield from uses_of(states, name)


def _passed_on(
    states: States, subject: Subject, user: str, summary: Summary, use: Reference, seen: set[Place]
) -> list[Subject]:
    """Return the change as seen by the callers of a function that passes all its arguments on to the changed one."""
    if use.shape is None or not use.shape.is_starred:
        return []
    offer = summary.offered.get(summary.definition_at(use.line))
    after = subject.change.after
    if offer is None or not offer.forwards or after is None or (user, offer.qualname) in seen:
        return []
    is_meant = is_place(states.new.chain(user, offer.forwards), subject.place)
    if not is_meant or not after.signatures or not subject.change.before.signatures:
        return []
    seen.add((user, offer.qualname))
    what = f"{subject.change.what}, `{offer.qualname}` hands its arguments on to it"
    sides = (_taking(offer, each) for each in (subject.change.before, after))
    return [Subject(user, ContractChange(offer.qualname, what, *sides), is_passed_on=True)]


def _taking(offer: Offer, target: Offer) -> Offer:
    """Return a function with the parameters of its target, each with its own `self`."""
    taken = target.signatures[-1].without_first() if target.owner else target.signatures[-1]
    own = offer.signatures[-1].params[:1] if offer.owner else ()
    return replace(offer, signatures=(replace(offer.signatures[-1], params=(*own, *taken.params)),))


def _exposed(states: States, subjects: Iterable[Subject]) -> Iterator[Concern]:
    """Yield the changes that may affect users outside of the repository."""
    for subject in subjects:
        line = _line_of(states.new, subject)
        for how in exposures(states, subject):
            yield Concern(
                subject.path, line, subject.change.what, how, Evidence.SUSPICION, *subject.place, is_open=True
            )


def _line_of(resolver: Resolver, subject: Subject) -> int:
    """Return the line of the definition now, or of the class that it was in."""
    here = resolver.lineage.offer(subject.place) or (resolver.lineage.offer(subject.owner) if subject.owner else None)
    return here.line if here else 1
