"""Imports and exports of a file of JavaScript or TypeScript, in either module system.

A name that is exported under another name than it has here is recorded as an import from the file itself, whose module
name is empty: `export { a as b }`, `export default a`, `exports.f = function …`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import UNKNOWN
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.ecmascript.expressions import (
    FUNCTIONS,
    bound_names,
    module_text,
    required,
    signature,
)
from commonhold.code.analysis.repository.summary import MADE_NAMES, STAR
from commonhold.code.analysis.repository.syntax import OUTSIDE, Scope, Walk
from commonhold.code.regions.node_names import first_of, unquoted

ITSELF: Final = ""
_DEFAULT: Final = "default"
# The result of `require`: a namespace, or the value exported as a whole.
_WHOLE: Final = "="
_EXPORTS: Final = ("exports", "module.exports")
_NAMED: Final = frozenset(
    {
        "abstract_class_declaration",
        "class_declaration",
        "enum_declaration",
        "function_declaration",
        "function_signature",
        "generator_function_declaration",
        "interface_declaration",
        "internal_module",
        "module",
        "type_alias_declaration",
    }
)


def import_statement(walk: Walk, node: Node, _scope: Scope) -> None:
    """Visit `import a, { b as c } from "x"`, `import * as n from "x"`, `import a = require("x")`."""
    module = module_text(walk, node.child_by_field_name("source"))
    for clause in node.named_children:
        if clause.type == "import_clause":
            _clause(walk, clause, module)
        elif clause.type == "import_require_clause":
            name, source = first_of(clause, "identifier"), clause.child_by_field_name("source")
            if name is not None:
                walk.take(name, walk.text(name), module_text(walk, source), "")


def _clause(walk: Walk, clause: Node, module: str) -> None:
    for part in clause.named_children:
        if part.type == "identifier":
            walk.take(part, walk.text(part), module, _DEFAULT)
        elif part.type == "namespace_import":
            walk.take(part, walk.text(first_of(part, "identifier")), module, "")
        elif part.type == "named_imports":
            for name, given, each in _specifiers(walk, part, "import_specifier"):
                walk.take(each, given, module, name)


def _specifiers(walk: Walk, node: Node, kind: str) -> Iterator[tuple[str, str, Node]]:
    """Yield the names of a clause, each as exported there and as bound here."""
    for each in node.named_children:
        if each.type == kind:
            name = unquoted(walk.field(each, "name"))
            yield name, unquoted(walk.field(each, "alias")) or name, each


def exported(walk: Walk, node: Node) -> list[Node]:
    """Record the exports of an `export` at the top level; return the nodes that are still to be visited."""
    source = node.child_by_field_name("source")
    if source is not None:
        _passed_on(walk, node, module_text(walk, source))
        return []
    clause = first_of(node, "export_clause")
    if clause is not None:
        _listed(walk, clause)
        return []
    value = node.child_by_field_name("declaration") or node.child_by_field_name("value")
    is_whole = any(child.type == "=" for child in node.children)
    if value is None and is_whole:
        value = next(iter(node.named_children), None)
    if value is not None and (is_whole or any(child.type == _DEFAULT for child in node.children)):
        _export(walk, _DEFAULT)
        export_default(walk, value, walk.top, _DEFAULT)
    elif value is not None:
        for name in _declared(walk, value):
            _export(walk, name)
    return node.named_children


def _export(walk: Walk, name: str) -> None:
    if walk.exports is None:
        walk.exports = []
    walk.exports.append(name)


def _passed_on(walk: Walk, node: Node, module: str) -> None:
    clause, namespace = first_of(node, "export_clause"), first_of(node, "namespace_export")
    if clause is not None:
        for name, given, each in _specifiers(walk, clause, "export_specifier"):
            walk.take(each, given, module, name, is_public=True)
            _export(walk, given)
    elif namespace is not None:
        name = unquoted(walk.text(next(iter(namespace.named_children), None)))
        walk.take(node, name, module, "", is_public=True)
        _export(walk, name)
    else:
        walk.take(node, "", module, STAR, is_public=True)
        _export(walk, STAR)


def _listed(walk: Walk, clause: Node) -> None:
    for name, given, each in _specifiers(walk, clause, "export_specifier"):
        node = each.child_by_field_name("name")
        if node is not None:
            walk.use(node, Use.EXPORT, walk.top)
        if name != given:
            walk.take(each, given, ITSELF, name, is_public=True)
        _export(walk, given)


def _declared(walk: Walk, node: Node) -> Iterator[str]:
    """Yield the names that an exported declaration declares."""
    if node.type in _NAMED:
        name = walk.field(node, "name")
        yield unquoted(name).partition(".")[0]
    elif node.type == "ambient_declaration":
        for child in node.named_children:
            yield from _declared(walk, child)
    for declarator in node.named_children:
        if declarator.type == "variable_declarator":
            yield from map(walk.text, bound_names(declarator.child_by_field_name("name")))


def export_default(walk: Walk, value: Node, scope: Scope, qualname: str) -> None:
    """Offer the default export: a name of the file under another name, or a value that has no name here."""
    name = walk.field(value, "name") if value.type in _NAMED else walk.text(value)
    if value.type in _NAMED or value.type == "identifier":
        if name:
            walk.take(value, _DEFAULT, ITSELF, name, is_public=True)
        return
    if value.type in FUNCTIONS:
        draft = walk.offer_as(qualname, Sort.FUNCTION, value, scope)
        draft.signatures.append(signature(walk, value))
    elif value.type != "class":
        chain = walk.chain(value, scope)
        walk.offer_as(qualname, Sort.VALUE, value, scope, () if chain in (UNKNOWN, OUTSIDE) else chain)


def assigned(walk: Walk, left: Node, right: Node, scope: Scope) -> None:
    """Visit `exports.f = …`, `module.exports = …`, and functions that are assigned to properties."""
    text = walk.text(left)
    if text in _EXPORTS:
        _whole(walk, right, scope, text)
        return
    base, _, name = text.rpartition(".")
    if base in _EXPORTS:
        _member(walk, right, scope, text, name)
    elif left.type == "member_expression" and right.type in FUNCTIONS and text.replace(".", "").isidentifier():
        walk.offer_as(text, Sort.FUNCTION, right, scope).signatures.append(signature(walk, right))


def _whole(walk: Walk, right: Node, scope: Scope, text: str) -> None:
    """Visit `module.exports = …`."""
    module = required(walk, right) if right.type == "call_expression" else ""
    if module:
        walk.take(right, _DEFAULT, module, _DEFAULT, is_public=True)
        walk.take(right, "", module, STAR, is_public=True)
    elif right.type == "object":
        for each in right.named_children:
            _entry(walk, each, scope)
        if first_of(right, "spread_element") is not None:
            walk.mark(MADE_NAMES, right)
    elif right.type != "assignment_expression":
        walk.mark(MADE_NAMES, right)
        if right.type != "identifier":
            walk.take(right, _DEFAULT, ITSELF, text, is_public=True)
        export_default(walk, right, scope, text)


def _entry(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit an entry of an exported object."""
    if node.type == "method_definition":
        walk.offer_as(walk.field(node, "name"), Sort.FUNCTION, node, scope).signatures.append(signature(walk, node))
    elif node.type == "pair":
        value, name = node.child_by_field_name("value"), unquoted(walk.field(node, "key"))
        if value is not None and name:
            _member(walk, value, scope, name, name)


