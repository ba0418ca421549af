"""Two sides made from real code: one asks for one more argument, the other adds a new caller in another file.

They touch different files, so git merges them without a word; the call does not bind to the new signature, which is
shown with Python's own `inspect`. Whoever commits second must be stopped, whichever of the two it is.
"""

import ast
import inspect
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import PurePosixPath
from typing import Final

from bench.merging.repository import Repository
from bench.semantics.mutants import SEED, Definition, Function, Kind, Mutant, definitions, mutants
from bench.semantics.projects import project
from bench.semantics.verdicts import Admission, Level, Named

PAIRS: Final = 70
EVERY: Final = {Kind.REQUIRED: 10**6}
CALLER: Final = "called_by_the_other_side"
HEIR: Final = "HeirOfTheOtherSide"
# What else decorates a function may give it another signature.
PLAIN: Final = frozenset({"staticmethod", "classmethod"})


@dataclass(frozen=True)
class Shape:
    """How a call passes its arguments: how many by position, and which by name."""

    positional: int
    keywords: tuple[str, ...] = ()

    def text(self) -> tuple[str, str]:
        """The parameters of a function that passes on what it is given, and the arguments that it passes."""
        names = [f"value_{number}" for number in range(self.positional)]
        passed = [*names, *(f"{name}={name}" for name in self.keywords)]
        return ", ".join([*names, *self.keywords]), ", ".join(passed)


@dataclass(frozen=True)
class Pair:
    """Both sides of a pair: `changed` is the file with the new signature, `calling` the file with the new caller."""

    project: str
    mutant: Mutant
    form: str
    calling_path: str
    calling: bytes = field(repr=False)
    shape: Shape

    def __str__(self) -> str:
        """Its name."""
        return f"{self.project}: {self.mutant.qualname} of {self.mutant.path}, {self.form} in {self.calling_path}"


@dataclass(frozen=True)
class Caught:
    """What admission says of the side that commits second, in both orders: its level, and if the caller is named."""

    pair: str
    form: str
    caller_second: Level
    signature_second: Level
    names_caller: tuple[bool, bool]
    named: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_caught(self) -> tuple[bool, bool]:
        """Whether the second side is stopped for the new caller, in each order."""
        levels = (self.caller_second > Level.ADMITTED, self.signature_second > Level.ADMITTED)
        return levels[0] and self.names_caller[0], levels[1] and self.names_caller[1]


def measure(repositories: Iterable[Repository], most: int = PAIRS) -> list[Caught]:
    """What is said of every pair of every project."""
    found: list[Caught] = []
    for repository in repositories:
        known = project(repository)
        admission = Admission(known.files)
        made = list(islice(pairs(known.name, known.sources), most))
        print(f"{known.name}: {len(made)} pairs on {known.commit[:12]}", flush=True)
        found += [_caught(pair, known.files, admission) for pair in made]
    return found


def _caught(pair: Pair, files: Mapping[str, bytes], base: Admission) -> Caught:
    signature, caller = {pair.mutant.path: pair.mutant.source}, {pair.calling_path: pair.calling}
    first = Admission({**files, **signature}).verdict(caller)
    second = Admission({**files, **caller}).verdict(signature)
    alone = base.verdict(caller)
    assert not any(map(_is_caller, alone.blocking)), f"{pair} is blocked before anything changed: {alone.named}"
    names = (any(map(_is_caller, first.named)), any(map(_is_caller, second.named)))
    told = tuple(map(str, (*first.named, *second.named)))
    return Caught(str(pair), pair.form, first.level, second.level, names, told)


def _is_caller(named: Named) -> bool:
    return CALLER in named.qualname


