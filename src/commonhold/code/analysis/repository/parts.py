"""A summary in parts: each covers some statements of a file and has line numbers of its own, so it can be reused.

The parts of a file hold the complete content of its summary. `PartedSummary` joins them on demand, and two of them can
be compared by the parts that they do not share.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

from commonhold.code.analysis.chains import UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface, last_name, qualified
from commonhold.code.analysis.module_definitions import OPEN, Sort
from commonhold.code.analysis.references import Marker, Reference
from commonhold.code.analysis.repository.summary import READ_ONLY, ClassShape, Import, Offer, Summary, by_name

Fact = tuple[bool, str | None, str | None]
"""The facts about a binding that other statements may see: whether it is an import, its value, its annotation.

Value and annotation are short expressions that mean the same to every statement that looks the name up, see `facts.py`.
"""

Facts = Mapping[str, tuple[Fact, ...]]
"""The bindings of names."""

Place = tuple[str, str]
"""The class of a member, empty at the top level, and its name."""


@dataclass(frozen=True, slots=True)
class FunctionPart:
    """One `def`. `gives` and `forwards` are all the chains that were found, in no particular order.

    `is_partial`: it stands in a branch, and the name may be unbound if another branch is taken. `modifiers` say what
    its body shows: that it hands on, as a decorator, or how many items it returns.
    """

    line: int
    end_line: int
    interface: CallableInterface
    extends: bool
    is_accessory: bool
    is_left_open: bool
    gives: tuple[Chain, ...]
    forwards: tuple[Chain, ...]
    is_partial: bool = False
    modifiers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ClassPart:
    """One `class`; whether its attributes are open is computed without the hooks that it defines."""

    line: int
    end_line: int
    shape: ClassShape


@dataclass(frozen=True, slots=True)
class Binding:
    """One binding of a name; `line` is None if no expression belongs to it."""

    is_import: bool
    gives: Chain
    line: int | None


@dataclass(frozen=True)
class Part:
    """Some whole statements of the top level, in order. Their lines are counted as if the first line were `first`.

    `reads` are the names whose facts in the rest of the file were looked up: with the same facts the same text has the
    same part. `continues` is set if they are members of a class that text above them opens: its name, and the last
    line.
    """

    first: int
    uses: tuple[Reference, ...]
    markers: tuple[Marker, ...]
    imports: tuple[Import, ...]
    functions: Mapping[Place, tuple[FunctionPart, ...]]
    classes: Mapping[str, tuple[ClassPart, ...]]
    names: Mapping[str, Mapping[str, tuple[Binding, ...]]]
    attributes: Mapping[Place, tuple[tuple[Chain, int], ...]]
    globals: frozenset[str]
    exports: tuple[str, ...] | None
    reads: frozenset[str]
    continues: tuple[str, int] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Pickle all but the parts that can be computed again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def uses_by_name(self) -> Mapping[str, Sequence[Reference]]:
        """Return the uses by the name that they use."""
        return by_name(self.uses)

    @cached_property
    def contract(self) -> tuple[object, ...]:
        """Return all that decides the file's interface, even if only for a type checker, without the lines."""
        return (
            [
                (key, [(n.interface, n.extends, n.is_accessory, n.is_partial, n.gives, n.modifiers) for n in nodes])
                for key, nodes in self.functions.items()
            ],
            [(qualname, [node.shape for node in nodes]) for qualname, nodes in self.classes.items()],
            [
                (owner, name, [(bound.is_import, bound.gives) for bound in bounds])
                for owner, names in self.names.items()
                for name, bounds in names.items()
            ],
            [(key, [chain for chain, _ in found]) for key, found in self.attributes.items()],
            [(each.name, each.module, each.member) for each in self.imports],
            self.globals,
            self.exports,
        )


