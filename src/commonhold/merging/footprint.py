"""The reach of some statements when they run: memory that they read or change, unknown code, a way out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from commonhold.merging.node_effects import kind_of, part
from commonhold.merging.profile import Profile
from commonhold.merging.syntax import root_of

_METACLASS: Final = re.compile(rb"\bmetaclass\s*=(?!\s*(?:(?:abc\.)?ABCMeta\b|(?:enum\.)?Enum(?:Meta|Type)\b))")
_STATIC: Final = re.compile(rb"(?:\w+\s+)*static\b[^{}()]*=(?!\s*new (?:Weak)?(?:Map|Set)\b)[^>]*\w\(")
_HOOK: Final = b"__init_subclass__"


@dataclass(slots=True)
class Footprint:
    """The immediate effects of statements besides those on names: closures and definitions are not run.

    `does_anything` says that code of unknown effect may run: a call, or a node that is in no table. `loads` says that
    an import may run the code of a module, `leaves` that the code after them may not be reached. `reads` are the
    variables whose value is read at once: not those of a closure, and not the names of called functions.
    """

    does_anything: bool = False
    loads: bool = False
    leaves: bool = False
    uses_fields: bool = False
    reads_items: bool = False
    changes_items: bool = False
    reads: set[bytes] = field(default_factory=set)


def footprint_of(nodes: Iterable[Node], profile: Profile) -> Footprint:
    """Return the footprint of statements that are run one after the other."""
    found = Footprint()
    for node in nodes:
        if node.type in profile.identifiers or node.type in profile.members:
            found.does_anything = True  # a name that stands alone is run for its effect: it is a call without brackets
        _run(node, profile, found)
    return found


def is_known(kind: str, profile: Profile) -> bool:
    """Whether a table lists the effects of this kind of node completely."""
    effects = profile.node_effects
    is_call = kind in profile.calls or kind in profile.method_calls or kind in effects.creations
    is_place = kind in profile.members or kind in profile.subscripts or kind in profile.identifiers
    return kind in effects.plain or kind in effects.inert or is_call or is_place or kind in profile.imports


def _run(node: Node, profile: Profile, into: Footprint) -> None:
    effects = profile.node_effects
    kind = kind_of(node, effects)
    into.does_anything = into.does_anything or (kind in effects.running and _runs_code(node, profile))
    if not node.is_named or kind in effects.inert or kind in profile.comments:
        return
    if kind in profile.identifiers:
        into.reads.add(node.text or b"")
        return
    into.leaves = into.leaves or kind in profile.exits
    if kind in profile.imports:
        into.loads = into.loads or effects.imports_run
        return
    if called := _called(node, kind, profile):
        into.leaves = into.leaves or called in effects.leaving
        is_import = called in effects.importing
        into.loads = into.loads or is_import
        is_iterating = called in effects.iterating and not _is_given_a_function(node)
        into.changes_items = into.changes_items or is_iterating
        into.does_anything = into.does_anything or not (is_import or is_iterating or called in effects.pure)
    elif kind in profile.subscripts:
        into.reads_items = True
    elif kind in profile.members:
        into.uses_fields = True
    elif not is_known(kind, profile) or (kind in effects.classes and _constructs(node, effects.pure)):
        into.does_anything = True
    _run_parts(node, kind, profile, into)


def _runs_code(class_: Node, profile: Profile) -> bool:
    """Whether the definition of a class runs code: statements in its body, a metaclass, a hook of a base class.

    The values of its attributes are assumed to have no effect but to be made, except those of static ones that call.
    """
    body, bases = class_.child_by_field_name("body"), class_.child_by_field_name("superclasses")
    head = (bases.text or b"") if bases is not None else b""
    if _METACLASS.search(head) or (head and _HOOK in (root_of(class_).text or b"")):
        return True
    members = body.named_children if body is not None else []
    run = (each for each in members if each.type == "expression_statement" and each.named_child_count)
    calls = any(each.named_children[0].type in profile.calls for each in run)
    return calls or any(each.type == "class_static_block" or _STATIC.match(each.text or b"") for each in members)


def _run_parts(node: Node, kind: str, profile: Profile, into: Footprint) -> None:
    binding = profile.bindings.get(kind)
    label = _label(node, kind, profile)
    for index, child in enumerate(node.children):
        place = node.field_name_for_child(index) or ""
        if binding is not None and child.is_named and (place in binding.defines):
            _assign(child, profile, into)
        elif child != label:
            _run(child, profile, into)


def _label(node: Node, kind: str, profile: Profile) -> Node | None:
    """Return the part that is a name without a value to be read: the member's name, or the called function's."""
    if kind in profile.members:
        return part(node, profile.members[kind][1])
    if kind in profile.method_calls:
        return part(node, profile.method_calls[kind])
    called = part(node, profile.calls[kind]) if kind in profile.calls else None
    is_name = called is not None and (called.type in profile.identifiers or called.type in profile.members)
    return called if is_name else None


def _assign(node: Node, profile: Profile, into: Footprint) -> None:
    """Record an assignment; assigning an item changes the object that holds it."""
    if node.type in profile.identifiers:
        return
    if node.type in profile.calls and node.type not in profile.node_effects.operators:
        into.changes_items = True  # Scala writes an item as a call
        _run_parts(node, node.type, profile, into)
        return
    if kind_of(node, profile.node_effects) in profile.subscripts:
        into.changes_items = True
    _run(node, profile, into)


def _called(node: Node, kind: str, profile: Profile) -> str:
    """Return the text of the called expression; a mark that no name contains if it has no name."""
    effects = profile.node_effects
    if kind == profile.decorator and kind:
        return _decorates(node, profile)
    if kind in profile.calls:
        named = part(node, profile.calls[kind])
    elif kind in profile.method_calls:
        named = None if _receiver(node) is not None else part(node, profile.method_calls[kind])
    elif kind in effects.creations:
        named = part(node, effects.creations[kind])
        text = (named.text or b"").partition(b"<")[0] if named is not None else b""
        return text.decode(errors="replace") or "()"
    else:
        return ""
    return (named.text or b"").decode(errors="replace") if named is not None else "()"


def _decorates(decorator: Node, profile: Profile) -> str:
    """Return the name that a decorator calls if it is not written as a call itself."""
    named = part(decorator, "0")
    if named is None or named.type in profile.calls:
        return ""
    text = (named.text or b"").decode(errors="replace")
    return "property" if text.endswith((".setter", ".getter", ".deleter")) else text


def _is_given_a_function(call: Node) -> bool:
    """Whether a call has an argument by name, such as a sort key, which may be any code."""
    arguments = call.child_by_field_name("arguments")
    return arguments is not None and any(each.type == "keyword_argument" for each in arguments.named_children)


def _receiver(node: Node) -> Node | None:
    """Return the receiver of a method call."""
    return node.child_by_field_name("object") or node.child_by_field_name("receiver")


def _constructs(declaration: Node, pure: frozenset[str]) -> bool:
    """Whether a declaration runs a constructor of a class: it does not for numbers, pointers and references."""
    type_ = declaration.child_by_field_name("type")
    if type_ is None or type_.type in {"primitive_type", "sized_type_specifier", "placeholder_type_specifier"}:
        return False
    if (type_.text or b"").partition(b"<")[0].decode(errors="replace") in pure:
        return False
    declared = declaration.child_by_field_name("declarator")
    if declared is not None and declared.type == "init_declarator":
        declared = declared.child_by_field_name("declarator")
    return declared is None or declared.type not in {
        "pointer_declarator",
        "reference_declarator",
        "function_declarator",
    }
