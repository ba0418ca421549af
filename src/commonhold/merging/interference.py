"""Find changes of one side that interfere with separate changes of the other: no text overlaps, and yet the code does.

A statement that assigns a name and a statement that uses the name are not disjoint, however far apart. Only statements
that each side *changed* are compared: a name that both sides only use, or that neither touched, does not matter.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from commonhold.merging.alternatives import only_got_members
from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.exposed_values import exposed_values, no_longer_own
from commonhold.merging.given_names import names_given_by
from commonhold.merging.layout import Element, Shape
from commonhold.merging.local_variables import is_own
from commonhold.merging.member_owners import are_of_other_classes
from commonhold.merging.positional_arguments import reaches
from commonhold.merging.profile import Profile
from commonhold.merging.record import Edit, Record, Scope
from commonhold.merging.script import script
from commonhold.merging.verdict import NOWHERE, Reason, Spot

_WORTH_COPYING: Final = 16  # bytes: shorter texts are equal by chance
_YIELD: Final = re.compile(rb"\byield\b")  # makes a function a generator
_EVERYTHING: Final = b"*"  # the name that a star import defines
_FUNCTION_VALUES: Final = frozenset(
    {"anonymous_function", "arrow_function", "func_literal", "function_expression", "generator_function"}
)
_HOLDING_VALUES: Final = frozenset(
    {"expression_list", "lexical_declaration", "parenthesized_expression", "var_spec", "variable_declarator"}
)


@dataclass(frozen=True, slots=True)
class Delta:
    """One changed statement: its effects on names now and before; `scope` are the definitions around it.

    `grows` says that a type gained members of a union or enumeration, in any order, and is otherwise the same.
    """

    scope: Scope
    effects: Effects
    before: Effects
    is_gone: bool
    is_import: bool
    element: Element
    old: Element | None = None
    is_head: bool = False
    grows: bool = False

    @property
    def function(self) -> Element | None:
        """The outermost function around it: names assigned in there stay there."""
        return next((each for each in self.scope if is_function(each)), None)


def interference(record: Record, profile: Profile) -> list[Spot]:
    """Return a spot for each pair of changed statements of which one interferes with the other."""
    mine = [delta for edit in record.ours for delta in deltas_of(edit, profile)]
    others = [delta for edit in record.theirs for delta in deltas_of(edit, profile)]
    return [*_crossed(mine, others), *_misplaced(record.shifted, mine, others), *_copied(mine, others)]


def _crossed(mine: Sequence[Delta], others: Sequence[Delta]) -> list[Spot]:
    definers, users = _by_name(others, lambda each: each.defines), _by_name(others, lambda each: each.uses)
    touchers = _by_name(others, lambda each: each.touched)
    movers: dict[bytes, list[Delta]] = {}
    for each in others:
        for name in moved_anew(each):
            movers.setdefault(name, []).append(each)
    found: dict[tuple[int, int], Spot] = {}
    for one in mine:
        defines, uses = (_as_members(names, one) for names in (one.effects.defines, one.effects.uses))
        near = [each for name in defines for each in (*definers.get(name, ()), *users.get(name, ()))]
        near += [each for name in uses for each in (*definers.get(name, ()), *touchers.get(name, ()))]
        near += [each for name in (*one.effects.touched, *moved_anew(one)) for each in users.get(name, ())]
        near += [each for name in uses for each in movers.get(name, ())]
        near += others if _EVERYTHING in one.effects.defines else definers.get(_EVERYTHING, ())
        for other in {id(each): each for each in near}.values():
            shared = _shared(one, other)
            if shared:
                spot = _spot(one, other, shared)
                found.setdefault((spot.ours[0], spot.theirs[0]), spot)
    return list(found.values())


def _as_members(names: frozenset[bytes], delta: Delta) -> frozenset[bytes]:
    """Return names, and their other forms: in some languages `this.name` may be written `name`."""
    if not delta.element.profile.node_effects.has_outer_variables:
        return names
    return names | {name[1:] if name.startswith(b".") else b"." + name for name in names}


def _by_name(deltas: Iterable[Delta], names: Callable[[Effects], frozenset[bytes]]) -> dict[bytes, list[Delta]]:
    found: dict[bytes, list[Delta]] = {}
    for each in deltas:
        for name in names(each.effects):
            found.setdefault(name, []).append(each)
    return found


def _shared(one: Delta, other: Delta) -> frozenset[bytes]:
    """Return the names that one assigns and the other assigns or uses, if both mean the same thing."""
    if one.grows and other.grows and one.element.name == other.element.name and one.scope == other.scope:
        return frozenset()
    both = one.effects.defines & other.effects.defines
    if one.is_import and other.is_import and _origin(one) == _origin(other):
        both = frozenset()
    crossed = (one.effects.defines & other.effects.uses) | (other.effects.defines & one.effects.uses)
    if _EVERYTHING in one.effects.defines ^ other.effects.defines:
        crossed |= {_EVERYTHING}
    same = frozenset(name for name in both | crossed if _is_same_thing(name, one, other))
    return same | _by_two_names(one, other) | _by_two_names(other, one) | _reached_into(one, other)


def _by_two_names(one: Delta, other: Delta) -> frozenset[bytes]:
    """Return the members that a function reaches as `name`, the other side as `this.name`; one of them assigns it."""
    if one.function is None or not one.element.profile.node_effects.has_outer_variables:
        return frozenset()
    defined = (name for name in one.effects.defines if b"." + name in other.effects.defines | other.effects.uses)
    used = (name for name in one.effects.uses if b"." + name in other.effects.defines)
    return frozenset(name for name in {*defined, *used} if not is_own(name, one.function))


def _reached_into(one: Delta, other: Delta) -> frozenset[bytes]:
    """Return the objects of a function that one side changes in part, and the other uses whole or calls a method of.

    The object that the function is a method of does not count: all that the two sides do there is done to it.
    """
    if one.function is None or one.function is not other.function:
        return frozenset()
    pairs = ((one.effects, other.effects), (other.effects, one.effects))
    found = {name for first, second in pairs for name in first.touched & (second.whole | second.receivers)}
    found |= (moved_anew(one) & other.effects.uses) | (moved_anew(other) & one.effects.uses)
    return frozenset(name for name in found if name.decode(errors="replace") not in one.element.profile.receivers)


def moved_anew(delta: Delta) -> frozenset[bytes]:
    """Return the variables whose value a changed statement newly takes away, so that no other code has it."""
    moving = delta.element.profile.node_effects.moving
    if not moving or delta.function is None or delta.is_gone:
        return frozenset()
    before = _moved(delta.old.node, moving) if delta.old is not None else frozenset()
    return frozenset(
        name for name in _moved(delta.element.node, moving) - before if not _is_copied(name, delta.function)
    )


def _moved(root: Node, moving: Mapping[str, str]) -> frozenset[bytes]:
    found, stack = set(), [root]
    while stack:
        node = stack.pop()
        stack += node.named_children
        called = node.child_by_field_name("function")
        kind = node.type if called is None else f"{node.type} {(called.text or b'').decode(errors='replace')}"
        place = moving.get(kind)
        if place is not None:
            parts = node.children_by_field_name(place) if place else node.named_children
            listed = (inner for each in parts if each.type == "argument_list" for inner in each.named_children)
            parts = [*parts, *listed]
            found |= {each.text or b"" for each in parts if each.type == "identifier"}
    return frozenset(found)


def _is_copied(name: bytes, function: Element) -> bool:
    """Whether a variable is of a type whose values are copied, as its declaration shows: a number or a reference."""
    form = (
        rb"\b%s\s*(?::\s*(?:&|[iu](?:8|16|32|64|128|size)\b|f(?:32|64)\b|bool\b|char\b)|=\s*(?:&|-?\d|true\b|false\b))"
    )
    return re.search(form % re.escape(name), function.text) is not None


def _origin(delta: Delta) -> bytes:
    """Return the source of an import's names: in Python the module, which comes first; else the whole text."""
    text = delta.element.text
    return text.partition(b"import")[0].strip() if delta.element.profile.has_indented_blocks else text


