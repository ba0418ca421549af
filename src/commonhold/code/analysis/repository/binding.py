"""The effect of a changed contract on one use of a name that may mean it."""

from dataclasses import replace
from typing import Final

from commonhold.code.analysis.chains import CALLED, ENTERED
from commonhold.code.analysis.effects import Impact
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.impact import COMMON_ATTRIBUTES
from commonhold.code.analysis.interface import last_name
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Sort
from commonhold.code.analysis.references import NAME_FAILS, Receiver, Reference, Use
from commonhold.code.analysis.repository.access import access_lost
from commonhold.code.analysis.repository.call_signatures import Met, effect, how_used, met_by
from commonhold.code.analysis.repository.changes import erased
from commonhold.code.analysis.repository.declared_types import parameter_change, result_change, types_of
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.framework_exposure import demands_more
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.resolution import Resolver, is_property
from commonhold.code.analysis.repository.states import States, Subject, has_owner, lost_bases
from commonhold.code.analysis.repository.summary import PLAIN, Offer
from commonhold.code.analysis.repository.suspicions import suspected
from commonhold.code.analysis.repository.symbols import Place, Thing, What

_TYPES_ONLY: Final = frozenset({Use.ANNOTATION, Use.EXPORT})
_PASSIVE: Final = _TYPES_ONLY | {Use.IMPORT, Use.TEXT, Use.FIXTURE}
_SEEN_IN_ONE_FILE: Final = frozenset({Receiver.NONE, Receiver.SELF, Receiver.CLS, Receiver.SUPER, Receiver.CLASS})
_PROTOCOL: Final = "Protocol"
_DOCUMENTATION: Final = "conf.py"
_HANDED_ON: Final = Impact("hands the class on, and its receiver may call it")


def concern_of(states: States, subject: Subject, user: str, use: Reference) -> Concern | None:
    """Return the effect of the change on a use in the file `user`; None if there is none."""
    was, now = _meanings(states, subject, user, use)
    if was.what is What.UNKNOWN:
        return _made(subject, user, use, _guessed(states, subject, user, use), Evidence.SUSPICION)
    if was.what is What.VALUE and was.place != subject.place:
        was, now = states.old.callee(user, use), states.new.callee(user, use)
    if _is_class_as_value(states, was, subject, use):
        return _made(subject, user, use, _HANDED_ON, Evidence.SUSPICION)
    is_partly_gone = _is_partly_gone(was, now)
    is_left = _is_seen_in_one_file(states, subject, user, use) and not is_partly_gone
    if is_left or not _is_meant(states, was, subject, use):
        return None
    if is_partly_gone:
        return _made(subject, user, use, _may_be_gone(use), Evidence.SUSPICION)
    if now.is_found and was.place != subject.place and _comes_down_to(states, was, subject):
        return _of_override(states, was, subject, user, use)
    evidence = Evidence.SUSPICION if use.use is Use.TEXT and _is_of_documentation(user) else Evidence.CONTRACT
    return _made(subject, user, use, _tied(states, was, now, subject, user, use), evidence)


def _meanings(states: States, subject: Subject, user: str, use: Reference) -> tuple[Thing, Thing]:
    """Return the meaning of a use before and after; an import that succeeds precedes its substitute in the file."""
    was, now = states.old.use(user, use), states.new.use(user, use)
    if was.place != subject.place and states.old.guarded(user, use).place == subject.place:
        imported = states.new.guarded(user, use)
        return (states.old.guarded(user, use), imported) if imported.is_found else (was, now)
    return was, now


def _is_of_documentation(path: str) -> bool:
    """Whether a file has the settings of Sphinx: its texts name objects that are documented, or are not to be."""
    folder, _, name = path.rpartition("/")
    return name == _DOCUMENTATION and folder.rpartition("/")[2].startswith("doc")


def _guessed(states: States, subject: Subject, user: str, use: Reference) -> Impact | None:
    """Return the possible effect of the change on a use of an unknown object."""
    if subject.change.after is None and _is_renamed_with_its_class(states, subject):
        return None
    is_own = use.name in COMMON_ATTRIBUTES and _is_given_here(states.old, user, use)
    return suspected(subject.change, use, linkage_of(_language(states.old, subject.path)), is_own=is_own)


def _is_renamed_with_its_class(states: States, subject: Subject) -> bool:
    """Whether a removed member exists unchanged in a new class: unknown objects may be of that class."""
    gone = subject.change.before
    for path in states.new.library.definers(gone.name) if gone.owner else ():
        old, new = states.old.library.summary(path), states.new.library.summary(path)
        for offer in new.offers if new else ():
            is_new = offer.owner and (old is None or offer.owner not in old.offered)
            if is_new and offer.name == gone.name and offer.sort is gone.sort and erased(offer) == erased(gone):
                return True
    return False


