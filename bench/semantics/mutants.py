"""Real functions and classes, each changed in one mechanical way that its users may not survive."""

import ast
import random
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

EXTRA: Final = "commonhold_extra"
SUFFIX: Final = "_of_commonhold"
SEED: Final = 20
KEYWORDS: Final = re.compile(r"(?:async\s+)?def\s+|class\s+")
# Whoever leaves out a base that only says how type checkers should read the class changes nothing when it runs.
TYPING_ALONE: Final = frozenset({"Generic", "Protocol", "TypedDict", "NamedTuple"})

Function = ast.FunctionDef | ast.AsyncFunctionDef
Edit = tuple[int, int, bytes]
"""From, to (in bytes), and what stands there instead."""


class Kind(StrEnum):
    """What is done to a definition; the values are the names of the rows in the tables."""

    REQUIRED = "required parameter added"
    RENAMED = "function renamed"
    SPECIAL = "required parameter added, special methods"
    DEFAULT = "default removed"
    REORDERED = "parameters reordered"
    RETURN = "return type changed"
    OVERRIDE = "override signature changed"
    BASE = "base removed"
    ASYNC = "async added"


@dataclass(frozen=True)
class Mutant:
    """A file with one definition changed; `line` is where it begins."""

    path: str
    qualname: str
    kind: Kind
    line: int
    source: bytes

    def __str__(self) -> str:
        """Its name, as `src/flask/app.py:Flask.run: function renamed`."""
        return f"{self.path}:{self.qualname}: {self.kind}"


