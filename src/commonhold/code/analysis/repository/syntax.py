"""One walk over the syntax tree of any language: the findings of its grammar's visits become a summary.

Uses are recorded as they are met and resolved to scopes at the end, when all names are known. No depth of nesting
exhausts the stack or makes a name slow to look up: scopes, chains and ways through variables have a greatest length.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node

from commonhold.code.analysis.chains import UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface, CallShape, Parameter, qualified
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Marker, Receiver, Reference, Use
from commonhold.code.analysis.repository.summary import ClassShape, Import, Offer, Summary
from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.outline import tidy

DEEPEST_SCOPE: Final = 100
_LONGEST_CHAIN: Final = 12
_MOST_HOPS: Final = 8
_STAND_INS: Final = ("self ", "super ", "import ", "?")
LITERAL: Final = "? literal"
OUTSIDE: Final[Chain] = (LITERAL,)


class Local(NamedTuple):
    """A name that a scope binds for itself, visible from `start` on; `value` is its chain, empty if unknown.

    `is_alias`: the name stands for the last part of `value` itself, as with an import inside a function.
    """

    start: int
    value: Chain
    scope: "Scope"
    is_alias: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """A stretch of a file with names of its own.

    `owner` is the class that `this` is an instance of, `prefix` the qualified name that definitions in it stand under.
    `defines`: its bindings are offered to others, not local to it. `is_class`: its names are members. `is_block`: it is
    no whole function.
    """

    parent: "Scope | None" = None
    owner: str = ""
    prefix: str = ""
    defines: bool = False
    is_class: bool = False
    is_block: bool = False
    depth: int = 0
    locals: dict[str, list[Local]] = field(default_factory=dict)

    def inner(self) -> "Scope":
        """Return a scope for a function in this one."""
        return self._within(self.owner)

    def without_owner(self) -> "Scope":
        """Return a scope for a function with a `this` of its own."""
        return self._within("")

    def block(self) -> "Scope":
        """Return a scope for a block in this one."""
        found = self._within(self.owner)
        found.is_block = found is not self
        return found

    def _within(self, owner: str) -> "Scope":
        if self.depth >= DEEPEST_SCOPE and not self.defines:
            return self
        return Scope(self, owner, self.prefix, depth=self.depth + 1)

    @property
    def function(self) -> "Scope":
        """Return the scope of the whole function."""
        scope = self
        while scope.is_block and scope.parent is not None and not scope.parent.defines:
            scope = scope.parent
        return scope

    def named(self, name: str) -> "Scope":
        """Return the scope of a module inside of the file."""
        prefix = qualified(self.prefix, name) if self.depth < DEEPEST_SCOPE else self.prefix
        return Scope(self, self.owner, prefix, defines=self.defines, depth=min(self.depth + 1, DEEPEST_SCOPE))

    def of_class(self, qualname: str) -> "Scope":
        """Return the scope of a class, by its full name; in a function its members are not offered."""
        depth = min(self.depth + 1, DEEPEST_SCOPE)
        return Scope(self, qualname, qualname, defines=self.defines, is_class=True, depth=depth)

    def bind(self, name: str, start: int = 0, value: Chain = (), *, is_alias: bool = False) -> None:
        """Bind a name."""
        self.locals.setdefault(name, []).append(Local(start, value, self, is_alias))

    def find(self, name: str, at: int) -> Local | None:
        """Return the binding of a name at a place; None if no function around it binds it."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.locals.get(name)
            if found is not None:
                index = bisect_right(found, at, key=_start)
                if index:
                    return found[index - 1]
            scope = scope.parent
        return None


def _start(local: Local) -> int:
    return local.start


class RawUse(NamedTuple):
    """A use before it is resolved. `chain` is None for a bare name."""

    name: str
    use: Use
    shape: CallShape | None
    line: int
    at: int
    scope: Scope
    chain: Chain | None


@dataclass(slots=True, eq=False)
class Draft:
    """An unfinished offer: its chains are still to be resolved, in the scope where they stand."""

    qualname: str
    sort: Sort
    line: int
    end_line: int
    at: int
    scope: Scope
    signatures: list[CallableInterface]
    gives: Chain
    shape: ClassShape | None
    is_sole: bool = True
    modifiers: frozenset[str] | None = None

    def qualify(self, words: Iterable[str]) -> None:
        """Set the modifiers; several definitions of one name have those that all of them have."""
        found = frozenset(words)
        self.modifiers = found if self.modifiers is None else self.modifiers & found