def pairs(name: str, sources: Mapping[str, bytes]) -> Iterator[Pair]:
    """Pairs of a project, in a shuffled order that is the same each time."""
    shapes = _shapes(ast.parse(source) for source in sources.values())
    trees = {path: ast.parse(source) for path, source in sources.items()}
    defined = {(path, each.qualname): each for path, tree in trees.items() for each in definitions(tree)}
    chosen = random.Random(SEED)  # noqa: S311 - the same choice each time
    rounds = {True: cycle(METHOD_FORMS), False: cycle(FUNCTION_FORMS)}
    for mutant in mutants(sources, EVERY):
        definition = defined[mutant.path, mutant.qualname]
        shape = _shape(definition, mutant, shapes)
        if shape is None or not _is_plain(definition, trees[mutant.path]):
            continue
        others = [path for path in sorted(sources) if path != mutant.path and sources[path].strip()]
        calling_path = chosen.choice(others)
        form = _constructed if definition.name == "__init__" else next(rounds[definition.is_method])
        text = _added(sources[calling_path], *form(definition, _module(mutant.path), shape))
        if text is not None:
            yield Pair(name, mutant, form.__doc__ or "", calling_path, text, shape)


def _is_plain(definition: Definition, tree: ast.Module) -> bool:
    """Whether its signature is what it says, and it can be reached by its name from elsewhere."""
    node = definition.node
    assert isinstance(node, Function)
    if any(ast.unparse(each) not in PLAIN for each in node.decorator_list) or definition.qualname.count(".") > 1:
        return False
    names = Counter(each.name for each in ast.walk(tree) if isinstance(each, Function | ast.ClassDef))
    is_mangled = definition.name.startswith("__") and not definition.is_special
    is_sole = definition.name == "__init__" or names[definition.name] == 1
    return is_sole and not is_mangled and _is_top(definition, tree)


def _is_top(definition: Definition, tree: ast.Module) -> bool:
    """Whether nothing has to be so for it to be defined."""
    top = definition.qualname.partition(".")[0]
    found = [node for node in tree.body if isinstance(node, Function | ast.ClassDef) and node.name == top]
    return len(found) == 1 and not (isinstance(found[0], ast.ClassDef) and found[0].keywords)


def _shapes(trees: Iterable[ast.Module]) -> dict[str, list[Shape]]:
    """How the calls in a project pass their arguments, by the last name of what they call."""
    found: dict[str, list[Shape]] = {}
    for node in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(node.func).rpartition(".")[2]
        keywords = [each.arg for each in node.keywords if each.arg]
        if len(keywords) == len(node.keywords) and not any(isinstance(each, ast.Starred) for each in node.args):
            found.setdefault(name, []).append(Shape(len(node.args), tuple(keywords)))
    return found


def _shape(definition: Definition, mutant: Mutant, shapes: Mapping[str, Sequence[Shape]]) -> Shape | None:
    """How it is called elsewhere; if nowhere, with all that it requires. None if that binds to both signatures."""
    node = definition.node
    assert isinstance(node, Function)
    is_bound = definition.is_method and not definition.is_decorated("staticmethod")
    called = definition.qualname.partition(".")[0] if definition.name == "__init__" else definition.name
    required = len(node.args.args) + len(node.args.posonlyargs) - len(node.args.defaults) - is_bound
    changed = {each.qualname: each.node for each in definitions(ast.parse(mutant.source))}[mutant.qualname]
    assert isinstance(changed, Function)
    for shape in [*shapes.get(called, ()), Shape(max(required, 0))]:
        if _binds(node, shape, is_bound) and not _binds(changed, shape, is_bound):
            return shape
    return None


def _binds(node: Function, shape: Shape, is_bound: bool) -> bool:  # noqa: FBT001 - a method is called on something
    """Whether Python itself binds such a call to the signature."""
    bare = ast.Lambda(args=_bare(node.args), body=ast.Constant(None))
    made = eval(compile(ast.fix_missing_locations(ast.Expression(bare)), "signature", "eval"))  # noqa: S307 - a lambda of bare parameters that returns None
    try:
        inspect.signature(made).bind(*[None] * (shape.positional + is_bound), **dict.fromkeys(shape.keywords))
    except TypeError:
        return False
    return True


