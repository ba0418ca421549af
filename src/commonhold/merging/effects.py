"""The effects of a piece of code on names, as its syntax shows them: the names that it assigns, and those it uses."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from commonhold.merging.node_effects import kind_of, part
from commonhold.merging.profile import Binding, Profile

_NOTHING: Final = Binding()
_WILDCARDS: Final = frozenset({"asterisk", "use_wildcard", "wildcard_import", "namespace_wildcard"})
_NAMED: Final = frozenset({"import_spec", "using_directive"})
# For an imported path, the field of the part that becomes a name here; without an entry, the last part.
_PATHS: Final = {
    "qualified_identifier": "name",
    "qualified_name": "name",
    "scoped_identifier": "name",
    "scoped_use_list": "list",
}
# Types that C names with a word before them, and the nodes that may be of such a type.
_SPECIFIERS: Final = frozenset({"class_specifier", "enum_specifier", "struct_specifier", "union_specifier"})
_SPECIFIED: Final = frozenset(
    {
        "cast_expression",
        "declaration",
        "field_declaration",
        "function_definition",
        "parameter_declaration",
        "sizeof_expression",
        "type_definition",
        "type_descriptor",
    }
)
_ORIGINS: Final = frozenset({"module_name", "source"})


@dataclass(frozen=True, slots=True)
class Effects:
    """Assigned names and used names; an attribute has a dot before it, whatever object it belongs to.

    `calls` are the called names, also those called by the syntax of the language (a `with` calls `__exit__`),
    `receivers` the objects whose methods are called, `touched` the objects of which a member or an item is assigned,
    `whole` the names that are used otherwise than to reach a member or an item.
    """

    defines: frozenset[bytes] = frozenset()
    uses: frozenset[bytes] = frozenset()
    calls: tuple[bytes, ...] = ()
    receivers: frozenset[bytes] = frozenset()
    touched: frozenset[bytes] = frozenset()
    whole: frozenset[bytes] = frozenset()


def bound_in(node: Node, profile: Profile) -> frozenset[bytes]:
    """Return the names that a definition assigns inside itself, its parameters among them."""
    gathered = _Gathered()
    for child in node.children:
        _gather(child, profile, gathered, frozenset())
    return frozenset(gathered.plain)


@dataclass(slots=True)
class _Gathered:
    defines: set[bytes] = field(default_factory=set)
    plain: set[bytes] = field(default_factory=set)
    uses: set[bytes] = field(default_factory=set)
    calls: list[bytes] = field(default_factory=list)
    receivers: set[bytes] = field(default_factory=set)
    touched: set[bytes] = field(default_factory=set)
    whole: set[bytes] = field(default_factory=set)


def effects_of(nodes: Iterable[Node], profile: Profile, *, skip: frozenset[str] = frozenset()) -> Effects:
    """Return the effects of some nodes, without those inside of nodes of the kinds `skip`."""
    gathered = _Gathered()
    for node in nodes:
        # A node that is given explicitly is not skipped itself.
        _gather(node, profile, gathered, skip - {node.type})
    return Effects(
        frozenset(gathered.defines),
        frozenset(gathered.uses),
        tuple(gathered.calls),
        frozenset(gathered.receivers),
        frozenset(gathered.touched),
        frozenset(gathered.whole),
    )


def _gather(node: Node, profile: Profile, into: _Gathered, skip: frozenset[str]) -> None:
    kind = kind_of(node, profile.node_effects)
    if kind in skip or kind in profile.comments:
        return
    into.calls.extend(profile.implied.get(kind, ()))
    if kind in profile.texts:
        named = _named_in_text(node, profile)
        into.uses |= named
        into.whole |= named
    if kind in profile.identifiers:
        into.uses.add(node.text or b"")
        into.whole.add(node.text or b"")
    elif kind in profile.members:
        into.whole.add(_member(node, profile, into, skip))
    elif kind in profile.imports:
        into.defines.update(_imported(node, profile))
    else:
        _general(node, profile, into, skip)


def _general(node: Node, profile: Profile, into: _Gathered, skip: frozenset[str]) -> None:
    kind = kind_of(node, profile.node_effects)
    binding = _NOTHING if _only_names(node) else profile.bindings.get(kind, _NOTHING)
    if kind in profile.calls:
        _called(node, profile, into)
    elif kind == profile.decorator and node.named_children and node.named_children[0].type not in profile.calls:
        into.calls.append(node.named_children[0].text or b"")
    elif kind in profile.method_calls:
        _method_called(node, profile.method_calls[kind], profile, into)
    inner = _Gathered() if binding.is_scope else into
    for index, child in enumerate(node.children):
        field = node.field_name_for_child(index) or ""
        if field in binding.names or not child.is_named:
            continue
        if kind in profile.subscripts and child == part(node, profile.subscripts[kind]):
            _holder(child, profile, into, skip)
        elif field in binding.defines or ("" in binding.defines and field == ""):
            _target(child, profile, into if field == "name" else inner, skip)
            if binding.mutates:
                _gather(child, profile, inner, skip)
        else:
            _gather(child, profile, inner, skip)
    if inner is not into:
        _leave_scope(inner, into)


def _named_in_text(node: Node, profile: Profile) -> set[bytes]:
    """Return the variables that a text names, such as `{count}` in a macro of Rust."""
    around, form = profile.texts[node.type]
    is_used = not around or (node.parent is not None and node.parent.type == around)
    return set(form.findall(node.text or b"")) if is_used else set()


def _only_names(node: Node) -> bool:
    """Whether a node such as `struct shelf` only names a type, and neither defines nor declares it."""
    if node.type not in _SPECIFIERS or node.child_by_field_name("body") is not None or node.parent is None:
        return False
    return node.parent.type in _SPECIFIED


def _leave_scope(inner: _Gathered, into: _Gathered) -> None:
    """Keep names that are assigned inside a scope there, except attributes: their objects outlive it."""
    into.uses |= inner.uses - inner.defines
    into.calls += inner.calls
    into.receivers |= inner.receivers - inner.defines
    into.touched |= inner.touched - inner.defines
    into.whole |= inner.whole - inner.defines
    into.defines |= {name for name in inner.defines if name.startswith(b".")}


def _member(node: Node, profile: Profile, into: _Gathered, skip: frozenset[str]) -> bytes:
    """Record a member and the object that holds it; return the member's name."""
    holder, member = _member_parts(node, profile)
    if holder is not None:
        _holder(holder, profile, into, skip)
    name = _dotted(member)
    into.uses.add(name)
    return name