def _is_same_thing(name: bytes, one: Delta, other: Delta) -> bool:
    if one.function is not None and one.function is other.function:
        return True
    if name.startswith(b"."):
        return not are_of_other_classes(name, one, other)
    # A name of the module is visible in functions; a name of a function stays inside, unless it is declared otherwise.
    return all(each.function is None or not is_own(name, each.function) for each in (one, other))


def _misplaced(shifted: Iterable[tuple[Scope, int]], mine: Iterable[Delta], others: Iterable[Delta]) -> Iterator[Spot]:
    """Yield new calls of a function to which both sides added a parameter at one place: positions may have shifted."""
    ours, theirs = ({name: delta for delta in side for name in delta.effects.calls} for side in (mine, others))
    for scope, place in shifted:
        forms = {form for each in scope[-2:] if each.name for form in (each.name, b"." + each.name)}
        called = sorted(
            name
            for name in forms & (ours.keys() | theirs.keys())
            if any(
                reaches(each.element.node, scope, place)
                for side in (mine, others)
                for each in side
                if name in each.effects.calls
            )
        )
        if called:
            shown = (scope[-1].name or b"").decode(errors="replace")
            why = f"both sides added a parameter to {shown!r} at one place, and new code calls it"
            places = (side[called[0]].element.rows if called[0] in side else NOWHERE for side in (ours, theirs))
            yield Spot(Reason.INTERFERES, why, NOWHERE, *places)


