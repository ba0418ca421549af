"""The interface of a region for the rest of its file: parameters, decorators, bases, and whether a call fits them.

All is read from the syntax alone: the effect of a decorator that replaces a signature is unknown.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from commonhold.code.analysis.expressions import parts_of

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Argument = int | str

# Decorators that do not change the signature of a plain call.
TRANSPARENT: Final = frozenset(
    {"abstractmethod", "asynccontextmanager", "cache", "classmethod", "contextmanager", "deprecated", "final"}
    | {"lru_cache", "overload", "override", "staticmethod"}
)
# Decorators without effect at run time, and those without effect on how a call is made.
INERT: Final = frozenset({"final", "override"})
EVERY_BASE: Final = "object"  # each class inherits from it, whether or not its header says so
# Callers of one definition write few different shapes of calls.
_CALLS_KEPT: Final = 1024
_UNFELT: Final = frozenset({"abstractmethod", "cache", "deprecated", "lru_cache"})
_PROPERTY: Final = "property"
IMPLICIT_CLASSMETHODS: Final = frozenset({"__class_getitem__", "__init_subclass__"})


class ParamKind(StrEnum):
    """How a parameter takes its argument."""

    POSITIONAL_ONLY = "positional_only"
    POSITIONAL = "positional"
    VAR_POSITIONAL = "var_positional"
    KEYWORD_ONLY = "keyword_only"
    VAR_KEYWORD = "var_keyword"


_POSITIONS: Final = "*"
_KEYWORDS: Final = "**"
PREFIX: Final = {ParamKind.VAR_POSITIONAL: _POSITIONS, ParamKind.VAR_KEYWORD: _KEYWORDS}
BY_POSITION: Final = frozenset({ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL})
BY_NAME: Final = frozenset({ParamKind.POSITIONAL, ParamKind.KEYWORD_ONLY})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `default` and `annotation` are normalised source; None means there is none."""

    name: str
    kind: ParamKind
    default: str | None = None
    annotation: str | None = None

    @property
    def has_default(self) -> bool:
        """Whether a default is written."""
        return self.default is not None

    @property
    def is_optional(self) -> bool:
        """Whether a call may leave it out."""
        return self.has_default or self.kind in PREFIX

    @property
    def label(self) -> str:
        """The label by which callers may distinguish it: its name, or just `*` or `**`."""
        return PREFIX.get(self.kind, self.name)

    def __str__(self) -> str:
        return PREFIX.get(self.kind, "") + self.name + (f"={self.default}" if self.has_default else "")


Params = tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class CallableInterface:
    """The interface of a function or method that a caller sees. `params` includes `self` or `cls`."""

    params: Params
    is_async: bool = False
    is_generator: bool = False
    decorators: tuple[str, ...] = ()
    returns: str | None = None

    @property
    def active_decorators(self) -> tuple[str, ...]:
        """The decorators that may change behaviour, in order."""
        return _active(self.decorators)

    @property
    def manner(self) -> str:
        """The kind of a call's result: a returned value, a coroutine, or an iterator."""
        if self.is_generator:
            return "async generator" if self.is_async else "generator"
        return "coroutine" if self.is_async else "plain"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The result of the decorators, without their arguments; all names that end in `property` count as one."""
        names = (text.partition("(")[0] for text in self.active_decorators if last_name(text) not in _UNFELT)
        return tuple(_PROPERTY if name.endswith(_PROPERTY) else name for name in names)

    @property
    def is_transparent(self) -> bool:
        """Whether a call meets the parameters as they are written."""
        return all(last_name(text) in TRANSPARENT for text in self.decorators)

    def is_decorated(self, decorator: str) -> bool:
        """Whether `decorator` is among the decorators, under any module's name."""
        return any(last_name(text) == decorator for text in self.decorators)

    def without_first(self) -> "CallableInterface":
        """Return the interface without the parameter that `self` or `cls` takes."""
        has_first = bool(self.params) and self.params[0].kind in BY_POSITION
        return replace(self, params=self.params[1:] if has_first else self.params)

    def erased(self) -> "CallableInterface":
        """Return the interface without its annotations."""
        bare = tuple(replace(param, annotation=None) for param in self.params)
        return replace(self, params=bare, returns=None, decorators=self.active_decorators)

    def __str__(self) -> str:
        return f"({', '.join(_written(self.params))})"


