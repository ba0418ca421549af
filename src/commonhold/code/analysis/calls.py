"""New calls in an edit that provably do not fit the definitions of their names in this file."""

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Final

from commonhold.code.analysis.expressions import dotted, walk
from commonhold.code.analysis.interface import (
    TRANSPARENT,
    CallableInterface,
    CallShape,
    FunctionNode,
    bind,
    last_name,
    shape_of,
    source_of,
)
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Module
from commonhold.code.analysis.references import CALL_FAILS, Receiver, Reference
from commonhold.code.analysis.scopes import DEFINED

Called = frozenset[tuple[str, CallShape]]

_CALLS: Final = re.compile(rb"(?<!def )\b(\w+)[\s\\]*[(#]|\braise\s+(\w+)|[\x80-\xff]")
_KNOWN_BASES: Final = frozenset({"from abc import ABC", "from typing import Generic"})
_EXCEPTIONS: Final = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
)
_BOUND: Final = frozenset({Receiver.SELF, Receiver.CLS})


def may_call(text: bytes, names: frozenset[bytes]) -> bool:
    """Whether a text may call one of these names: a search in the text saves many a parse."""
    return any(not any(words) or not names.isdisjoint(words) for words in _CALLS.findall(text))


def calls_in(node: ast.AST) -> Called:
    """Return the calls in a function, each by its last name and shape."""
    return frozenset(_calls(node))


def _calls(node: ast.AST) -> Iterator[tuple[str, CallShape]]:
    for part in walk(node):
        if isinstance(part, ast.Call):
            yield _name(part.func), shape_of(part)
        elif isinstance(part, ast.Raise) and part.exc is not None:
            yield _name(part.exc), CallShape()


def _name(node: ast.expr) -> str:
    return dotted(node).rpartition(".")[2]


def misfit(reference: Reference, module: Module) -> str | None:
    """Return why a call does not fit, as a clause; None if it fits, or if its target is uncertain."""
    shape = reference.shape
    if shape is None or shape.is_starred or CALL_FAILS in reference.expects:
        return None
    target = _target(reference, module)
    if target is None or bind(shape, target.params):
        return None
    prefix = f"{reference.receiver}." if reference.receiver in _BOUND else ""
    name = prefix + reference.name
    return f"calls `{name}{shape}`, but `{name}` takes {target}"


def _target(reference: Reference, module: Module) -> CallableInterface | None:
    """Return the signature that the call must fit, without arguments that Python itself passes."""
    if reference.receiver is Receiver.NONE:
        return _top_level(reference.name, module)
    if reference.receiver in _BOUND:
        return _method(reference, module)
    return None


def _top_level(name: str, module: Module) -> CallableInterface | None:
    if module.has_star_import or name in module.declared_global or not _is_sole(module, "", name):
        return None
    if name in module.classes:
        return _constructor(name, module)
    return _as_written(module, "", name)


def _is_sole(module: Module, class_name: str, name: str) -> bool:
    bounds = module.members(class_name).get(name, ())
    return len(bounds) == 1 and bounds[0].origin == DEFINED


def _as_written(module: Module, class_name: str, name: str) -> CallableInterface | None:
    """Return the only definition of a function, if no decorator can have replaced its signature."""
    nodes = module.functions.get((class_name, name), [])
    if len(nodes) != 1 or not all(_is_transparent(module, text) for text in _decorators(nodes[0])):
        return None
    return module.interfaces(class_name, name)[0]


def _decorators(node: FunctionNode | ast.ClassDef) -> list[str]:
    return [source_of(decorator) for decorator in node.decorator_list]


def _is_transparent(module: Module, decorator: str) -> bool:
    name = last_name(decorator)
    return name in TRANSPARENT and ("", name) not in module.functions and name not in module.classes


def _constructor(qualname: str, module: Module) -> CallableInterface | None:
    """Return how a class is called, if all that decides this stands in this file or is known."""
    chain = (qualname, *module.ancestors(qualname))
    if not all(_is_plain(each, module) for each in chain):
        return None
    owner = next((each for each in chain if (each, "__init__") in module.functions), None)
    if owner is not None and not any(module.makes_fields(each) for each in chain[: chain.index(owner)]):
        own = _as_written(module, owner, "__init__") if _is_sole(module, owner, "__init__") else None
        return own and own.without_first()
    return module.constructor(qualname) if all(map(module.is_closed, chain)) else None


def _is_plain(qualname: str, module: Module) -> bool:
    node = module.classes[qualname][-1]
    has_known_bases = all(_is_known_base(base, module) for base in node.bases)
    is_sole = len(module.classes[qualname]) == 1 and "__new__" not in module.members(qualname)
    return is_sole and has_known_bases and not node.keywords and module.has_plain_decorators(qualname)


def _is_known_base(base: ast.expr, module: Module) -> bool:
    name = dotted(base.value if isinstance(base, ast.Subscript) else base)
    bounds = module.names.get(name, ())
    if not bounds:
        return name == "object" or name in _EXCEPTIONS
    return len(bounds) == 1 and (name in module.classes or bounds[0].origin in _KNOWN_BASES)


def _method(reference: Reference, module: Module) -> CallableInterface | None:
    class_name, name = reference.class_name, reference.name
    if name in CONSTRUCTORS or len(module.classes.get(class_name, ())) != 1:
        return None
    provider = module.provider(class_name, name)
    if provider is None or (provider, name) not in module.functions or not _is_sole(module, provider, name):
        return None
    node = module.functions[provider, name][-1]
    if is_left_open(node) or not _is_reached(provider, class_name, name, module):
        return None
    found = _as_written(module, provider, name)
    if found is None or found.is_decorated("staticmethod"):
        return found
    passes = reference.receiver is Receiver.SELF or found.is_decorated("classmethod")
    return found.without_first() if passes else found


def _is_reached(provider: str, class_name: str, name: str, module: Module) -> bool:
    """Whether only this method can be meant: no other class, in this file or outside, takes precedence."""
    family = (class_name, *module.ancestors(class_name), *module.descendants(class_name))
    is_alone = not any(each != provider and module.sort_of(each, name) for each in family)
    is_assigned = any(module.is_instance_attribute(each, name) for each in family)
    return is_alone and not is_assigned and (provider == class_name or module.is_closed(class_name))


def is_left_open(node: FunctionNode) -> bool:
    """Whether a method does nothing but raise: subclasses in other files may take other parameters."""
    return isinstance(node.body[-1], ast.Raise) and len(node.body) <= 1 + (ast.get_docstring(node) is not None)