@dataclass(frozen=True)
class Definition:
    """A function or a class that is not inside a function; `bases` are those of the class that it is a member of."""

    node: Function | ast.ClassDef
    qualname: str
    bases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its own name."""
        return self.node.name

    @property
    def is_method(self) -> bool:
        """Whether it is a member of a class."""
        return "." in self.qualname

    @property
    def is_special(self) -> bool:
        """Whether Python itself calls it by its name."""
        return self.name.startswith("__") and self.name.endswith("__")

    def is_decorated(self, *names: str) -> bool:
        """Whether one of these decorates it."""
        decorators = (each.func if isinstance(each, ast.Call) else each for each in self.node.decorator_list)
        return any(ast.unparse(each).rpartition(".")[2] in names for each in decorators)


class Text:
    """The bytes of a file, with the places that the syntax tree speaks of."""

    def __init__(self, source: bytes) -> None:
        """Count the lines."""
        self.source = source
        self._starts = [0]
        for line in source.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def start(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        """Where a node begins."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        """Where a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def name(self, node: Function | ast.ClassDef) -> tuple[int, int]:
        """From where to where the name of a definition stands."""
        start = self.start(node)
        found = KEYWORDS.match(self.source[start:].decode())
        assert found
        start += len(found[0].encode())
        return start, start + len(node.name.encode())

    def opening(self, node: Function) -> int:
        """The place after the parenthesis that opens the parameters."""
        return self.source.index(b"(", self.name(node)[1]) + 1

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file with every edit made."""
        source = self.source
        for start, end, new in sorted(edits, reverse=True):
            source = source[:start] + new + source[end:]
        return source


def definitions(tree: ast.Module) -> list[Definition]:
    """Every definition that is not inside a function; of several by one name, the last."""
    found = {each.qualname: each for each in _definitions(tree.body, "", ())}
    return sorted(found.values(), key=lambda each: each.node.lineno)


def _definitions(body: Iterable[ast.stmt], prefix: str, bases: tuple[str, ...]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Function):
            yield Definition(node, prefix + node.name, bases)
        elif isinstance(node, ast.ClassDef):
            yield Definition(node, prefix + node.name, bases)
            own = tuple(_last_name(base) for base in node.bases)
            yield from _definitions(node.body, f"{prefix}{node.name}.", own)
        elif isinstance(node, ast.If | ast.Try):
            yield from _definitions([*node.body, *node.orelse], prefix, bases)


def _last_name(base: ast.expr) -> str:
    return ast.unparse(base.value if isinstance(base, ast.Subscript) else base).rpartition(".")[2]


@dataclass(frozen=True)
class Lineage:
    """The classes of a project by their bare names: their bases and their methods."""

    bases: Mapping[str, tuple[str, ...]]
    methods: Mapping[str, frozenset[str]]

    def overrides(self, definition: Definition) -> bool:
        """Whether a class above has a method of this name."""
        pending, seen = list(definition.bases), set[str]()
        while pending:
            name = pending.pop()
            if definition.name in self.methods.get(name, ()):
                return True
            if name not in seen:
                pending.extend(self.bases.get(name, ()))
            seen.add(name)
        return False


def lineage(trees: Iterable[ast.Module]) -> Lineage:
    """Who inherits from whom, in all files together."""
    bases: dict[str, tuple[str, ...]] = {}
    methods: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for node in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        bases[node.name] = (*bases.get(node.name, ()), *map(_last_name, node.bases))
        methods[node.name] |= {each.name for each in node.body if isinstance(each, Function)}
    return Lineage(bases, methods)


def mutants(files: Mapping[str, bytes], limits: Mapping[Kind, int], seed: int = SEED) -> list[Mutant]:
    """A sample of what can be done to the definitions in `files`, the same each time."""
    trees = {path: ast.parse(source) for path, source in sorted(files.items())}
    known = lineage(trees.values())
    every = [mutant for path, tree in trees.items() for mutant in _of_file(path, tree, Text(files[path]), known)]
    return [mutant for kind in Kind for mutant in _sample(every, kind, limits, seed)]


def _sample(every: Sequence[Mutant], kind: Kind, limits: Mapping[Kind, int], seed: int) -> list[Mutant]:
    """Taken one after the other in a shuffled order: a lower limit takes some of what a higher one takes."""
    found = [mutant for mutant in every if mutant.kind is kind]
    random.Random(f"{seed} {kind}").shuffle(found)  # noqa: S311 - the same sample each time
    return list(islice((mutant for mutant in found if _compiles(mutant.source)), limits.get(kind, 0)))


def _of_file(path: str, tree: ast.Module, text: Text, known: Lineage) -> Iterator[Mutant]:
    for definition in definitions(tree):
        if definition.is_decorated("overload"):
            continue
        for kind, mutate in MUTATIONS.items():
            for edits in mutate(definition, text, known):
                source = text.edited(edits)
                if source != text.source:
                    yield Mutant(path, definition.qualname, kind, definition.node.lineno, source)


def _compiles(source: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "mutant", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def _required(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    if isinstance(definition.node, Function) and (not definition.is_special or definition.name == "__init__"):
        yield [_extra(definition.node, text)]


def _special(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    if isinstance(definition.node, Function) and definition.is_special and definition.name != "__init__":
        yield [_extra(definition.node, text)]


def _extra(node: Function, text: Text) -> Edit:
    """One more required parameter, by position where nothing optional is before it: no call that was right gives it."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    if args.kwonlyargs:
        last, default = args.kwonlyargs[-1], args.kw_defaults[-1]
        return _after(text, default or last, f", {EXTRA}")
    if args.vararg:
        return _after(text, args.vararg, f", {EXTRA}")
    if args.defaults:
        return _after(text, args.defaults[-1], f", *, {EXTRA}")
    if positional:
        return _after(text, positional[-1], f", {EXTRA}")
    start = text.opening(node)
    return start, start, f"{EXTRA}{', ' if args.kwarg else ''}".encode()


def _after(text: Text, node: ast.expr | ast.arg, new: str) -> Edit:
    return text.end(node), text.end(node), new.encode()