def _copied(mine: Sequence[Delta], others: Sequence[Delta]) -> Iterator[Spot]:
    """Yield places where one side copied a statement that the other changed: the copy keeps the old text."""
    for changed, writing, is_ours in ((mine, others, True), (others, mine, False)):
        written = [each for each in writing if each.old is None and not each.is_head]
        for one in changed:
            old = one.old.text if one.old is not None and not one.is_head else b""
            if b"(" not in old or len(old) < _WORTH_COPYING:
                continue
            for other in written:
                if old in other.element.text and not _is_moved(other.element, one.scope):
                    first, second = (one, other) if is_ours else (other, one)
                    why = "one side copied a statement that the other changed"
                    yield Spot(Reason.INTERFERES, why, ours=first.element.rows, theirs=second.element.rows)


def _is_moved(definition: Element, scope: Scope) -> bool:
    """Whether a new definition contained the changed statement, at another place: the statement is merged there."""
    return definition.is_definition and any(each.name == definition.name for each in scope)


def _spot(one: Delta, other: Delta, shared: frozenset[bytes]) -> Spot:
    names = ", ".join(sorted({repr(name.decode(errors="replace").lstrip(".")) for name in shared}))
    is_gone = one.is_gone or other.is_gone
    if is_gone:
        why = f"one side took away what gives {names} a meaning, the other's new code counts on it"
    else:
        why = f"one side changed what {names} is, and the other changed code that counts on it"
    reason = Reason.DANGLING if is_gone else Reason.INTERFERES
    return Spot(reason, why, ours=one.element.rows, theirs=other.element.rows)


def is_offer(delta: Delta) -> bool:
    """Whether a change may affect other code: all but those in a body that set no attribute and contain no `yield`."""
    if delta.function is None or delta.is_head:
        return True
    texts = (each.text for each in (delta.old, delta.element) if each is not None)
    sets = delta.effects.defines | delta.before.defines
    return any(name.startswith(b".") for name in sets) or any(_YIELD.search(text) for text in texts)


def is_function(element: Element) -> bool:
    """Whether an element defines a function."""
    return element.definition.type in element.profile.functions


def deltas_of(edit: Edit, profile: Profile) -> Iterator[Delta]:
    """Yield the statements that an edit changed, each by itself."""
    if edit.old is None or edit.new is None:
        element = edit.new or edit.old
        if element is not None and element.node.is_named:
            yield _whole(edit, element, profile)
        return
    if edit.old.kind != edit.new.kind or edit.old.text == edit.new.text:
        return
    if edit.is_head:
        if _is_head_changed(edit.old, edit.new):
            yield from _heads(edit.old, edit.new, edit.scope, profile)
        yield from _exposed(edit.old, edit.new, edit.scope)
        return
    if edit.old.shape is Shape.BLOCK:
        yield from _inside(edit.old, edit.new, edit.scope, profile)
    elif edit.old.has_body or edit.old.node.type in profile.blocks:
        yield from _compound(edit.old, edit.new, edit.scope, profile)
    elif not edit.old.is_prose:
        yield _whole(edit, edit.new, profile)


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
    """Yield the changed parts; those without a body count as one, the head."""
    inner = (*scope, old) if old.is_definition else scope
    changes = script(old, new)
    for one, other in zip(old.children, changes.kept, strict=True):
        if one.holds_body:
            yield from deltas_of(Edit(one, other, inner), profile)
    for each in (each for hunk in changes.hunks for each in hunk.new if each.holds_body):
        yield from deltas_of(Edit(None, each, inner), profile)
    if _is_head_changed(old, new):
        yield from _heads(old, new, scope, profile)
    yield from _exposed(old, new, scope)


def _exposed(old: Element, new: Element, scope: Scope) -> Iterator[Delta]:
    """Yield, like new statements, what a function now reads and did not read before.

    These are values that are assigned in it, and variables around it, which variables of its own hid before.
    """
    if is_function(old) and is_function(new):
        effects = exposed_values(old, new)
        if effects.uses or effects.calls:
            yield Delta((*scope, old), effects, Effects(), is_gone=False, is_import=False, element=new)
        if outer := no_longer_own(old, new):
            yield Delta(scope, Effects(uses=outer), Effects(), is_gone=False, is_import=False, element=new)


def _is_head_changed(old: Element, new: Element) -> bool:
    before, after = ([each.text for each in side.children if not each.holds_body] for side in (old, new))
    return before != after