def _written(params: Params) -> Iterator[str]:
    """Yield the parameters as source, with the bare `/` and `*` where they matter."""
    last: ParamKind | None = None
    for param in params:
        if last is ParamKind.POSITIONAL_ONLY and param.kind is not last:
            yield "/"
        if param.kind is ParamKind.KEYWORD_ONLY and last not in (param.kind, ParamKind.VAR_POSITIONAL):
            yield "*"
        yield str(param)
        last = param.kind
    if last is ParamKind.POSITIONAL_ONLY:
        yield "/"


@dataclass(frozen=True, slots=True)
class ClassInterface:
    """The content of a class statement besides its methods. `keywords` includes the metaclass."""

    bases: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    decorators: tuple[str, ...] = ()

    @property
    def active_decorators(self) -> tuple[str, ...]:
        """The decorators that may change behaviour, in order."""
        return _active(self.decorators)

    @property
    def plain_bases(self) -> tuple[str, ...]:
        """The bases without their type arguments, which only type checkers read."""
        return tuple(text.partition("[")[0] for text in self.bases)


def _active(decorators: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in decorators if last_name(text) not in INERT)


def of_callable(node: FunctionNode) -> CallableInterface:
    """Read the interface of a `def`."""
    return replace(of_head(node), is_generator=has_yield(node.body))


def of_head(node: FunctionNode) -> CallableInterface:
    """Read the interface of a `def` that is known to yield nothing."""
    return CallableInterface(
        params=_params(node.args),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        decorators=tuple(map(source_of, node.decorator_list)),
        returns=_optional_source(node.returns),
    )


def of_class(node: ast.ClassDef) -> ClassInterface:
    """Read the interface of a `class`."""
    return ClassInterface(
        bases=tuple(map(source_of, node.bases)),
        keywords=tuple((keyword.arg or "**", source_of(keyword.value)) for keyword in node.keywords),
        decorators=tuple(map(source_of, node.decorator_list)),
    )