def _bare(args: ast.arguments) -> ast.arguments:
    """The parameters without annotations, their defaults all None."""

    def bare(arg: ast.arg) -> ast.arg:
        return ast.arg(arg.arg)

    return ast.arguments(
        posonlyargs=[bare(each) for each in args.posonlyargs],
        args=[bare(each) for each in args.args],
        vararg=bare(args.vararg) if args.vararg else None,
        kwonlyargs=[bare(each) for each in args.kwonlyargs],
        kw_defaults=[each and ast.Constant(None) for each in args.kw_defaults],
        kwarg=bare(args.kwarg) if args.kwarg else None,
        defaults=[ast.Constant(None) for _ in args.defaults],
    )


def _module(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    named = parts[1:] if parts[0] == "src" else parts
    return ".".join(named[:-1] if named[-1] == "__init__" else named)


def _added(source: bytes, imported: str, code: str) -> bytes | None:
    """A file with one more import after those that it has, and more code at its end; None if that is no program."""
    tree = ast.parse(source)
    ends = [node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    first = tree.body[0] if tree.body else None
    is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    at = ends[-1] if ends else ((first.end_lineno or 0) if first and is_doc else 0)
    lines = source.decode().splitlines(keepends=True)
    lines.insert(at, f"{imported}\n")
    text = "".join(lines).rstrip("\n") + f"\n\n\n{code}\n"
    try:
        compile(text, "caller", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return text.encode()


def _by_name(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a function imported by name"""  # noqa: D400, D403 - the name of a row
    given, passed = shape.text()
    return f"from {module} import {definition.name}", f"def {CALLER}({given}):\n    return {definition.name}({passed})"


def _by_alias(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a function imported under another name"""  # noqa: D400, D403
    given, passed = shape.text()
    return f"from {module} import {definition.name} as other", f"def {CALLER}({given}):\n    return other({passed})"


def _by_module(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a function of an imported module"""  # noqa: D400, D403
    given, passed = shape.text()
    imported = f"import {module} as other_module"
    return imported, f"def {CALLER}({given}):\n    return other_module.{definition.name}({passed})"


def _constructed(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a class made"""  # noqa: D400, D403
    given, passed = shape.text()
    owner = definition.qualname.partition(".")[0]
    return f"from {module} import {owner}", f"def {CALLER}({given}):\n    return {owner}({passed})"


def _on_annotated(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a method of an annotated parameter"""  # noqa: D400, D403
    given, passed = shape.text()
    owner = definition.qualname.partition(".")[0]
    code = f"def {CALLER}(receiver: {owner}{', ' if given else ''}{given}):\n"
    return f"from {module} import {owner}", f"{code}    return receiver.{definition.name}({passed})"


def _on_self(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a method of self, in an heir"""  # noqa: D400, D403
    return _in_heir(definition, module, shape, "self")


def _on_super(definition: Definition, module: str, shape: Shape) -> tuple[str, str]:
    """a method of super(), in an heir"""  # noqa: D400, D403
    return _in_heir(definition, module, shape, "super()")


def _in_heir(definition: Definition, module: str, shape: Shape, receiver: str) -> tuple[str, str]:
    given, passed = shape.text()
    owner = definition.qualname.partition(".")[0]
    head = f"class {HEIR}({owner}):\n    def {CALLER}(self{', ' if given else ''}{given}):\n"
    return f"from {module} import {owner}", f"{head}        return {receiver}.{definition.name}({passed})"


Form = Callable[[Definition, str, Shape], tuple[str, str]]
FUNCTION_FORMS: Final[tuple[Form, ...]] = (_by_name, _by_alias, _by_module)
METHOD_FORMS: Final[tuple[Form, ...]] = (_on_annotated, _on_self, _on_super)