def _heads(old: Element, new: Element, scope: Scope, profile: Profile) -> Iterator[Delta]:
    """Yield the effect of a head on code outside, and for a definition that of its parameters on the code inside."""
    yield _head(old, new, scope, profile)
    if not old.is_definition and _is_value_of(old, scope) and not _only_gained_optional(old, new):
        named = Effects(known_as({scope[-1].name or b""}, scope[:-1]))
        yield Delta(scope[:-1], named, named, is_gone=False, is_import=False, element=new, is_head=True)
    if old.is_definition:
        bodies = profile.blocks | profile.clauses
        before, after = (
            {each.text: each for part in side.children if not part.holds_body for each in _entries(part)}
            for side in (old, new)
        )
        changed = [
            entries[text] for entries in (before, after) for text in before.keys() ^ after.keys() if text in entries
        ]
        inside = effects_of([each.node for each in changed], profile, skip=bodies)
        given = {name.partition(b"(")[0] for each in changed for name in names_given_by(each.node)}
        names = inside.defines | {each.text for each in changed if each.node.type in profile.identifiers} | given
        effects = Effects(frozenset(name for name in names if not name.startswith(b".")))
        yield Delta((*scope, old), effects, Effects(), is_gone=False, is_import=False, element=new, is_head=True)


def _is_value_of(function: Element, scope: Scope) -> bool:
    """Whether a function without a name is the value of the definition around it, which is called by that name."""
    if function.node.type not in _FUNCTION_VALUES or not scope or not scope[-1].name:
        return False
    around = function.node.parent
    while around is not None and around.type in _HOLDING_VALUES and around.start_byte > scope[-1].definition.start_byte:
        around = around.parent
    return around is not None and around.start_byte <= scope[-1].definition.start_byte


def _entries(part: Element) -> Iterator[Element]:
    """Yield the parameters in a part of a head."""
    if part.shape is Shape.LIST:
        yield from part.children
    elif part.node.type == "parameter":  # in Kotlin and Swift they are no list
        yield part
    elif part.shape is Shape.PARTS:
        for child in part.children:
            yield from _entries(child)


def _head(old: Element, new: Element, scope: Scope, profile: Profile) -> Delta:
    bodies = profile.blocks | profile.clauses
    before = effects_of([old.node], profile, skip=bodies)
    effects = effects_of([new.node], profile, skip=bodies)
    effects = replace(effects, defines=effects.defines | before.defines, uses=effects.uses | before.uses)
    if old.is_definition:
        is_same_contract = old.name == new.name and _only_gained_optional(old, new)
        names = {(each.name or b"").partition(b"(")[0] for each in (old, new)}
        defines = frozenset() if is_same_contract else known_as(names, scope)
        if defines and profile.node_effects.has_outer_variables and not is_function(old):
            defines |= names  # a type inside another is named there without a path
        effects = Effects(defines, effects.uses - names, effects.calls)
    grows = old.is_definition and only_got_members(old, new)
    return Delta(scope, effects, before, is_gone=False, is_import=False, element=new, is_head=True, grows=grows)


def known_as(names: Iterable[bytes], scope: Scope) -> frozenset[bytes]:
    """Return names as other code uses them: members as attributes, overloaded functions without their brackets."""
    names = [name.partition(b"(")[0] for name in names]
    is_member = bool(scope) and not is_function(scope[-1])
    return frozenset(b"." + name for name in names) if is_member else frozenset(names)


def _only_gained_optional(old: Element, new: Element) -> bool:
    """Whether every call that was right before is still right, by the head alone."""
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
        other is not None and one.text == other.text for one, other in zip(old.children, changes.kept, strict=True)
    )
    return kept and all(map(_may_be_left_out, (each for hunk in changes.hunks for each in hunk.new)))


def _may_be_left_out(parameter: Element) -> bool:
    node, profile = parameter.node, parameter.profile
    if node.type == "keyword_parameter":  # of Ruby, which needs no default
        return node.child_by_field_name("value") is not None
    return node.type in profile.optional_entries | profile.keyword_only_marks


def _whole(edit: Edit, element: Element, profile: Profile) -> Delta:
    is_import = element.node.type in profile.imports
    before, after = (
        effects_of([each.node], profile) if each is not None else Effects() for each in (edit.old, edit.new)
    )
    # An import assigns only names that it newly defines, or no longer defines.
    defines = before.defines ^ after.defines if is_import else before.defines | after.defines
    if edit.scope and not is_function(edit.scope[-1]):
        defines |= known_as((name for name in defines if not name.startswith(b".")), edit.scope)
    effects = replace(after, defines=defines)
    return Delta(edit.scope, effects, before, edit.new is None, is_import, element, edit.old)
