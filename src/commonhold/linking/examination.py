"""The examination of a whole repository: whom a change in some files concerns in any of them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from commonhold.linking.calling import Met, binds, effect, how_used, met_by, numbered
from commonhold.linking.changes import ContractChange, contract_changes, erased
from commonhold.linking.exposure import exposures, narrows
from commonhold.linking.findings import Concern, Links
from commonhold.linking.languages import linkage_of
from commonhold.linking.library import Library
from commonhold.linking.naming import names_touched
from commonhold.linking.resolving import Resolver, is_place, is_property
from commonhold.linking.summary import Offer, Summary
from commonhold.linking.things import Place, Thing, What
from commonhold.linking.trials import is_test
from commonhold.semantics.effects import Impact, call_text, is_wholly_new, met
from commonhold.semantics.evidence import Evidence
from commonhold.semantics.impact import COMMON_ATTRIBUTES
from commonhold.semantics.interface import bind, widens
from commonhold.semantics.module import CONSTRUCTORS, Sort
from commonhold.semantics.references import Receiver, Reference, Use

_TYPES_ONLY: Final = frozenset({Use.ANNOTATION, Use.EXPORT})
_PASSIVE: Final = frozenset({Use.ANNOTATION, Use.EXPORT, Use.IMPORT, Use.TEXT, Use.FIXTURE})
_SEEN_IN_ONE_FILE: Final = frozenset({Receiver.NONE, Receiver.SELF, Receiver.CLS, Receiver.SUPER, Receiver.CLASS})


def examine(before: Library, after: Library, changed: Collection[str]) -> Links:
    """Compare two states that differ in the files `changed`: whom that concerns, what is changed itself included.

    What a change does inside the one file is left to `semantics.admission`, for Python, as far as that can see it.
    Costs grow with how often the changed names are used, not with the size of the repository.
    """
    return _Examination(Resolver(before), Resolver(after), tuple(sorted(changed))).links()


@dataclass(frozen=True)
class _Examination:
    old: Resolver
    new: Resolver
    changed: tuple[str, ...]

    def links(self) -> Links:
        concerns = [*self._affected(), *self._exposed(), *self._misfits()]
        return Links(tuple(dict.fromkeys(concerns)))

    @cached_property
    def _changes(self) -> list[tuple[str, ContractChange]]:
        pairs = ((path, self.old.library.summary(path), self.new.library.summary(path)) for path in self.changed)
        return [(path, change) for path, old, new in pairs for change in contract_changes(old, new)]

    # What changed, and who uses it.

    def _affected(self) -> Iterator[Concern]:
        pending, seen = list(self._changes), set[Place]()
        while pending:
            path, change = pending.pop()
            for user, summary, use in self._uses(path, change):
                concern = self._concern(path, change, user, summary, use)
                if concern is not None:
                    yield concern
                    pending += self._passed_on(user, summary, use, path, change, seen)
            yield from self._overrides(path, change)

    def _passed_on(
        self, user: str, summary: Summary, use: Reference, path: str, change: ContractChange, seen: set[Place]
    ) -> list[tuple[str, ContractChange]]:
        """The change as the callers of a function meet it that hands all its arguments on to what changed."""
        offer = summary.offered.get(summary.definition_at(use.line))
        if offer is None or not offer.forwards or use.shape is None or change.after is None:
            return []
        if not is_place(self.new.chain(user, offer.forwards), (path, change.qualname)):
            return []
        place = user, offer.qualname
        if place in seen or not change.after.signatures or not change.before.signatures:
            return []
        seen.add(place)
        what = f"{change.what}, `{offer.qualname}` hands its arguments on to it"
        before, after = (_with_signature(offer, each) for each in (change.before, change.after))
        return [(user, ContractChange(offer.qualname, what, before, after))]

    def _exposed(self) -> Iterator[Concern]:
        for path, change in self._changes:
            line = self._line_of(path, change)
            for how in exposures(self.old, self.new, path, change):
                what, target = change.what, (path, change.qualname)
                yield Concern(path, line, what, how, Evidence.SUSPICION, *target, is_open=True)

    def _line_of(self, path: str, change: ContractChange) -> int:
        """Where it is now, or the class that it was in."""
        summary = self.new.library.summary(path)
        owner = summary.offered.get(change.before.owner) if summary else None
        here = change.after or owner
        return here.line if here else 1

    def _uses(self, path: str, change: ContractChange) -> Iterator[tuple[str, Summary, Reference]]:
        for name in names_touched(self.old, (path, change.qualname), change):
            for user in self.new.library.users(name):
                summary = self.new.library.summary(user)
                if summary is not None and self.old.library.summary(user) is not None:
                    yield from ((user, summary, use) for use in summary.uses_by_name.get(name, ()))

    def _concern(
        self, path: str, change: ContractChange, user: str, summary: Summary, use: Reference
    ) -> Concern | None:
        was = self.old.use(user, use)
        if was.what is What.UNKNOWN:
            impact = self._suspected(path, change, use)
            return self._made(path, change, user, use, impact, Evidence.SUSPICION) if impact else None
        if self._is_class_as_value(was, path, change, use):
            impact = Impact("hands the class on, to be called by whoever gets it")
            return self._made(path, change, user, use, impact, Evidence.SUSPICION)
        if not self._is_meant(was, path, change, use) or self._is_seen_in_one_file(path, user, summary, use):
            return None
        impact = self._tied(was, path, change, user, use)
        return self._made(path, change, user, use, impact, Evidence.CONTRACT) if impact else None

    @staticmethod
    def _made(
        path: str, change: ContractChange, user: str, use: Reference, impact: Impact, evidence: Evidence
    ) -> Concern:
        target = path, change.qualname
        return Concern(user, use.line, change.what, impact.how, evidence, *target, is_broken=impact.is_broken)

    def _is_meant(self, was: Thing, path: str, change: ContractChange, use: Reference) -> bool:
        """Whether a use, as it was tied before, has to do with what changed."""
        if not was.is_found:
            return False
        if was.place == (path, change.qualname):
            return True
        if was.what is What.CLASS and use.shape is not None:
            return self._is_made_by(was.place, path, change)
        return self._comes_down_to(was, path, change) or self._inherits_through(was, path, change)

    def _is_class_as_value(self, was: Thing, path: str, change: ContractChange, use: Reference) -> bool:
        """Whether a class whose construction changed is used otherwise than by calling it or looking into it."""
        is_value = was.what is What.CLASS and use.shape is None and use.use is Use.NAME
        is_construction = change.name in CONSTRUCTORS or _fields_differ(change)
        return is_value and is_construction and narrows(change) and self._is_made_by(was.place, path, change)

    def _is_made_by(self, made: Place, path: str, change: ContractChange) -> bool:
        """Whether calling a class calls what changed: its constructor, or its fields."""
        owner = change.before.owner if change.name in CONSTRUCTORS else change.qualname
        return bool(owner) and (path, owner) in self.old.lineage.of(made).places

    def _comes_down_to(self, was: Thing, path: str, change: ContractChange) -> bool:
        """Whether an object that is known by a base may be of the class whose override changed."""
        if not change.before.owner or was.what is not What.FUNCTION or was.offer is None or not was.offer.owner:
            return False
        if was.receiver is Receiver.SUPER or was.offer.name != change.name:
            return False
        line = self.old.lineage.of((path, change.before.owner)).places
        return (was.path, was.offer.owner) in line and was.reached_on in line

    def _inherits_through(self, was: Thing, path: str, change: ContractChange) -> bool:
        """Whether a member is reached through a class whose bases changed."""
        if change.before.sort is not Sort.CLASS or was.reached_on is None:
            return False
        return (path, change.qualname) in self.old.lineage.of(was.reached_on).places

    def _is_seen_in_one_file(self, path: str, user: str, summary: Summary, use: Reference) -> bool:
        return user == path and summary.language == "python" and use.receiver in _SEEN_IN_ONE_FILE

    def _tied(self, was: Thing, path: str, change: ContractChange, user: str, use: Reference) -> Impact | None:
        now = self.new.use(user, use)
        if not now.is_found:
            return self._lost(now, use)
        if was.place != (path, change.qualname) and self._comes_down_to(was, path, change):
            return _unproven(self._overridden(was, path, change, use))
        if use.use in _PASSIVE or was.offer is None or now.offer is None:
            return None
        if was.offer.sort is not now.offer.sort:
            is_plain = Sort.VALUE in (was.offer.sort, now.offer.sort)
            return None if is_plain else Impact(how_used(use))
        old, new = (
            met_by(self.old, self._as_changed(was, path, change, change.before), use),
            met_by(self.new, self._as_changed(now, path, change, change.after), use),
        )
        if was.what is What.CLASS and use.shape is None:
            return self._reshaped(was.offer, now.offer, use)
        if old is None or new is None:
            return None if (old is None) == (new is None) else Impact(how_used(use))
        return self._effect(old, new, was, now, user)

    @staticmethod
    def _as_changed(thing: Thing, path: str, change: ContractChange, offer: Offer | None) -> Thing:
        """A thing as the change has it, whose signature may be that of what it hands its arguments on to."""
        return replace(thing, offer=offer) if offer and thing.place == (path, change.qualname) else thing

    def _effect(self, old: Met, new: Met, was: Thing, now: Thing, user: str) -> Impact | None:
        if old.signatures == new.signatures:
            return None
        summary = self.new.library.summary(user)
        impact = effect(old, new, summary.language if summary else "")
        if now.offer is not None and is_property(now.offer) and was.offer is not None and is_property(was.offer):
            wants_more = not all(param.is_optional for param in now.offer.signatures[-1].without_first().params)
            return Impact("reads it as a property, which can be given nothing", wants_more) if wants_more else None
        return impact

    def _lost(self, now: Thing, use: Reference) -> Impact | None:
        if now.what is What.OUTSIDE and use.use is not Use.IMPORT:
            return None
        if now.what is What.MODULE:
            return None
        how = "still " + how_used(use)
        is_proven = now.what is What.NOTHING and use.use not in _TYPES_ONLY and use.use is not Use.TEXT
        return Impact(how, is_proven)

    @staticmethod
    def _reshaped(was: Offer, now: Offer, use: Reference) -> Impact | None:
        """A class lost a base, or is put together in another way: whoever inherits from it or looks into it."""
        old, new = was.shape, now.shape
        if old is None or new is None or use.use in _PASSIVE:
            return None
        has_lost = not set(old.texts) <= set(new.texts)
        is_other = (old.keywords, old.decorators) != (new.keywords, new.decorators)
        return Impact(how_used(use)) if has_lost or is_other else None

    def _overridden(self, was: Thing, path: str, change: ContractChange, use: Reference) -> Impact | None:
        """What the changed override does to a call that is known by its base."""
        if use.shape is None or change.before.sort is not Sort.FUNCTION:
            return None
        after = change.after
        if after is None:
            is_needed = was.offer is not None and was.offer.is_left_open
            return Impact(f"still {how_used(use)}, which means it in some objects") if is_needed else None
        if after.sort is not Sort.FUNCTION:
            return None
        sides = ((self.old, change.before), (self.new, after))
        old, new = (
            met_by(resolver, Thing(What.FUNCTION, (path,), offer, was.receiver), use) for resolver, offer in sides
        )
        return effect(old, new, "python") if old and new and binds(old) and not binds(new) else None

    # What only a name says.

    def _suspected(self, path: str, change: ContractChange, use: Reference) -> Impact | None:
        if use.name != change.name or use.use in _TYPES_ONLY or use.receiver is Receiver.OUTSIDE:
            return None
        if use.use is Use.TEXT:
            return Impact("names it in a string") if change.after is None else None
        if use.receiver is Receiver.NONE or change.name in COMMON_ATTRIBUTES:
            return None
        if change.after is None:
            return Impact(f"still {how_used(use)}") if use.shape is not None or change.before.owner else None
        if use.shape is None or change.before.sort is not Sort.FUNCTION:
            return None
        summary = self.old.library.summary(path)
        is_passed = summary is None or linkage_of(summary.language).writes_receiver
        seen = use if is_passed else replace(use, receiver=Receiver.NONE)
        old = [met(each, seen) for each in change.before.signatures]
        new = [met(each, seen) for each in change.after.signatures]
        fitted, fits = (any(bind(use.shape, params) for params in side) for side in (old, new))
        return Impact(f"calls `{call_text(use)}`, which would no longer bind") if fitted and not fits else None

    # Overrides of what changed.

    def _overrides(self, path: str, change: ContractChange) -> Iterator[Concern]:
        owner, after = change.before.owner, change.after
        if not owner or after is None or after.sort is not Sort.FUNCTION or change.before.sort is not Sort.FUNCTION:
            return
        if change.name in CONSTRUCTORS or (change.name.startswith("__") and not change.name.endswith("__")):
            return
        for heir in self.new.lineage.heirs((path, owner)):
            own = self._own(heir, change.name)
            if own is not None and not self._is_left_to_admission(path, heir) and self._no_longer_fits(change, own):
                how = "overrides it with other parameters"
                yield Concern(heir[0], own.line, change.what, how, Evidence.CONTRACT, path, change.qualname)

    def _is_left_to_admission(self, path: str, heir: Place) -> bool:
        summary = self.new.library.summary(path)
        return heir[0] == path and summary is not None and summary.language == "python"

    def _own(self, heir: Place, name: str) -> Offer | None:
        summary = self.new.library.summary(heir[0])
        return summary.offered.get(f"{heir[1]}.{name}") if summary else None

    @staticmethod
    def _no_longer_fits(change: ContractChange, own: Offer) -> bool:
        if not own.signatures or change.after is None or erased(own) == erased(change.after):
            return False
        old, new, mine = (numbered(each.signatures[-1]) for each in (change.before, change.after, own))
        fitted = widens(old.params, mine.params) and not is_wholly_new(old, mine)
        return fitted and not (widens(new.params, mine.params) and not is_wholly_new(new, mine))

    # New uses of what is elsewhere.

    def _misfits(self) -> Iterator[Concern]:
        for path in self.changed:
            summary = self.new.library.summary(path)
            if summary is not None and not summary.problem:
                for use in added_uses(self.old.library.summary(path), summary):
                    concern = self._misfit(path, summary, use)
                    if concern is not None:
                        yield concern

    def _misfit(self, path: str, summary: Summary, use: Reference) -> Concern | None:
        if use.use is Use.TEXT or not leads_out(summary, use):
            return None
        thing = self.new.use(path, use)
        if thing.what is What.NOTHING:
            return self._missing(path, use)
        if use.use is Use.STORE:
            return self._patched(path, use, thing)
        if not thing.is_found or thing.path == path or use.shape is None or linkage_of(summary.language).may_omit:
            return None
        found = met_by(self.new, thing, use)
        if found is None or binds(found) or not self._is_plain(thing):
            return None
        name = call_text(found.reference)
        how = f"calls `{name}`, but it takes {found.signatures[-1]}"
        return Concern(path, use.line, "", how, Evidence.CONTRACT, thing.path, thing.place[1], is_broken=True)

    @staticmethod
    def _patched(path: str, use: Reference, thing: Thing) -> Concern | None:
        """Something of another file is replaced at run time."""
        if thing.what not in (What.FUNCTION, What.CLASS) or thing.path == path or is_test(path):
            return None
        how = f"replaces `{thing.place[1]}` of `{thing.path}` when it runs: what then calls it cannot be seen"
        return Concern(path, use.line, "", how, Evidence.SUSPICION, *thing.place, is_open=True)

    def _missing(self, path: str, use: Reference) -> Concern | None:
        module = self.new.chain(path, use.chain) if use.chain else None
        if module is None or module.what is not What.MODULE or use.use is Use.STORE:
            return None
        how = f"{how_used(use)}: `{use.name}`, but `{module.path}` has nothing of that name"
        return Concern(path, use.line, "", how, Evidence.CONTRACT, module.path, use.name, is_broken=True)

    def _is_plain(self, thing: Thing) -> bool:
        """Whether what is called is what it seems: the only one of its name, in no heir overridden."""
        offer = thing.offer
        if offer is None or not offer.is_sole:
            return False
        if thing.what is not What.FUNCTION or thing.reached_on is None:
            return True
        summary = self.new.library.summary(thing.path)
        if summary and linkage_of(summary.language).overloads and not self.new.lineage.of(thing.reached_on).is_closed:
            return False
        heirs = self.new.lineage.heirs(thing.reached_on)
        return not any(self._own(heir, offer.name) for heir in heirs)


def _fields_differ(change: ContractChange) -> bool:
    old, new = change.before.shape, change.after.shape if change.after else None
    return old is not None and new is not None and old.fields != new.fields


def _with_signature(offer: Offer, target: Offer) -> Offer:
    """A function that takes what its target takes, each with its own `self`."""
    taken = target.signatures[-1].without_first() if target.owner else target.signatures[-1]
    own = offer.signatures[-1].params[:1] if offer.owner else ()
    return replace(offer, signatures=(replace(offer.signatures[-1], params=(*own, *taken.params)),))


def _unproven(impact: Impact | None) -> Impact | None:
    return impact and Impact(impact.how)


def added_uses(before: Summary | None, after: Summary) -> Iterable[Reference]:
    """The uses of which there are more than before, wherever they stand."""
    left = Counter(map(_sameness, before.uses)) if before else Counter()
    for use in after.uses:
        same = _sameness(use)
        if left[same]:
            left[same] -= 1
        else:
            yield use


def leads_out(summary: Summary, use: Reference) -> bool:
    """Whether what a use means may stand in another file."""
    if use.chain or use.name in summary.imported:
        return True
    return linkage_of(summary.language).has_siblings and use.name not in summary.offered


def _sameness(use: Reference) -> tuple[object, ...]:
    return use.name, use.use, use.shape, use.chain
