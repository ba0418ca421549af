"""Whether what one side changed alone bears on what the other changed alone: no text meets, and yet the code does.

A statement that gives a name a value and a statement that uses the name are not disjoint, however far apart. What is
compared is what each side *changed*: a name that both only use is no concern, nor is one that neither touched.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.layout import Element, Shape
from commonhold.merging.profile import Profile
from commonhold.merging.record import Edit, Scope
from commonhold.merging.script import script
from commonhold.merging.verdict import Reason, Spot

_EVERYTHING: Final = b"*"  # what a star import gives a value


@dataclass(frozen=True, slots=True)
class Delta:
    """One changed statement: what it does to names, and did before; `scope` are the definitions around it."""

    scope: Scope
    effects: Effects
    before: Effects
    is_gone: bool
    is_import: bool
    element: Element
    is_head: bool = False

    @property
    def function(self) -> Element | None:
        """The outermost function around it: names given a value in there stay there."""
        return next((each for each in self.scope if is_function(each)), None)

    @property
    def class_(self) -> Element | None:
        """The outermost class around it."""
        return next((each for each in self.scope if not is_function(each)), None)


def interference(ours: Sequence[Edit], theirs: Sequence[Edit], profile: Profile) -> list[Spot]:
    """A spot for each pair of changed statements that one of them bears on the other."""
    mine = [delta for edit in ours for delta in deltas_of(edit, profile)]
    others = [delta for edit in theirs for delta in deltas_of(edit, profile)]
    by_name = _users(others)
    found: dict[tuple[int, int], Spot] = {}
    for one in mine:
        near = {id(each): each for name in _all_names(one) for each in by_name.get(name, ())}
        for other in near.values():
            shared = _shared(one, other)
            if shared:
                spot = _spot(one, other, shared)
                found.setdefault((spot.ours[0], spot.theirs[0]), spot)
    return list(found.values())


def _all_names(delta: Delta) -> frozenset[bytes]:
    return delta.effects.defines | delta.effects.uses


def _users(deltas: Iterable[Delta]) -> dict[bytes, list[Delta]]:
    users: dict[bytes, list[Delta]] = {}
    for each in deltas:
        for name in _all_names(each):
            users.setdefault(name, []).append(each)
    return users


def _shared(one: Delta, other: Delta) -> frozenset[bytes]:
    """The names that one gives a value and the other gives one or uses, where both mean the same thing."""
    both = one.effects.defines & other.effects.defines
    if one.is_import and other.is_import:
        both = frozenset()
    crossed = (one.effects.defines & other.effects.uses) | (other.effects.defines & one.effects.uses)
    if _EVERYTHING in one.effects.defines ^ other.effects.defines:
        crossed |= {_EVERYTHING}
    return frozenset(name for name in both | crossed if _is_same_thing(name, one, other))


def _is_same_thing(name: bytes, one: Delta, other: Delta) -> bool:
    if one.function is not None and one.function is other.function:
        return True
    if name.startswith(b"."):
        return one.class_ is not None and one.class_ is other.class_
    # A name of the module reaches into functions; a name of a function stays inside.
    definers = [each for each in (one, other) if name in each.effects.defines]
    return all(each.function is None for each in definers)


def _spot(one: Delta, other: Delta, shared: frozenset[bytes]) -> Spot:
    names = ", ".join(sorted(repr(name.decode(errors="replace").lstrip(".")) for name in shared))
    is_gone = one.is_gone or other.is_gone
    if is_gone:
        why = f"one side took away what gives {names} a meaning, the other's new code counts on it"
    else:
        why = f"one side changed what {names} is, and the other changed code that counts on it"
    reason = Reason.DANGLING if is_gone else Reason.INTERFERES
    return Spot(reason, why, ours=one.element.rows, theirs=other.element.rows)


def is_function(element: Element) -> bool:
    """Whether it defines a function."""
    return element.definition.type in element.profile.functions


def deltas_of(edit: Edit, profile: Profile) -> Iterator[Delta]:
    """The statements that an edit changed, each by itself."""
    if edit.old is None or edit.new is None:
        element = edit.new or edit.old
        if element is not None and element.node.is_named:
            yield _whole(edit, element, profile)
        return
    if edit.old.kind != edit.new.kind or edit.old.text == edit.new.text:
        return
    if edit.is_head:
        if _is_head_changed(edit.old, edit.new):
            yield _head(edit.old, edit.new, edit.scope, profile)
        return
    if edit.old.shape is Shape.BLOCK:
        yield from _inside(edit.old, edit.new, edit.scope, profile)
    elif edit.old.has_body:
        yield from _compound(edit.old, edit.new, edit.scope, profile)
    elif not edit.old.is_prose:
        yield _whole(Edit(edit.old, edit.new, edit.scope), edit.new, profile)


def _inside(old: Element, new: Element, scope: Scope, profile: Profile) -> Iterator[Delta]:
    changes = script(old, new)
    for index, (one, kept) in enumerate(zip(old.children, changes.kept, strict=True)):
        other = kept or changes.moved.get(index)
        if other is None or other.text != one.text:
            yield from deltas_of(Edit(one, other, scope), profile)
    for hunk in changes.hunks:
        for each in hunk.new:
            if changes.origin(each) is None:
                yield from deltas_of(Edit(None, each, scope), profile)


def _compound(old: Element, new: Element, scope: Scope, profile: Profile) -> Iterator[Delta]:
    """The parts that changed: those without a body count as one, the head."""
    inner = (*scope, old) if old.is_definition else scope
    changes = script(old, new)
    for one, other in zip(old.children, changes.kept, strict=True):
        if one.holds_body:
            yield from deltas_of(Edit(one, other, inner), profile)
    for each in (each for hunk in changes.hunks for each in hunk.new if each.holds_body):
        yield from deltas_of(Edit(None, each, inner), profile)
    if _is_head_changed(old, new):
        yield _head(old, new, scope, profile)


def _is_head_changed(old: Element, new: Element) -> bool:
    heads = ([each.text for each in side.children if not each.holds_body] for side in (old, new))
    return next(heads) != next(heads)


def _head(old: Element, new: Element, scope: Scope, profile: Profile) -> Delta:
    bodies = profile.blocks | profile.clauses
    before = effects_of([old.node], profile, skip=bodies)
    effects = effects_of([new.node], profile, skip=bodies)
    effects = replace(effects, defines=effects.defines | before.defines, uses=effects.uses | before.uses)
    if old.is_definition:
        is_same_contract = old.name == new.name and _only_gained_optional(old, new)
        defines = frozenset() if is_same_contract else known_as({old.name or b"", new.name or b""}, scope)
        effects = Effects(defines, effects.uses - {old.name or b"", new.name or b""}, effects.calls)
    return Delta(scope, effects, before, is_gone=False, is_import=False, element=new, is_head=True)


def known_as(names: Iterable[bytes], scope: Scope) -> frozenset[bytes]:
    """A member of a class is used as an attribute."""
    is_member = bool(scope) and not is_function(scope[-1])
    return frozenset(b"." + name for name in names) if is_member else frozenset(names)


def _only_gained_optional(old: Element, new: Element) -> bool:
    """Whether every call that was right before is right now, as far as the head shows."""
    for one, other in zip(old.children, new.children, strict=False):
        if one.shape is Shape.BLOCK or one.text == other.text:
            continue
        if not any(each.shape is Shape.LIST for each in one.children):
            return False
        inner = zip(one.children, other.children, strict=False)
        if not all(left.text == right.text or _gained(left, right) for left, right in inner):
            return False
    return len(old.children) == len(new.children)


def _gained(old: Element, new: Element) -> bool:
    if old.shape is not Shape.LIST or new.shape is not Shape.LIST:
        return False
    changes = script(old, new)
    kept = all(
        one.name == other.name if other else False for one, other in zip(old.children, changes.kept, strict=True)
    )
    optional = old.profile.optional_entries | old.profile.keyword_only_marks
    return kept and all(each.node.type in optional for hunk in changes.hunks for each in hunk.new)


def _whole(edit: Edit, element: Element, profile: Profile) -> Delta:
    is_import = element.node.type in profile.imports
    before, after = (
        effects_of([each.node], profile) if each is not None else Effects() for each in (edit.old, edit.new)
    )
    # An import gives a value only to what it did not, or does no more.
    defines = before.defines ^ after.defines if is_import else before.defines | after.defines
    if edit.scope and not is_function(edit.scope[-1]):
        defines |= known_as((name for name in defines if not name.startswith(b".")), edit.scope)
    effects = replace(after, defines=defines)
    return Delta(edit.scope, effects, before, is_gone=edit.new is None, is_import=is_import, element=element)