Visit = Callable[["Walk", Node, Scope], None]
Link = Callable[["Walk", Node, Scope], tuple[Node | None, Chain]]
"""How a kind of expression is read as a part of a chain: what to read before it, and the steps that it adds."""


def nothing(_walk: "Walk", _node: Node, _scope: Scope) -> None:
    """Skip a node that contains nothing that is used or offered."""


def inside_link(_walk: "Walk", node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    """Read brackets and similar nodes as their content."""
    return next(iter(node.named_children), None), ()


def outside_link(_walk: "Walk", _node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    """Read a literal: nothing of this repository."""
    return None, OUTSIDE


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """How one language is read.

    `visits` and `links` are keyed by kinds of syntax nodes; a kind without a visit is passed through. `sees_members`: a
    bare name may be a member of the class around it. `merging`: several definitions of one name that are of these sorts
    are one. `finish` is called last, before names are resolved.
    """

    language: Language
    visits: Mapping[str, Visit]
    links: Mapping[str, Link]
    sees_members: bool = False
    merging: frozenset[Sort] = frozenset()
    finish: Callable[["Walk"], None] = lambda _: None


@dataclass(slots=True, eq=False)
class Walk:
    """The state of one walk. `exports` is None while the file lists none; `assigned` are names that were reassigned."""

    grammar: Grammar
    source: bytes
    top: Scope = field(default_factory=lambda: Scope(defines=True))
    drafts: dict[str, Draft] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    uses: list[RawUse] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    exports: list[str] | None = None
    assigned: list[tuple[Scope, str, int]] = field(default_factory=list)
    inherited: list[tuple[str, Chain, str]] = field(default_factory=list)
    pending: list[tuple[Node, Scope]] = field(default_factory=list)
    chains: dict[int, Chain] = field(default_factory=dict)

    def run(self, root: Node) -> None:
        """Visit every node, in the order of the text."""
        pending, visits = self.pending, self.grammar.visits
        pending.append((root, self.top))
        while pending:
            node, scope = pending.pop()
            visit = visits.get(node.type)
            if visit is not None:
                visit(self, node, scope)
            elif children := node.named_children:
                pending.extend([(child, scope) for child in reversed(children)])

    def push(self, nodes: Iterable[Node | None], scope: Scope) -> None:
        """Visit these nodes next, in their order."""
        self.pending.extend([(node, scope) for node in reversed([*nodes]) if node is not None])

    def text(self, node: Node | None) -> str:
        """Return the text of a node; empty for None."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def tidied(self, node: Node | None) -> str | None:
        """Return the text of a node in one line; None for None."""
        return None if node is None else " ".join(self.text(node).split())

    def field(self, node: Node, name: str) -> str:
        """Return the text of a field."""
        return self.text(node.child_by_field_name(name))

    def chain(self, node: Node | None, scope: Scope) -> Chain:
        """Return an expression or a type as an unresolved chain; the nodes inside are visited later."""
        passed: list[tuple[int, Chain]] = []
        found: Chain | None = UNKNOWN
        while node is not None:
            key = node.id
            found = self.chains.get(key)
            if found is not None:
                break
            link = self.grammar.links.get(node.type)
            node, part = (None, UNKNOWN) if link is None else link(self, node, scope)
            passed.append((key, part))
            found = ()
        for key, part in reversed(passed):
            found = UNKNOWN if found == UNKNOWN or len(found or ()) > _LONGEST_CHAIN else (found or ()) + part
            self.chains[key] = found
        return found or UNKNOWN

    def use(
        self, node: Node, use: Use, scope: Scope, chain: Chain | None = None, shape: CallShape | None = None
    ) -> None:
        """Record a use of the name that a node is."""
        line, at = node.start_point[0] + 1, node.start_byte
        self.uses.append(RawUse(self.text(node), use, shape, line, at, scope, chain))

    def use_of(self, chain: Chain, use: Use, node: Node, scope: Scope, shape: CallShape | None = None) -> None:
        """Record a use of the target of a chain, if that has a name."""
        name = chain[-1]
        if name.isidentifier():
            before = chain[:-1] or None
            self.uses.append(RawUse(name, use, shape, node.start_point[0] + 1, node.start_byte, scope, before))

    def inherits(self, qualname: str, base: Chain, text: str) -> None:
        """Record a base that is written outside of its class."""
        self.inherited.append((qualname, base, text))

    def mark(self, kind: str, node: Node) -> None:
        """Record something whose effect the syntax does not show."""
        self.markers.append(Marker(kind, node.start_point[0] + 1))

    def take(self, node: Node, name: str, module: str, member: str, *, is_public: bool = False) -> None:
        """Record an import at the top level, which is also a use of the imported name."""
        line = node.start_point[0] + 1
        self.imports.append(Import(name, module, member, line, is_public))
        if module and member.isidentifier():
            chain = (f"import {module}",)
            self.uses.append(RawUse(member, Use.IMPORT, None, line, node.start_byte, self.top, chain))

    def offer(
        self, name: str, sort: Sort, node: Node, scope: Scope, gives: Chain = (), shape: ClassShape | None = None
    ) -> Draft | None:
        """Offer a name that a scope defines; in a function it is a local name instead, and None is returned."""
        if not scope.defines:
            if not scope.is_class:
                scope.bind(name, 0, gives if sort is Sort.VALUE else ())
            return None
        return self.offer_as(qualified(scope.prefix, tidy(name)), sort, node, scope, gives, shape)

    def offer_as(
        self, qualname: str, sort: Sort, node: Node, scope: Scope, gives: Chain = (), shape: ClassShape | None = None
    ) -> Draft:
        """Offer a name by its full qualified name; an existing offer of that name is extended."""
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        draft = self.drafts.get(qualname)
        if draft is None:
            draft = Draft(qualname, sort, first, last, node.start_byte, scope, [], gives, shape)
            self.drafts[qualname] = draft
            return draft
        draft.is_sole = draft.is_sole and sort is draft.sort and sort in self.grammar.merging
        draft.end_line = max(draft.end_line, last)
        draft.gives = draft.gives or gives
        if sort is Sort.CLASS and draft.sort is Sort.CLASS and shape is not None:
            draft.shape = _joined(draft.shape, shape)
        return draft


def _joined(first: ClassShape | None, second: ClassShape) -> ClassShape:
    """Join two declarations of a class that the language merges."""
    if first is None:
        return second
    bases, texts = first.bases + second.bases, first.texts + second.texts
    return ClassShape(bases, texts, decorators=first.decorators + second.decorators)


def distinct(params: Iterable[Parameter]) -> Iterator[Parameter]:
    """Yield the parameters, each with a distinct name: several may be called `_`."""
    seen = set[str]()
    for index, param in enumerate(params):
        yield replace(param, name=f"_{index}") if param.name in seen or param.name == "_" else param
        seen.add(param.name)


@cache
def shape(count: int, *, has_star: bool = False) -> CallShape:
    """Return the shape of a call by position."""
    return CallShape(count, (), has_star)


def shape_of(arguments: Node | None, spreads: str = "spread_element") -> CallShape:
    """Return the shape of a call by its list of arguments."""
    if arguments is None:
        return shape(0)
    kinds = [child.type for child in arguments.named_children if not child.is_extra]
    stars = kinds.count(spreads)
    return shape(len(kinds) - stars, has_star=bool(stars))


def summarised(source: bytes, grammar: Grammar) -> Summary:
    """Walk over a file and resolve the recorded names."""
    try:
        source.decode()
    except UnicodeDecodeError as error:
        return Summary(grammar.language.name, problem=f"the file is not valid utf-8: {error}")
    if grammar.language.beyond and grammar.language.beyond(source):
        return Summary(grammar.language.name, problem="the file nests more deeply than can be read")
    walk = Walk(grammar, source)
    try:
        tree = parse(source, grammar.language)
    except BudgetExceededError as error:
        return Summary(grammar.language.name, problem=str(error))
    walk.run(tree.root_node)
    grammar.finish(walk)
    return _Tying(walk).summary()


class _Tying:
    """Resolves the names that a walk recorded, now that all are known."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.sees_members = walk.grammar.sees_members
        self.imported = {each.name for each in walk.imports}
        for scope, name, at in walk.assigned:
            self._forget(scope, name, at)

    def _forget(self, scope: Scope, name: str, at: int) -> None:
        """Make the value of a reassigned variable unknown."""
        local = scope.find(name, at)
        if local is None:
            draft = self.walk.drafts.get(name)
            if draft is not None and draft.sort is Sort.VALUE:
                draft.gives = ()
        elif local.value:
            local.scope.locals[name] = [Local(local.start, (), local.scope)]

    def summary(self) -> Summary:
        walk = self.walk
        return Summary(
            language=walk.grammar.language.name,
            offers=tuple(map(self._offer, walk.drafts.values())),
            imports=tuple(walk.imports),
            uses=tuple(filter(None, map(self._reference, walk.uses))),
            markers=tuple(walk.markers),
            exports=None if walk.exports is None else tuple(dict.fromkeys(walk.exports)),
        )

    def _offer(self, draft: Draft) -> Offer:
        shape = draft.shape
        if shape is not None and shape.bases:
            bases = tuple(self._tied(base, draft.scope, draft.at) for base in shape.bases)
            shape = ClassShape(bases, shape.texts, shape.keywords, shape.decorators, shape.fields, shape.is_open)
        gives = self._tied(draft.gives, draft.scope, draft.at) if draft.gives else ()
        return Offer(
            draft.qualname,
            draft.sort,
            draft.line,
            draft.end_line,
            tuple(draft.signatures),
            shape,
            () if gives in (UNKNOWN, OUTSIDE) else gives,
            is_sole=draft.is_sole,
            modifiers=draft.modifiers or frozenset(),
        )

    def _reference(self, raw: RawUse) -> Reference | None:
        if raw.chain is None:
            return self._bare(raw)
        chain = self._tied(raw.chain, raw.scope, raw.at)
        if chain[0] == LITERAL:
            return Reference(raw.name, raw.use, raw.shape, Receiver.OUTSIDE, "", raw.line, UNKNOWN)
        return Reference(raw.name, raw.use, raw.shape, Receiver.UNKNOWN, "", raw.line, chain)

    def _bare(self, raw: RawUse) -> Reference | None:
        local = raw.scope.find(raw.name, raw.at)
        if local is None:
            home = self._home(raw.scope, raw.name)
            receiver = Receiver.UNKNOWN if home else Receiver.NONE
            return Reference(raw.name, raw.use, raw.shape, receiver, "", raw.line, home)
        if not local.is_alias:
            return None
        *before, name = local.value
        if not before:
            is_module = name.startswith(_STAND_INS)
            return None if is_module else Reference(name, raw.use, raw.shape, Receiver.NONE, "", raw.line)
        chain = self._tied(tuple(before), local.scope, max(local.start - 1, 0))
        return Reference(name, raw.use, raw.shape, Receiver.UNKNOWN, "", raw.line, chain)

    def _tied(self, chain: Chain, scope: Scope, at: int) -> Chain:
        """Return the chain with a root that means the same everywhere in the file."""
        for _ in range(_MOST_HOPS):
            root = chain[0]
            if root.startswith(_STAND_INS):
                break
            local = scope.find(root, at)
            if local is None:
                return self._home(scope, root) + chain
            if not local.value:
                return UNKNOWN
            chain = local.value + chain[1:]
            scope, at = local.scope, max(local.start - 1, 0)
        else:
            return UNKNOWN
        if chain[0] == LITERAL:
            return OUTSIDE
        return UNKNOWN if len(chain) > _LONGEST_CHAIN or chain[0].startswith("?") else chain

    def _home(self, scope: Scope, name: str) -> Chain:
        """Return the owner of a free name in the file: a module around it, or a class; empty at the top level."""
        first = inmost = self._inmost(scope)
        while inmost is not None and inmost.prefix:
            if self._has(inmost, name):
                return (f"self {inmost.prefix}",) if inmost.is_class else tuple(inmost.prefix.split("."))
            inmost = self._inmost(inmost.parent)
        is_inside = self.sees_members and first is not None and first is not scope
        return self._inherited(first, name) if is_inside and first is not None else ()

    def _has(self, scope: Scope, name: str) -> bool:
        """Whether a scope has a name that is visible in it; a constructor is not."""
        is_seen = self.sees_members or not scope.is_class
        return is_seen and qualified(scope.prefix, name) in self.walk.drafts and not scope.prefix.endswith(name)

    def _inherited(self, scope: Scope, name: str) -> Chain:
        """Return the class that may inherit a name: one in small letters that the file defines nowhere; else empty."""
        draft = self.walk.drafts.get(scope.prefix)
        has_bases = draft is not None and draft.shape is not None and bool(draft.shape.bases)
        return (f"self {scope.prefix}",) if has_bases and name[:1].islower() and name not in self.imported else ()

    @staticmethod
    def _inmost(scope: Scope | None) -> Scope | None:
        """Return the nearest scope in which names are defined."""
        while scope is not None and not scope.defines:
            scope = scope.parent
        return scope
