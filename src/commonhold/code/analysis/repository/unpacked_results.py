"""Functions of Python that return a tuple of another length than before: calls that unpack it into the old number."""

from collections.abc import Iterable, Iterator

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States, member_of, uses_of
from commonhold.code.analysis.repository.summary import Offer
from commonhold.code.analysis.repository.symbols import Thing
from commonhold.code.analysis.repository.tuple_sizes import TAKES, count_in


def misunpacked(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the calls that unpack the result of a changed function into another number of names than it has now."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        for offer in after.offers if before and after else ():
            old = before.offered.get(offer.qualname) if before else None
            was, now = (_given(each) for each in (old, offer))
            if was and now and was != now and offer.is_sole:
                yield from _uses(states, path, offer, was, now)


def _uses(states: States, path: str, offer: Offer, was: str, now: str) -> Iterator[Concern]:
    for user, _, use in uses_of(states, offer.name):
        if TAKES.format(was) not in use.expects:
            continue
        meant = states.new.use(user, use)
        if meant.place == states.old.use(user, use).place == (path, offer.qualname) and not _is_overridden(
            states, meant
        ):
            what = f"`{offer.qualname}` returns {now} items instead of {was}"
            how = f"unpacks {was}"
            yield Concern(user, use.line, what, how, Evidence.CONTRACT, path, offer.qualname, is_broken=True)


def _given(offer: Offer | None) -> str:
    return count_in(offer.modifiers) if offer is not None and offer.sort is Sort.FUNCTION else ""


def _is_overridden(states: States, thing: Thing) -> bool:
    heirs = states.new.lineage.heirs(thing.reached_on) if thing.reached_on is not None else ()
    return thing.offer is not None and any(member_of(states.new, heir, thing.offer.name) for heir in heirs)
