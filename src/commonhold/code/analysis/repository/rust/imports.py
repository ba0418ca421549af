"""The imports of a file of Rust: trees of `use`, declared modules, other crates."""

from collections.abc import Iterator

from tree_sitter import Node

from commonhold.code.analysis.repository.rust.expressions import PATH_ROOTS, module_of
from commonhold.code.analysis.repository.summary import STAR
from commonhold.code.analysis.repository.syntax import Scope, Walk
from commonhold.code.regions.node_names import has

Path = tuple[str, ...]


def use_declaration(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `use a::{b, c as d, e::*};` at the top level, in a module inside of the file, or in a function."""
    for path, name, each in _leaves(walk, node.child_by_field_name("argument")):
        placed = _placed(path, scope)
        if name == STAR:
            if placed[:1] not in ((), ("self",)) or len(placed) > 1:
                walk.take(each, "", "::".join(placed), STAR, is_public=True)
        elif scope is walk.top:
            module, member = _split(placed)
            walk.take(each, name, module, member, is_public=True)
        else:
            _bind(scope, name, placed)


def _bind(scope: Scope, name: str, placed: Path) -> None:
    """Bind an import that is visible in a part of the file only."""
    if placed[0] == "self":
        if placed[1:] and placed[1:] != (name,):
            scope.bind(name, 0, placed[1:], is_alias=True)
        return
    module, member = _split(placed)
    value = (f"import {module}", *member.split(".")) if member else (f"import {module}",)
    scope.bind(name, 0, value, is_alias=True)


def _placed(path: Path, scope: Scope) -> Path:
    """Return the path as the file itself would write it: `self` is the file."""
    inside = module_of(scope)
    if path[:1] == ("self",):
        return ("self", *inside, *path[1:])
    while path[:1] == ("super",) and inside:
        inside, path = inside[:-1], path[1:]
        if path[:1] != ("super",) or not inside:
            rest = path[1:] if path[:1] == ("self",) else path
            return rest if rest[:1] == ("super",) else ("self", *inside, *rest)
    return path


def _split(path: Path) -> tuple[str, str]:
    """Return the module and the imported name: from a type on, written with a capital, it is a name in the module."""
    count = next((index for index, part in enumerate(path) if part[:1].isupper()), len(path) - 1)
    if len(path) == 1 and path[0] not in PATH_ROOTS and not path[0][:1].isupper():
        return path[0], ""
    return "::".join(path[:count]) or "self", ".".join(path[count:])


def _leaves(walk: Walk, tree: Node | None) -> Iterator[tuple[Path, str, Node]]:
    """Yield each name that a tree of `use` imports: its path, its name here, and its node."""
    pending: list[tuple[Node | None, Path]] = [(tree, ())]
    while pending:
        node, before = pending.pop()
        if node is None:
            continue
        if node.type in ("scoped_use_list", "use_list"):
            path = before + _parts(walk, node.child_by_field_name("path"))
            listed = node.child_by_field_name("list") or node
            pending += [(each, path) for each in reversed(listed.named_children)]
        elif node.type == "use_wildcard":
            yield before + _parts(walk, next(iter(node.named_children), None)), STAR, node
        elif node.type == "use_as_clause":
            path = _joined(before, _parts(walk, node.child_by_field_name("path")))
            yield path, walk.field(node, "alias"), node
        elif node.type not in ("line_comment", "block_comment"):
            path = _joined(before, _parts(walk, node))
            if path:
                yield path, path[-1], node


def _joined(before: Path, path: Path) -> Path:
    """Join paths: `a::{self}` is `a`."""
    return before if before and path == ("self",) else before + path


def _parts(walk: Walk, node: Node | None) -> Path:
    return tuple(part.strip() for part in walk.text(node).split("::") if part.strip()) if node is not None else ()


def declared_module(walk: Walk, node: Node, scope: Scope) -> bool:
    """Record `mod m;`; return whether the module was of that kind."""
    if has(node, "declaration_list"):
        return False
    name = walk.field(node, "name")
    inside = "::".join(("self", *module_of(scope), name))
    if scope is walk.top:
        walk.take(node, name, inside, "", is_public=True)
    else:
        scope.bind(name, 0, (f"import {inside}",), is_alias=True)
    return True


def other_crate(walk: Walk, node: Node, _scope: Scope) -> None:
    """Visit `extern crate a as b;`."""
    name = walk.field(node, "name")
    walk.take(node, walk.field(node, "alias") or name, name, "", is_public=True)
