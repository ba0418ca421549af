"""Functions whose result is of another class than before: uses of the old class's members, through a call of them."""

from collections.abc import Iterable, Iterator

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import NAME_FAILS, Reference, Use
from commonhold.code.analysis.repository.call_signatures import how_used
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States
from commonhold.code.analysis.repository.summary import Offer, Summary
from commonhold.code.analysis.repository.symbols import What


def misused_results(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the uses, in other files, of members that the result of a changed function no longer has."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        for offer in after.offers if before and after else ():
            old = before.offered.get(offer.qualname) if before else None
            if old is not None and offer.sort is old.sort is Sort.FUNCTION and _gives_other(old, offer):
                yield from _uses(states, path, offer)


def _gives_other(old: Offer, new: Offer) -> bool:
    return bool(old.gives) and bool(new.gives) and old.gives != new.gives


def _uses(states: States, path: str, offer: Offer) -> Iterator[Concern]:
    for user in states.new.library.users(offer.name):
        summary = states.new.library.summary(user)
        if summary is None or user == path or states.old.library.summary(user) is None:
            continue
        for use in summary.uses:
            if offer.name in use.chain and use.use is not Use.TEXT and NAME_FAILS not in use.expects:
                yield from _lost(states, path, offer, user, use)


def _lost(states: States, path: str, offer: Offer, user: str, use: Reference) -> Iterator[Concern]:
    steps = use.chain[: use.chain.index(offer.name) + 1]
    if states.old.chain(user, steps).place != (path, offer.qualname):
        return
    was, now = states.old.use(user, use), states.new.use(user, use)
    if (
        not was.is_found
        or now.what is not What.NOTHING
        or states.new.chain(user, steps).place != (path, offer.qualname)
    ):
        return
    evidence = Evidence.CONTRACT if _is_shown(states.new.library.summary(path), offer) else Evidence.SUSPICION
    what = f"`{offer.qualname}` gives another kind of object"
    how = f"{how_used(use)}, which that has not"
    yield Concern(user, use.line, what, how, evidence, path, offer.qualname)


def _is_shown(summary: Summary | None, offer: Offer) -> bool:
    """Whether the new result is certain: in Python an annotation may be wider than the value that is returned."""
    is_python = summary is not None and summary.language == "python"
    return not is_python or all(each.returns is None for each in offer.signatures)
