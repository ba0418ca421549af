"""Dataclasses that can no longer be defined: a base gave a field a default that a required field now follows."""

from collections.abc import Iterable, Iterator

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.interface import BY_POSITION, Params
from commonhold.code.analysis.repository.call_signatures import fields_of
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States, Subject


def misordered(states: States, subjects: Iterable[Subject]) -> Iterator[Concern]:
    """Yield the subclasses, of classes whose fields changed, whose class statement newly fails."""
    for subject in subjects:
        old, new = subject.change.before.shape, subject.change.after.shape if subject.change.after else None
        if old is None or new is None or new.fields is None or old.fields == new.fields:
            continue
        for heir in states.new.lineage.heirs(subject.place):
            offer = states.new.lineage.offer(heir)
            if offer is None or offer.shape is None or not offer.shape.fields:
                continue
            late = _late(fields_of(states.new, heir))
            if late and not _late(fields_of(states.old, heir)):
                how = f"has the field `{late}` without a default after one that has one"
                place = (subject.path, subject.change.qualname)
                yield Concern(heir[0], offer.line, subject.change.what, how, Evidence.CONTRACT, *place, is_broken=True)


def _late(fields: Params) -> str:
    """Return the first required field that stands after an optional one; empty if there is none."""
    has_optional = False
    for each in fields:
        if each.kind in BY_POSITION:
            if has_optional and not each.is_optional:
                return each.name
            has_optional = has_optional or each.is_optional
    return ""