def _is_given_here(resolver: Resolver, user: str, use: Reference) -> bool:
    """Whether an unknown object is the result of a function or class of the repository, perhaps with its decorator."""
    for length in range(len(use.chain), 0, -1):
        thing = resolver.chain(user, use.chain[:length])
        if thing.is_found:
            is_entered = ENTERED in use.chain[length:]
            return thing.what in (What.FUNCTION, What.CLASS) and (is_entered or use.chain[length:].count(CALLED) != 1)
    return False


def _of_override(states: States, was: Thing, subject: Subject, user: str, use: Reference) -> Concern | None:
    """Return the effect on a use through a base of the changed override: proven for calls, else a suspicion."""
    evidence = Evidence.CONTRACT if use.shape is not None or subject.change.after is None else Evidence.SUSPICION
    return _made(subject, user, use, _overridden(states, was, subject, use), evidence)


def _made(subject: Subject, user: str, use: Reference, impact: Impact | None, evidence: Evidence) -> Concern | None:
    if impact is None:
        return None
    what = subject.change.what
    return Concern(user, use.line, what, impact.how, evidence, *subject.place, is_broken=impact.is_broken)


# Whether a use, as it was resolved before, is related to the change.


def _is_meant(states: States, was: Thing, subject: Subject, use: Reference) -> bool:
    if not was.is_found:
        return False
    if was.place == subject.place:
        return True
    if was.what is What.CLASS and use.shape is not None:
        return _is_made_by(states, was.place, subject)
    return _comes_down_to(states, was, subject) or _inherits_through(states, was, subject)


def _is_made_by(states: States, made: Place, subject: Subject) -> bool:
    """Whether calling a class calls the changed definition: its constructor, or its fields."""
    owner = subject.owner if subject.change.name in CONSTRUCTORS else subject.place
    return owner is not None and owner in states.old.lineage.of(made).places


def _comes_down_to(states: States, was: Thing, subject: Subject) -> bool:
    """Whether an object that is known by a base may be of the class whose override changed."""
    if subject.owner is None or was.what is not What.FUNCTION or was.offer is None or not was.offer.owner:
        return False
    if was.receiver is Receiver.SUPER or was.offer.name != subject.change.name:
        return False
    line = states.old.lineage.of(subject.owner).places
    return (was.path, was.offer.owner) in line and was.reached_on in line


def _inherits_through(states: States, was: Thing, subject: Subject) -> bool:
    """Whether a member is reached through a class whose bases changed."""
    is_class = subject.change.before.sort is Sort.CLASS
    return is_class and was.reached_on is not None and subject.place in states.old.lineage.of(was.reached_on).places


def _is_class_as_value(states: States, was: Thing, subject: Subject, use: Reference) -> bool:
    """Whether a class with a changed construction is used as a value, neither called nor accessed for a member."""
    is_value = was.what is What.CLASS and use.shape is None and use.use is Use.NAME
    is_construction = subject.change.name in CONSTRUCTORS or _fields_differ(subject)
    return is_value and is_construction and demands_more(subject.change) and _is_made_by(states, was.place, subject)


def _fields_differ(subject: Subject) -> bool:
    old, new = subject.change.before.shape, subject.change.after.shape if subject.change.after else None
    return old is not None and new is not None and old.fields != new.fields


def _is_seen_in_one_file(states: States, subject: Subject, user: str, use: Reference) -> bool:
    """Whether `code.analysis.admission` checks this use, which lies in the edited file."""
    if subject.change.before.sort is Sort.CLASS and subject.change.after is not None:
        return False  # only this package knows its bases in other files
    is_python = _language(states.new, user) == "python"
    is_left = user == subject.path and is_python and not states.is_throughout and not subject.is_passed_on
    return is_left and use.receiver in _SEEN_IN_ONE_FILE


# The effect of the change on it.


def _tied(states: States, was: Thing, now: Thing, subject: Subject, user: str, use: Reference) -> Impact | None:
    if not now.is_found:
        return _lost(now, use)
    if hindered := access_lost(was, now, user, use, _language(states.new, user)):
        return hindered
    if use.use in _PASSIVE or was.offer is None or now.offer is None:
        return None
    if was.offer.sort is not now.offer.sort:
        return _resorted(was, now, use)
    if was.what is What.CLASS and use.shape is None:
        return _reshaped(states, was, now, use)
    return _called(states, was, now, subject, user, use)


def _lost(now: Thing, use: Reference) -> Impact | None:
    if NAME_FAILS in use.expects or now.what is What.MODULE or (now.what is What.OUTSIDE and use.use is not Use.IMPORT):
        return None
    is_likely_inherited = now.what is What.UNKNOWN and use.name in COMMON_ATTRIBUTES
    is_proven = now.what is What.NOTHING and use.use not in _TYPES_ONLY and use.use is not Use.TEXT
    return None if is_likely_inherited else Impact(f"still {how_used(use)}", is_proven)


def _is_partly_gone(was: Thing, now: Thing) -> bool:
    """Whether a function that was always defined is now defined in one branch only."""
    return was.offer is not None and now.offer is not None and now.offer.is_partial and not was.offer.is_partial