@dataclass(frozen=True, slots=True)
class Opening:
    """A class of the top level whose members stand in several chunks.

    Below a copy of its first lines, `text`, they parse as they do in the file.
    """

    name: str
    head: bytes
    indent: bytes

    @property
    def text(self) -> bytes:
        """The head, and a first member, so that the others must have the same indent."""
        return self.head + self.indent + b"0\n"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of some whole statements, ended by a line end or the end of the file, with its analysis.

    They stand `inside` a class that other chunks open, if in any; `opens` is the class in which the chunks below may
    stand.
    """

    text: bytes
    lines: int
    facts: Facts
    part: Part
    inside: Opening | None = None
    opens: Opening | None = None


class PartedSummary(Summary):
    """A summary that is joined from parts, each piece of it on demand."""

    chunks: tuple[Chunk, ...]
    facts: Facts

    def __init__(self, language: str, chunks: tuple[Chunk, ...], facts: Facts) -> None:
        """Join these chunks, which make up the file. `facts` are those of all of them."""
        self.__dict__.update(language=language, chunks=chunks, facts=facts, problem="")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all but the parts that can be computed again."""
        return PartedSummary, (self.language, self.chunks, self.facts)

    def __eq__(self, other: object) -> bool:
        return self.flat == other.flat if isinstance(other, Summary) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.flat)

    @property
    def flat(self) -> Summary:
        """Return the same summary as one plain value."""
        return Summary(self.language, self.offers, self.imports, self._every_use(), self.markers, self.exports)

    @cached_property
    def _placed(self) -> tuple[tuple[Part, int], ...]:
        """The parts, each with the number to add to its lines."""
        found: list[tuple[Part, int]] = []
        line = 1
        for chunk in self.chunks:
            found.append((chunk.part, line - chunk.part.first))
            line += chunk.lines
        return tuple(found)

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """The names that the file offers."""
        return tuple(_Offering(self._placed).offers())

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """The imports of the top level, in order."""
        return tuple(
            each if not delta else replace(each, line=each.line + delta)
            for part, delta in self._placed
            for each in part.imports
        )

    @cached_property
    def uses(self) -> tuple[Reference, ...]:
        """The uses, those of later statements first."""
        return self._every_use()

    def _every_use(self) -> tuple[Reference, ...]:
        return tuple(each for part, delta in reversed(self._placed) for each in lowered(part.uses, delta))

    @cached_property
    def markers(self) -> tuple[Marker, ...]:
        """The markers, those of later statements first."""
        return tuple(
            each if not delta else Marker(each.kind, each.line + delta)
            for part, delta in reversed(self._placed)
            for each in part.markers
        )

    @cached_property
    def exports(self) -> tuple[str, ...] | None:
        """The names in `__all__`, from its last assignment."""
        found = (part.exports for part, _ in reversed(self._placed) if part.exports is not None)
        return next(found, None)

    @cached_property
    def used_names(self) -> frozenset[str]:
        """Every name that is used, or imported from another file."""
        taken = (each.member or each.module.rpartition(".")[2] for each in self.imports)
        return frozenset().union(taken, *(part.uses_by_name for part, _ in self._placed))

    @cached_property
    def uses_by_name(self) -> Mapping[str, Sequence[Reference]]:
        """The uses by the name that they use."""
        return _UsesByName(self._placed)