def _member_parts(node: Node, profile: Profile) -> tuple[Node | None, Node | None]:
    kind = node.type
    where = profile.members.get(kind) or profile.setters[kind]
    return part(node, where[0]), part(node, where[1])


def _dotted(member: Node | None) -> bytes:
    """Return the name of a member with a dot before it, whichever operator the language writes."""
    return b"." + ((member.text or b"").lstrip(b".?!") if member is not None else b"")


def _holder(node: Node, profile: Profile, into: _Gathered, skip: frozenset[str]) -> None:
    """Record an object that is used only to reach its member or item."""
    if node.type in profile.identifiers:
        into.uses.add(node.text or b"")
    elif node.type in profile.members:
        _member(node, profile, into, skip)
    else:
        _gather(node, profile, into, skip)


def _target(node: Node, profile: Profile, into: _Gathered, skip: frozenset[str]) -> None:
    """Record the effect of an assignment on its left side."""
    kind = kind_of(node, profile.node_effects)
    if kind in profile.identifiers:
        into.defines.add(node.text or b"")
        into.plain.add(node.text or b"")
    elif kind in profile.members or _is_setter(node, profile):
        name = _member(node, profile, into, skip)
        into.defines.add(name)
        into.uses.discard(name)
        into.touched |= _named_along(_member_parts(node, profile)[0], profile)
    elif kind in profile.subscripts:
        _gather(node, profile, into, skip)
        held = part(node, profile.subscripts[kind])
        if held is not None:
            into.touched |= _named_along(held, profile)
            _changed_in_place(held, profile, into)
    elif kind in profile.bindings:
        _general(node, profile, into, skip)
    elif kind in profile.node_effects.inert:
        _gather(node, profile, into, skip)  # a type beside the name
    else:
        for child in node.named_children:
            _target(child, profile, into, skip)