def _renamed(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    if isinstance(definition.node, Function) and not definition.is_special:
        end = text.name(definition.node)[1]
        yield [(end, end, SUFFIX.encode())]


def _without_default(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    if isinstance(definition.node, Function):
        args = definition.node.args
        positional = [*args.posonlyargs, *args.args]
        given = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
        given += [(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value]
        if given:
            yield [(text.end(given[0][0]), text.end(given[0][1]), b"")]


def _reordered(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    if not isinstance(definition.node, Function):
        return
    args = definition.node.args
    plain = args.args[1:] if definition.is_method and not definition.is_decorated("staticmethod") else args.args
    count = max(len(plain) - len(args.defaults), 0)
    required, optional = plain[:count], plain[count:]
    if len(required) > 1:
        yield _swapped(text, *((text.start(arg), text.end(arg)) for arg in required[:2]))
    elif len(optional) > 1:
        values = args.defaults[-len(optional) :]
        yield _swapped(text, *((text.start(arg), text.end(v)) for arg, v in zip(optional[:2], values, strict=False)))


def _swapped(text: Text, one: tuple[int, int], other: tuple[int, int]) -> Sequence[Edit]:
    return [(*one, text.source[slice(*other)]), (*other, text.source[slice(*one)])]


def _returning_else(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    """A list of what was returned before, and said so where it was said."""
    node = definition.node
    if not isinstance(node, Function) or definition.is_special or _yields(node):
        return
    returned = [each.value for each in _own(node) if isinstance(each, ast.Return) and each.value is not None]
    if any(not (isinstance(value, ast.Constant) and value.value is None) for value in returned):
        values = [*returned, *([node.returns] if node.returns else [])]
        named = b"list" if node.returns else b""
        edits: list[Edit] = []
        for value in values:
            start, end = text.start(value), text.end(value)
            edits.append((start, end, (named if value is node.returns else b"") + b"[" + text.source[start:end] + b"]"))
        yield edits


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside a function, less what is inside a function in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own(child)


def _yields(node: Function) -> bool:
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _own(node))


def _by_keyword_alone(definition: Definition, text: Text, known: Lineage) -> Iterator[Sequence[Edit]]:
    """An override that no longer takes by position what the method above takes so."""
    node = definition.node
    if not isinstance(node, Function) or definition.is_special or not known.overrides(definition):
        return
    args = node.args
    is_plain = not (args.vararg or args.kwonlyargs or args.posonlyargs) and not definition.is_decorated("staticmethod")
    if is_plain and len(args.args) > 1:
        start = text.start(args.args[1])
        yield [(start, start, b"*, ")]


def _without_base(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    node = definition.node
    if not isinstance(node, ast.ClassDef):
        return
    given = sorted((*node.bases, *(keyword.value for keyword in node.keywords)), key=lambda each: each.lineno)
    for base in node.bases:
        if _last_name(base) in TYPING_ALONE:
            continue
        start, end = text.start(base), text.end(base)
        if base is not given[-1] or len(given) > 1:
            comma = text.source.find(b",", end)
            is_followed = base is not given[-1]
            yield [(start, comma + 1 if is_followed else end, b"")]
        else:
            yield [(start, end, b"")]


def _async(definition: Definition, text: Text, _known: Lineage) -> Iterator[Sequence[Edit]]:
    node = definition.node
    if isinstance(node, ast.FunctionDef) and not definition.is_special and not _yields(node):
        start = text.start(node)
        yield [(start, start, b"async ")]


Mutation = Callable[[Definition, Text, Lineage], Iterator[Sequence[Edit]]]
MUTATIONS: Final[Mapping[Kind, Mutation]] = {
    Kind.REQUIRED: _required,
    Kind.RENAMED: _renamed,
    Kind.SPECIAL: _special,
    Kind.DEFAULT: _without_default,
    Kind.REORDERED: _reordered,
    Kind.RETURN: _returning_else,
    Kind.OVERRIDE: _by_keyword_alone,
    Kind.BASE: _without_base,
    Kind.ASYNC: _async,
}