def source_of(node: ast.expr) -> str:
    """Return normalised source of an expression. One too deep to unparse gives a stable stand-in."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.unparse(node)
    except RecursionError:
        return " ".join(_letters(part) for part in ast.walk(node))


def _letters(node: ast.AST) -> str:
    plain = (repr(value) for _, value in ast.iter_fields(node) if not isinstance(value, ast.AST | list))
    return " ".join((type(node).__name__, *plain))


def last_name(text: str) -> str:
    """Return the last name: `functools.lru_cache(maxsize=1)` gives `lru_cache`."""
    return text.partition("(")[0].rpartition(".")[2]


def qualified(class_name: str, name: str) -> str:
    """Return the qualified name of `name` in a class, or in the file if there is no class."""
    return f"{class_name}.{name}" if class_name else name


def _optional_source(node: ast.expr | None) -> str | None:
    return None if node is None else source_of(node)


def _params(args: ast.arguments) -> Params:
    positional = [*args.posonlyargs, *args.args]
    kinds = [ParamKind.POSITIONAL_ONLY] * len(args.posonlyargs) + [ParamKind.POSITIONAL] * len(args.args)
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return (
        *(_param(arg, kind, default) for arg, kind, default in zip(positional, kinds, defaults, strict=True)),
        *(_param(arg, ParamKind.VAR_POSITIONAL) for arg in (args.vararg,) if arg),
        *(_param(arg, ParamKind.KEYWORD_ONLY, default) for arg, default in named),
        *(_param(arg, ParamKind.VAR_KEYWORD) for arg in (args.kwarg,) if arg),
    )


def _param(arg: ast.arg, kind: ParamKind, default: ast.expr | None = None) -> Parameter:
    return Parameter(arg.arg, kind, _optional_source(default), _optional_source(arg.annotation))


def has_yield(body: Iterable[ast.AST]) -> bool:
    """Whether a function with this body is a generator."""
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(parts_of(node))
    return False


@dataclass(frozen=True, slots=True)
class CallShape:
    """The arguments of a call as far as the syntax shows them; a starred argument is not counted."""

    positional: int = 0
    keywords: tuple[str, ...] = ()
    has_star: bool = False
    has_double_star: bool = False

    @property
    def is_starred(self) -> bool:
        """Whether some arguments are only known at run time."""
        return self.has_star or self.has_double_star

    def __str__(self) -> str:
        named = (f"{name}=_" for name in self.keywords)
        parts = (*["_"] * self.positional, *["*_"] * self.has_star, *named, *["**_"] * self.has_double_star)
        return f"({', '.join(parts)})"


@cache
def _by_position(count: int) -> CallShape:
    return CallShape(count)


def shape_of(call: ast.Call) -> CallShape:
    """Read the shape of a call."""
    if not call.keywords and not any(isinstance(argument, ast.Starred) for argument in call.args):
        return _by_position(len(call.args))
    stars = sum(isinstance(argument, ast.Starred) for argument in call.args)
    names = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
    return CallShape(len(call.args) - stars, names, bool(stars), len(names) < len(call.keywords))


@dataclass(frozen=True, slots=True)
class Binding:
    """The parameter for each argument (a position or a keyword), and the parameters left to their defaults."""

    arguments: tuple[tuple[Argument, str], ...]
    defaulted: frozenset[str]


@lru_cache(maxsize=_CALLS_KEPT)
def bind(shape: CallShape, params: Params) -> Binding | None:
    """Bind a call to parameters as Python would; None if the call raises TypeError.

    `params` must not include `self` or `cls` if the call passes it implicitly. Of a starred call only the visible
    arguments are bound, and the starred ones are assumed to supply all missing ones.
    """
    arguments = (*_positional(shape.positional, params), *_keywords(shape, params))
    taken = {target for _, target in arguments}
    if None in taken or _is_doubled(arguments):
        return None
    left = [param for param in params if param.label not in taken]
    if not shape.is_starred and not all(param.is_optional for param in left):
        return None
    bound = tuple((argument, target) for argument, target in arguments if target is not None)
    return Binding(bound, frozenset(param.name for param in left if param.has_default))


def _positional(count: int, params: Params) -> Iterator[tuple[Argument, str | None]]:
    targets = [param.name for param in params if param.kind in BY_POSITION][:count]
    rest = _catch_all(params, ParamKind.VAR_POSITIONAL)
    yield from enumerate(targets)
    yield from ((index, rest) for index in range(len(targets), count))


def _keywords(shape: CallShape, params: Params) -> Iterator[tuple[Argument, str | None]]:
    named = {param.name for param in params if param.kind in BY_NAME}
    rest = _catch_all(params, ParamKind.VAR_KEYWORD)
    yield from ((name, name if name in named else rest) for name in shape.keywords)


def _catch_all(params: Params, kind: ParamKind) -> str | None:
    return next((param.label for param in params if param.kind is kind), None)


def _is_doubled(arguments: Sequence[tuple[Argument, str | None]]) -> bool:
    single = [target for _, target in arguments if target is not None and not target.startswith("*")]
    return len(single) != len(set(single))


class Effect(StrEnum):
    """The effect of a changed signature on one call."""

    NONE = "none"
    CHANGED = "changed"
    BROKEN = "broken"


@lru_cache(maxsize=_CALLS_KEPT)
def effect_on_call(shape: CallShape, before: Params, after: Params) -> Effect:
    """Compare how one call binds before and after.

    NONE: it binds both times to the same parameters, or only now binds at all. A renamed parameter in its old position
    counts as the same. So does one that is split off `*args` or `**kwargs` and takes their arguments, and one that is
    left out, whatever its default: the meaning of a default is no part of the call. A starred call is NONE only if
    `widens` holds for the parameters as such a call can reach them.
    """
    old, new = bind(shape, before), bind(shape, after)
    if new is None:
        return Effect.BROKEN
    if shape.is_starred:
        return Effect.NONE if widens(_reached_by(shape, before), _reached_by(shape, after)) else Effect.CHANGED
    if old is None:
        return Effect.NONE
    now, split = renamed(before, after), _split_off(before, after)
    arguments = {argument: now.get(target, target) for argument, target in old.arguments}
    is_alike = all(target in (arguments[argument], *split[arguments[argument]]) for argument, target in new.arguments)
    return Effect.NONE if is_alike else Effect.CHANGED


def _reached_by(shape: CallShape, params: Params) -> Params:
    """Return parameters as a starred call reaches them: without `*`, it can only name those after its positional ones.

    `call(first, **rest)` passes one argument by position, so that an optional parameter after it may be added anywhere.
    """
    if shape.has_star:
        return params
    places = {id(param) for param in _of_kinds(params, BY_POSITION)[: shape.positional]}
    return tuple(
        replace(param, kind=ParamKind.KEYWORD_ONLY)
        if param.kind is ParamKind.POSITIONAL and id(param) not in places
        else param
        for param in params
    )


def _split_off(before: Params, after: Params) -> defaultdict[str, tuple[str, ...]]:
    """Return the new parameters that take arguments of the former `*args` or `**kwargs`, by the label of that.

    A keyword names the meaning of its argument. A positional argument keeps its meaning if the parameters were taken
    off the front of `*args`: nothing stands before that, or it was renamed, since it holds only the rest. Otherwise
    `log(text, *args)` may have become `log(text, level, *args)`, and no caller passes a level.
    """
    old = {param.label: param for param in before}
    new = {param.label: param for param in after}
    added = [param for param in after if param.name not in {param.name for param in before}]
    found = defaultdict[str, tuple[str, ...]](tuple)
    if _KEYWORDS in old:
        found[_KEYWORDS] = tuple(param.name for param in added if param.kind in BY_NAME)
    rest, now = old.get(_POSITIONS), new.get(_POSITIONS)
    is_first = not _of_kinds(before, BY_POSITION)
    if rest is not None and (is_first or now is None or now.name != rest.name):
        found[_POSITIONS] = tuple(param.name for param in added if param.kind in BY_POSITION)
    return found


def renamed(before: Params, after: Params) -> dict[str, str]:
    """Return the new names of positional parameters by the old: at one place one name is gone and the other is new."""
    old_names, new_names = ({param.name for param in params} for params in (before, after))
    places = zip(_of_kinds(before, BY_POSITION), _of_kinds(after, BY_POSITION), strict=False)
    return {old.name: new.name for old, new in places if old.name not in new_names and new.name not in old_names}


def widens(before: Params, after: Params) -> bool:
    """Whether every call that binds to `before`, starred ones included, binds to `after` alike, whatever the defaults.

    True for added optional parameters, also for those that are split off `**kwargs`, and for a default given to a
    required parameter.
    """
    old_positions, new_positions = _of_kinds(before, BY_POSITION), _of_kinds(after, BY_POSITION)
    kept = new_positions[: len(old_positions)]
    opened = [new.name for old, new in zip(old_positions, kept, strict=False) if old.kind is not new.kind]
    added = [param for param in after if param.label not in {old.label for old in before}]
    return (
        len(kept) == len(old_positions)
        and all(map(_admits, old_positions, kept))
        and _named_kept(before, after)
        and all(param.is_optional for param in added)
        and not any(_was_caught(param, before) for param in added)
        and not (opened and _catch_all(before, ParamKind.VAR_KEYWORD))
    )


def _of_kinds(params: Params, kinds: Iterable[ParamKind]) -> list[Parameter]:
    return [param for param in params if param.kind in kinds]


def _named_kept(before: Params, after: Params) -> bool:
    mine = {param.label: param for param in after}
    others = [param for param in before if param.kind not in BY_POSITION]
    return all(param.label in mine and _admits(param, mine[param.label]) for param in others)


def _admits(old: Parameter, new: Parameter) -> bool:
    same_kind = old.kind is new.kind or (old.kind, new.kind) == (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL)
    return old.label == new.label and same_kind and (old.default is None or new.has_default)


def _was_caught(param: Parameter, before: Params) -> bool:
    """Whether a new parameter takes a position that belonged to `*args` before."""
    return param.kind in BY_POSITION and _catch_all(before, ParamKind.VAR_POSITIONAL) is not None