class _UsesByName(Mapping[str, Sequence[Reference]]):
    """The uses of a name, collected from the parts on demand."""

    def __init__(self, placed: Sequence[tuple[Part, int]]) -> None:
        self._placed = placed
        self._found: dict[str, Sequence[Reference]] = {}

    def __getitem__(self, name: str) -> Sequence[Reference]:
        if name not in self._found:
            self._found[name] = [
                each
                for part, delta in reversed(self._placed)
                if name in part.uses_by_name
                for each in lowered(part.uses_by_name[name], delta)
            ]
        if not self._found[name]:
            raise KeyError(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for part, _ in reversed(self._placed) for name in part.uses_by_name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def lowered(uses: Sequence[Reference], delta: int) -> Sequence[Reference]:
    """Return the uses, moved down by so many lines."""
    if not delta:
        return uses
    return [
        Reference(use.name, use.use, use.shape, use.receiver, use.class_name, use.line + delta, use.chain, use.expects)
        for use in uses
    ]


class _Offering:
    """Makes the offers of all parts of a file: several definitions of one name are one offer, wherever they stand."""

    def __init__(self, placed: Sequence[tuple[Part, int]]) -> None:
        self._functions: dict[Place, list[tuple[FunctionPart, int]]] = {}
        self._classes: dict[str, list[tuple[ClassPart, int]]] = {}
        self._names: dict[str, dict[str, list[tuple[Binding, int]]]] = {"": {}}
        self._attributes: dict[str, dict[str, list[tuple[Chain, int]]]] = {}
        self._globals: set[str] = set()
        self._ends: dict[str, int] = {}
        for part, delta in placed:
            for place, functions in part.functions.items():
                self._functions.setdefault(place, []).extend((each, delta) for each in functions)
            for qualname, classes in part.classes.items():
                self._classes.setdefault(qualname, []).extend((each, delta) for each in classes)
            self._globals |= part.globals
            if part.continues is not None:
                qualname, end = part.continues
                self._ends[qualname] = end + delta
        # Later statements come first, as when a whole text is read.
        for part, delta in reversed(placed):
            for owner, names in part.names.items():
                known = self._names.setdefault(owner, {})
                for name, bounds in names.items():
                    known.setdefault(name, []).extend((each, delta) for each in bounds)
            for (owner, name), found in part.attributes.items():
                stored = self._attributes.setdefault(owner, {}).setdefault(name, [])
                stored.extend((chain, line + delta) for chain, line in found)

    def offers(self) -> Iterator[Offer]:
        for (owner, name), functions in self._functions.items():
            if not all(node.extends for node, _ in functions):
                yield self._function(owner, name, functions)
        for qualname, classes in self._classes.items():
            yield self._class(qualname, classes)
        for owner in ("", *self._classes):
            yield from self._values(owner)

    def _function(self, owner: str, name: str, nodes: list[tuple[FunctionPart, int]]) -> Offer:
        last, delta = nodes[-1]
        is_sole = len(nodes) == 1 and self._is_sole(owner, name)
        main = [node for node, _ in nodes if not node.is_accessory] or [node for node, _ in nodes]
        return Offer(
            qualified(owner, name),
            Sort.FUNCTION,
            last.line + delta,
            last.end_line + delta,
            tuple(node.interface for node in main),
            gives=_agreed(chain for node, _ in nodes for chain in node.gives),
            forwards=_agreed(last.forwards) if is_sole else (),
            is_sole=is_sole,
            is_left_open=bool(owner) and last.is_left_open,
            is_partial=all(node.is_partial for node, _ in nodes),
            modifiers=_modifiers(node.interface for node, _ in nodes) | last.modifiers,
        )

    def _class(self, qualname: str, nodes: list[tuple[ClassPart, int]]) -> Offer:
        last, delta = nodes[-1]
        is_sole = len(nodes) == 1 and self._is_sole(*qualname.rpartition(".")[::2])
        has_hooks = any((qualname, name) in self._functions for name in OPEN)
        shape = replace(last.shape, is_open=True) if has_hooks else last.shape
        end = self._ends.get(qualname, last.end_line + delta)
        return Offer(qualname, Sort.CLASS, last.line + delta, end, shape=shape, is_sole=is_sole)

    def _is_sole(self, owner: str, name: str) -> bool:
        return len(self._names.get(owner, {}).get(name, ())) <= 1

    def _values(self, owner: str) -> Iterator[Offer]:
        names = self._names.get(owner, {})
        for name, bounds in names.items():
            if not self._is_defined(owner, name) and not all(bound.is_import for bound, _ in bounds):
                line = next((bound.line + delta for bound, delta in bounds if bound.line is not None), 1)
                gives = _agreed(bound.gives for bound, _ in bounds)
                yield Offer(qualified(owner, name), Sort.VALUE, line, line, gives=gives, is_sole=len(bounds) == 1)
        for name in sorted(self._globals - names.keys()) if not owner else ():
            yield Offer(name, Sort.VALUE, 1, 1, is_sole=False)
        for name, found in self._attributes.get(owner, {}).items():
            if name not in names:
                line = found[-1][1]
                gives = _agreed(chain for chain, _ in found)
                yield Offer(qualified(owner, name), Sort.VALUE, line, line, gives=gives, is_sole=len(found) == 1)

    def _is_defined(self, owner: str, name: str) -> bool:
        return (owner, name) in self._functions or qualified(owner, name) in self._classes


def _modifiers(interfaces: Iterable[CallableInterface]) -> frozenset[str]:
    """Return the modifiers of a function by all its definitions: a property without a setter is read-only."""
    names = {last_name(text) for each in interfaces for text in each.decorators}
    return frozenset({READ_ONLY} if "property" in names and "setter" not in names else ())


def _agreed(found: Iterable[Chain]) -> Chain:
    """Return the one chain that all agree on; empty if there is none, or if one is unknown."""
    chains = set(found)
    chain = chains.pop() if len(chains) == 1 else ()
    return () if chain == UNKNOWN else chain