def _member(walk: Walk, right: Node, scope: Scope, qualname: str, name: str) -> None:
    """Visit `exports.name = …`: offered as `qualname`, imported by others as `name`."""
    module = required(walk, right) if right.type == "call_expression" else ""
    if module:
        walk.take(right, name, module, "", is_public=True)
    elif right.type == "identifier":
        if walk.text(right) != name:
            walk.take(right, name, ITSELF, walk.text(right), is_public=True)
    elif right.type != "assignment_expression":
        if right.type in FUNCTIONS:
            walk.offer_as(qualname, Sort.FUNCTION, right, scope).signatures.append(signature(walk, right))
        elif right.type != "class":
            walk.offer_as(qualname, Sort.VALUE, right, scope, walk.chain(right, scope))
        if qualname != name:
            walk.take(right, name, ITSELF, qualname, is_public=True)


def finish(walk: Walk) -> None:
    """Finish the parts that need the whole file: which imports are re-exported, and the meaning of `require`."""
    called = {use.name for use in walk.uses if use.chain is None and use.use in (Use.CALL, Use.BASE)}
    public = {each.member for each in walk.imports if each.module == ITSELF} | {*(walk.exports or ())}
    for index, each in enumerate(walk.imports):
        is_public = each.is_public or each.name in public
        is_whole = each.member == _WHOLE
        member = (_DEFAULT if each.name in called else "") if is_whole else each.member
        walk.imports[index] = replace(each, is_public=is_public, member=member)
    if walk.exports and STAR in walk.exports:
        walk.exports = None


def take_required(walk: Walk, name: Node, module: str) -> None:
    """Visit `const x = require("m")`, `const { a: b } = require("m")`."""
    if name.type == "identifier":
        walk.take(name, walk.text(name), module, _WHOLE)
        return
    for each in name.named_children:
        for bound in bound_names(each) if each.type != "rest_pattern" else ():
            text = walk.text(bound)
            walk.take(bound, text, module, walk.field(each, "key") or text)