def _changed_in_place(node: Node, profile: Profile, into: _Gathered) -> None:
    """Record that an object is changed in place: its name, which may be one of the module, counts as assigned."""
    if node.type in profile.identifiers:
        into.defines.add(node.text or b"")
    else:
        _target(node, profile, into, frozenset())


def _is_setter(node: Node, profile: Profile) -> bool:
    """Whether a call without arguments stands on the left of an assignment: it assigns a member."""
    where = profile.setters.get(node.type)
    return where is not None and part(node, where[0]) is not None and node.child_by_field_name("arguments") is None


def _named_along(node: Node | None, profile: Profile) -> set[bytes]:
    """Return the names of the objects along a path of members."""
    found: set[bytes] = set()
    while node is not None:
        if node.type in profile.members:
            holder, member = _member_parts(node, profile)
            found.add(_dotted(member))
            node = holder
        elif kind_of(node, profile.node_effects) in profile.subscripts:
            node = part(node, profile.subscripts[kind_of(node, profile.node_effects)])
        else:
            if node.child_count == 0 or node.type in profile.identifiers:
                found.add(node.text or b"")
            return found
    return found


def _called(node: Node, profile: Profile, into: _Gathered) -> None:
    """Record a call; a method that is known to change its receiver counts as an assignment to it."""
    function = part(node, profile.calls[node.type])
    if function is None or function.type not in profile.members:
        into.calls.append((function.text or b"") if function is not None else b"")
        return
    holder, member = _member_parts(function, profile)
    if member is None or holder is None:
        return
    into.calls.append(_dotted(member))
    if (holder.text or b"").decode() not in profile.receivers:
        into.receivers |= _named_thing(holder, profile)
    is_mutator = _dotted(member)[1:].decode() in profile.mutators
    if is_mutator and (holder.text or b"").decode() not in profile.receivers:
        _changed_in_place(holder, profile, into)


def _method_called(node: Node, field: str, profile: Profile, into: _Gathered) -> None:
    into.calls.append(_dotted(part(node, field)))
    holder = node.child_by_field_name("object") or node.child_by_field_name("receiver")
    if holder is not None and (holder.text or b"").decode() not in profile.receivers:
        into.receivers |= _named_thing(holder, profile)


def _named_thing(node: Node, profile: Profile) -> set[bytes]:
    """Return the name of an object that stands alone, or of the attribute that holds it."""
    if node.type in profile.identifiers:
        return {node.text or b""}
    return {_dotted(_member_parts(node, profile)[1])} if node.type in profile.members else set()


def _imported(node: Node, profile: Profile) -> Iterator[bytes]:
    """Yield the names that an import defines; a star stands for any name."""
    alias = node.child_by_field_name("alias")
    if alias is not None:
        yield alias.text or b""
    elif node.type in _WILDCARDS:
        yield b"*"
    elif node.type == "dotted_name":
        yield (node.text or b"").partition(b".")[0]
    elif node.type in profile.identifiers:
        yield node.text or b""
    elif node.type in _NAMED:
        yield _named_by(node)
    elif node.type in _PATHS:
        yield from _imported(node.child_by_field_name(_PATHS[node.type]) or node.named_children[-1], profile)
    else:
        path = node.children_by_field_name("path")  # only the last part of a path becomes a name here
        for index, child in enumerate(node.children):
            if node.field_name_for_child(index) not in _ORIGINS and child not in path[:-1]:
                yield from _imported(child, profile)


def _named_by(node: Node) -> bytes:
    """Return the name that an import defines: in Go the package, in C# the alias or the whole namespace."""
    name, path = (node.child_by_field_name(field) for field in ("name", "path"))
    if path is None:
        return (name or node.named_children[-1]).text or b""
    if name is not None:
        return b"*" if name.type == "dot" else name.text or b""
    return (path.text or b"").strip(b'"`').rpartition(b"/")[2]