def _may_be_gone(use: Reference) -> Impact | None:
    is_ready = use.use in _TYPES_ONLY or NAME_FAILS in use.expects
    return None if is_ready else Impact(f"{how_used(use)}, which may not be there")


def _resorted(was: Thing, now: Thing, use: Reference) -> Impact | None:
    """Return the effect of another kind of definition; a value may have held a function, and be one now."""
    old, new = was.offer.sort if was.offer else None, now.offer.sort if now.offer else None
    if Sort.VALUE not in (old, new):
        return Impact(how_used(use))
    plain = next((each.offer for each in (was, now) if each.offer and PLAIN in each.offer.modifiers), None)
    if plain is None or Sort.FUNCTION not in (old, new):
        return None
    is_called = use.shape is not None
    if old is Sort.VALUE:
        return None if is_called else Impact(f"{how_used(use)}, without calling it")
    return Impact(how_used(use)) if is_called else None


def _reshaped(states: States, was: Thing, now: Thing, use: Reference) -> Impact | None:
    """Return the effect of a lost base or another decorator of a class on its subclasses and on accesses to it."""
    is_heir_of_less = use.use is Use.BASE and lost_bases(states, was.place, now.place)
    is_decorated_anew = _class_decorators(was) != _class_decorators(now)
    return Impact(how_used(use)) if is_heir_of_less or is_decorated_anew else None


def _class_decorators(thing: Thing) -> tuple[str, ...]:
    return thing.offer.shape.decorators if thing.offer and thing.offer.shape else ()


def _called(states: States, was: Thing, now: Thing, subject: Subject, user: str, use: Reference) -> Impact | None:
    old = met_by(states.old, _as_changed(was, subject, subject.change.before), use)
    new = met_by(states.new, _as_changed(now, subject, subject.change.after), use)
    if old is None or new is None:
        return None if old is new else Impact(how_used(use))
    if old.signatures == new.signatures:
        return None
    if was.offer and now.offer and is_property(was.offer) and is_property(now.offer):
        return _read(was.offer, now.offer)
    impact = effect(old, new, _language(states.new, user)) or (
        _typed(old, new, use) if linkage_of(_language(states.new, now.path)).checks_types else None
    )
    is_in_doubt = impact is not None and not impact.is_broken and use.shape is not None and use.shape.is_starred
    return None if is_in_doubt and _is_only_described(states.new, now) else impact


def _typed(old: Met, new: Met, use: Reference) -> Impact | None:
    """Return the effect of other declared types, which a compiler checks, on a use of the only definition."""
    if len(old.signatures) != 1 or len(new.signatures) != 1:
        return None
    was, now = old.signatures[0], new.signatures[0]
    if use.shape is None:
        return Impact(how_used(use)) if types_of(was) != types_of(now) else None
    is_affected = result_change(was, now) or parameter_change(was, now)
    return Impact(how_used(use)) if is_affected else None


def _is_only_described(resolver: Resolver, thing: Thing) -> bool:
    """Whether a method belongs to a protocol that no class of the repository inherits: a call of it runs another."""
    owner = (thing.path, thing.offer.owner) if thing.offer is not None else None
    offer = resolver.lineage.offer(owner) if owner is not None and owner[1] else None
    texts = offer.shape.texts if offer is not None and offer.shape is not None else ()
    is_protocol = any(last_name(text.partition("[")[0]) == _PROTOCOL for text in texts)
    return is_protocol and owner is not None and not resolver.lineage.heirs(owner)


def _as_changed(thing: Thing, subject: Subject, offer: Offer | None) -> Thing:
    """Return a thing with the changed definition, whose signature may be that of the function it forwards to."""
    return replace(thing, offer=offer) if offer and thing.place == subject.place else thing


def _read(was: Offer, now: Offer) -> Impact | None:
    if was.signatures[-1].manner != now.signatures[-1].manner:
        return Impact("reads it as a property, which gives something else now")
    if all(param.is_optional for param in now.signatures[-1].without_first().params):
        return None
    return Impact("reads it as a property, which can be given nothing", is_broken=True)


def _overridden(states: States, was: Thing, subject: Subject, use: Reference) -> Impact | None:
    """Return the effect of a changed override on a use known by its base; unproven, the object may be another."""
    before, after = subject.change.before, subject.change.after
    if after is None:
        is_needed = was.offer is not None and was.offer.is_left_open and has_owner(states, subject)
        return Impact(f"still {how_used(use)}, which means it in some objects") if is_needed else None
    if before.sort is not Sort.FUNCTION or after.sort is not Sort.FUNCTION or use.use in _PASSIVE:
        return None
    old = met_by(states.old, _override(subject, before, was), use)
    new = met_by(states.new, _override(subject, after, was), use)
    impact = effect(old, new, _language(states.new, subject.path)) if old and new else None
    return impact and Impact(impact.how)


def _override(subject: Subject, offer: Offer, was: Thing) -> Thing:
    return Thing(What.FUNCTION, (subject.path,), offer, was.receiver)


def _language(resolver: Resolver, path: str) -> str:
    summary = resolver.library.summary(path)
    return summary.language if summary else ""
