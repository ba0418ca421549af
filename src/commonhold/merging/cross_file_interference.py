"""Find how one side's changes to whole files interfere with the other side's, in the same file or in another.

Only names link files here, so equal names are taken for the same thing wherever they stand. The question is: does one
side newly call or name something that the other removed, gave another contract, or made behave in another way?
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from commonhold.code.analysis.impact import COMMON_ATTRIBUTES
from commonhold.merging.altered_declarations import ELSEWHERE
from commonhold.merging.altered_names import altered_names
from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.construction import made_anew, made_otherwise
from commonhold.merging.demands import counted_on, demanded_anew
from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.implied_calls import changed_specials, implied_anew
from commonhold.merging.import_origins import is_tried, taken_from_elsewhere
from commonhold.merging.interference import Delta, deltas_of, is_function, is_offer, known_as
from commonhold.merging.layout import Element
from commonhold.merging.nested_functions import changed_inside
from commonhold.merging.profile import Profile
from commonhold.merging.prose import lines_of
from commonhold.merging.record import Edit
from commonhold.merging.verdict import Lines, Reason, Spot
from commonhold.merging.withdrawn_names import defines, is_code, newly_written, withdrawn_names

_Key = tuple[str, bytes]
_MAKE: Final = "make"
_IMPLY: Final = "imply"
_WORD: Final = re.compile(rb"\w+")
# Files whose functions are called through a name from the path (a module), if not by their own name.
_NAMED_BY_PATH: Final = (".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs")
# Calls of a member of the same object whose name only running code knows.
_COMPUTED: Final = re.compile(
    rb"\bthis\[\s*[A-Za-z_$][\w$.]*\s*\]\s*\(|\bgetattr\(\s*(?:self|cls)\s*,(?!\s*f?[\"'])"
    rb"|(?:\$this->|static::|self::)\{?\$\w+\}?\s*\(|\b(?:getMethod|getDeclaredMethod|GetMethod|MethodByName)\(\s*[a-z_]"
)
_SENT: Final = re.compile(rb"(?<![\w.])(?:self\.)?(?:public_send|__send__|send)\(\s*[a-z_]")  # the same in Ruby
_MACRO: Final = re.compile(rb"#[ \t]*define\b")
_PASTED: Final = re.compile(rb"(\w+)\s*##")
_CONSTRUCTORS: Final = frozenset({b".__init__", b".__new__", b".__init_subclass__"})


@dataclass(frozen=True)
class FileChange:
    """One file before and after, as one side changed it."""

    path: str
    before: Element
    after: Element

    @cached_property
    def deltas(self) -> Sequence[Delta]:
        """The changed statements."""
        return list(deltas_of(Edit(self.before, self.after, ()), self.after.profile))

    @cached_property
    def offers_otherwise(self) -> bool:
        """Whether the change may affect how other code uses the file's definitions; a change inside a body does not."""
        return any(is_offer(each) and not _is_plain_addition(each) for each in self.deltas)

    @cached_property
    def altered(self) -> Sequence[tuple[bytes, int, str]]:
        """The names of which something else holds now than before, each with a row and the change in words."""
        return [*altered_names(self.before, self.after)]

    @cached_property
    def written(self) -> Mapping[bytes, int]:
        """The newly written words, each with a row on which it stands."""
        return newly_written(self.before, self.after)

    @cached_property
    def pasted(self) -> Sequence[bytes]:
        """What macros put before a word to make a name of it."""
        source = self.after.source
        return _PASTED.findall(source) if b"##" in source and _MACRO.search(source) else ()

    @cached_property
    def computed(self) -> int | None:
        """A row of a new call of a member by a name that running code computes; None if there is none."""
        lines, rows = lines_of(self.after.source), changed_rows(self.before.source, self.after.source)[1].rows
        computed = _SENT if self.path.endswith((".rb", ".rake")) else _COMPUTED
        return next((row for row in rows if computed.search(lines[row])), None)


@dataclass(frozen=True, slots=True)
class _Effect:
    """The effect of one side on a name, its place, and its description in words."""

    name: bytes
    path: str
    lines: Lines
    what: str
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Bearing:
    """A name that one side changed and the other newly depends on."""

    ours_path: str
    theirs_path: str
    spot: Spot


def bearing(ours: Sequence[FileChange], theirs: Sequence[FileChange]) -> list[Bearing]:
    """Return the changes of either side that interfere with the other; empty if names show none."""
    mine, others = _Side.of(ours), _Side.of(theirs)
    return [*_met(mine, others), *_met(others, mine, are_exchanged=True)]


@dataclass(frozen=True, slots=True)
class _Side:
    """The names that a side newly calls, and those that none of its files defines any more.

    Each name has at most one effect in each file.
    """

    files: Sequence[FileChange]
    called: Mapping[_Key, Sequence[_Effect]]
    withdrawn: Mapping[bytes, _Effect]

    @classmethod
    def of(cls, files: Sequence[FileChange]) -> "_Side":
        """Collect the effects of a side over all its files."""
        return cls(files, _by_key(files, _called_by), _withdrawn(files))

    def changed(self, by: "_Side") -> Mapping[_Key, Sequence[_Effect]]:
        """Return the names that this side changed, of the kinds that the other side calls."""
        kinds = frozenset(kind for kind, _ in by.called)
        return _by_key(self.files, lambda file: _changed_by(file, kinds))

    def names(self, path: str, in_path: str) -> bool:
        """Whether a file may name a definition of another: in some languages only by that file or its folder."""
        if not path.endswith(_NAMED_BY_PATH):
            return path != in_path
        parts = [part.partition(".")[0].encode() for part in path.split("/")[-2:]]
        texts = (file.after.source for file in self.files if file.path == in_path != path)
        return any(part in text for text in texts for part in parts)

    def names_members(self, path: str) -> bool:
        """Whether a file may name the members of its classes without an object, as in C++."""
        if path.endswith(_NAMED_BY_PATH):
            return False
        return any(file.after.profile.node_effects.has_outer_variables for file in self.files if file.path == path)


def _by_key(
    files: Sequence[FileChange], effects_of_file: Callable[[FileChange], Iterator[tuple[_Key, _Effect]]]
) -> dict[_Key, Sequence[_Effect]]:
    found: dict[_Key, dict[str, _Effect]] = {}
    for file in files:
        for key, effect in effects_of_file(file):
            found.setdefault(key, {}).setdefault(file.path, effect)
    return {key: list(effects.values()) for key, effects in found.items()}


def _withdrawn(files: Sequence[FileChange]) -> dict[bytes, _Effect]:
    """Return the names that no changed file defines any more; a name that moved to another of them still exists."""
    gone = {
        name: _Effect(name, file.path, (row, row + 1), "took away", is_gone=True)
        for file in files
        if file.offers_otherwise
        for name, row in withdrawn_names(file.before, file.after)
    }
    return {name: each for name, each in gone.items() if not any(defines(file.after, name) for file in files)}


def _changed_by(file: FileChange, kinds: frozenset[str]) -> Iterator[tuple[_Key, _Effect]]:
    """Yield the changed names; how types are made and what they demand only if the other side has such `kinds`."""
    for effect in (*_behaviour(file, file.deltas), *_overloaded(file)):
        yield ("", effect.name), effect
    for name, row in changed_specials(file.before, file.after) if _IMPLY in kinds else ():
        yield (_IMPLY, name), _Effect(name, file.path, (row, row + 1), "changed the behaviour of")
    if not file.offers_otherwise:
        return
    for name, row in made_otherwise(file.before, file.after) if _MAKE in kinds else ():
        yield (_MAKE, name), _Effect(name, file.path, (row, row + 1), "changed how to make")
    for key, row, what in demanded_anew(file.before, file.after) if kinds - {"", _MAKE, _IMPLY} else ():
        yield key, _Effect(key[1], file.path, (row, row + 1), what)


def _called_by(file: FileChange) -> Iterator[tuple[_Key, _Effect]]:
    for effect in _new_calls(file, file.deltas):
        yield ("", effect.name), effect
    for name, row in made_anew(file.before, file.after):
        yield (_MAKE, name), _Effect(name, file.path, (row, row + 1), "make")
    for name, row in implied_anew(file.before, file.after):
        yield (_IMPLY, name), _Effect(name, file.path, (row, row + 1), "use what calls")
    for head in file.pasted:
        for word, row in file.written.items():
            yield ("", head + word), _Effect(head + word, file.path, (row, row + 1), "call")
    for key, row, how in counted_on(file.before, file.after):
        yield key, _Effect(key[1], file.path, (row, row + 1), how)


def _overloaded(file: FileChange) -> Iterator[_Effect]:
    """Yield the functions that got another definition beside the existing ones: a call may now mean the new one."""
    for delta in file.deltas:
        element = delta.element
        if _is_new_function(delta):
            name = (element.name or b"").partition(b"(")[0]
            if name and defines(file.before, name):
                for form in (name, b"." + name):
                    yield _Effect(form, file.path, element.rows, "added another definition of")


def _is_plain_addition(delta: Delta) -> bool:
    """Whether a change only adds a function or an import to the top level."""
    is_new = delta.old is None and not (delta.scope or delta.is_gone or delta.is_head)
    return is_new and (delta.is_import or is_function(delta.element))


def _is_new_function(delta: Delta) -> bool:
    is_new = delta.old is None and not delta.is_gone and not delta.is_head
    return is_new and delta.function is None and is_function(delta.element)


def _behaviour(file: FileChange, deltas: Iterable[Delta]) -> Iterator[_Effect]:
    """Yield the names with a changed meaning: removed, with another contract, or with a body that acts differently."""
    for delta in deltas:
        lines = delta.element.rows
        for name in delta.effects.defines & delta.before.defines if not delta.is_gone else delta.before.defines:
            if delta.function is None and not name.startswith(b"."):
                what = "took away" if delta.is_gone else "changed"
                yield _Effect(name, file.path, lines, what, is_gone=delta.is_gone)
        for name in _contracts(delta):
            yield _Effect(name, file.path, lines, "changed how to call")
        for name, class_ in _bodies(delta):
            yield _Effect(name, file.path, lines, "changed the behaviour of")
            yield from (_Effect(each, file.path, lines, "changed the behaviour of") for each in _implied(name, class_))


def _contracts(delta: Delta) -> Iterator[bytes]:
    """Yield the functions and classes whose calls may have to change; a class is called by its own name."""
    if not (delta.element.is_definition and delta.is_head):
        return
    for name in delta.effects.defines:
        class_ = delta.scope[-1].name if name in _CONSTRUCTORS and delta.scope else None
        yield class_ or name


def _bodies(delta: Delta) -> Iterator[tuple[bytes, Element | None]]:
    """Yield the functions around and inside a changed statement, each with the class that it is a member of."""
    if not (delta.is_head and delta.element.is_definition):  # the head of a condition or loop belongs to the body
        for at, each in enumerate(delta.scope):
            if is_function(each) and each.name is not None:
                around = delta.scope[:at]
                (name,) = known_as((each.name,), around)
                if name not in _CONSTRUCTORS:
                    yield name, around[-1] if around else None
    if delta.old is not None:
        inside = changed_inside(delta.old.node, delta.element.node, delta.element.profile)
        yield from ((name, None) for name in inside if name not in _CONSTRUCTORS)


def _implied(name: bytes, class_: Element | None) -> Iterator[bytes]:
    """Yield the methods that the language calls implicitly and that reach `name` through methods of the same class."""
    if class_ is None:
        return
    methods = _methods(class_)
    calls: dict[bytes, frozenset[bytes]] = {}
    for each in sorted({implied for names in class_.profile.implied.values() for implied in names} - {name}):
        reached, rest = {each}, [each]
        while rest and name not in reached:
            at = rest.pop()
            if at in methods and at not in calls:
                calls[at] = frozenset(effects_of([methods[at].node], class_.profile).calls)
            more = calls.get(at, frozenset()) - reached
            reached |= more
            rest += more
        if name in reached:
            yield each


def _methods(class_: Element) -> dict[bytes, Element]:
    members = (child for part in class_.children if part.nodes is not None for child in part.children)
    return {b"." + each.name: each for each in members if each.is_definition and each.name is not None}


def _named(effects: Effects, profile: Profile) -> list[bytes]:
    """Return the called names; in some languages a bare name may be a call as well."""
    bare = effects.uses if profile.node_effects.bare_names_call else ()
    return [*(_last_name(call) for call in effects.calls), *(name for name in bare if not name.startswith(b"."))]


def _last_name(call: bytes) -> bytes:
    """Return the called name without the path to it: `a::f`, `a.f` and `a->f` call a member `f`."""
    words = _WORD.findall(call.partition(b"(")[0].partition(b"<")[0])
    is_member = call.startswith(b".") or len(words) > 1
    return (b"." if is_member else b"") + (words[-1] if words else b"")


def _new_calls(file: FileChange, deltas: Sequence[Delta]) -> Iterator[_Effect]:
    """Yield the names that are called, or named, more often than before."""
    now = Counter(
        name for delta in deltas if not delta.is_gone for name in _named(delta.effects, delta.element.profile)
    )
    before = Counter(name for delta in deltas for name in _named(delta.before, delta.element.profile))
    for delta in deltas:
        for name in _named(delta.effects, delta.element.profile):
            if now[name] > before[name]:
                yield _Effect(name, file.path, delta.element.rows, "call")


def _met(changing: _Side, calling: _Side, *, are_exchanged: bool = False) -> Iterator[Bearing]:
    told: set[tuple[bytes, str]] = set()
    bare: dict[bytes, list[_Effect]] = {}
    for (kind, name), calls in calling.called.items():
        if not kind:
            bare.setdefault(name.lstrip(b"."), []).extend(calls)
    changed = changing.changed(calling)
    for key in sorted(changed):
        exact = calling.called.get(key, ())
        is_member = key[1].startswith(b".") and ("", key[1][1:]) not in changed
        for change in changed[key]:
            # Another file may call a function through its module, or a method by its bare name.
            further = () if key[0] else bare.get(key[1].lstrip(b"."), ())
            calls = [*exact, *(each for each in further if each not in exact and calling.names(change.path, each.path))]
            if is_member and calling.names_members(change.path):
                calls += (each for each in further if each.path == change.path and each not in calls)
            told |= {(key[1].lstrip(b"."), call.path) for call in calls}
            yield from (_between(change, call, are_exchanged=are_exchanged) for call in calls)
    yield from _computed(changing, calling, changed, are_exchanged=are_exchanged)
    yield from _dangling(changing, calling, told, are_exchanged=are_exchanged)
    yield from _counted_on(changing, calling, told, are_exchanged=are_exchanged)


def _computed(
    changing: _Side, calling: _Side, changed: Mapping[_Key, Sequence[_Effect]], *, are_exchanged: bool
) -> Iterator[Bearing]:
    """Yield new calls of members by computed names, in files of which the other side changed or removed a member."""
    for file in (each for each in calling.files if each.computed is not None):
        row = file.computed or 0
        effects = [each for (kind, name), some in changed.items() if not kind and name[:1] == b"." for each in some]
        lines = {each.path: lines_of(each.before.source) for each in changing.files if each.path == file.path}
        effects += (
            each
            for each in changing.withdrawn.values()
            if each.path in lines and lines[each.path][each.lines[0]][:1].isspace()
        )
        call = _Effect(b"", file.path, (row, row + 1), "call a computed name, which may mean")
        met = next((each for each in effects if each.path == file.path), None)
        if met is not None:
            yield _between(met, call, are_exchanged=are_exchanged)


def _dangling(
    changing: _Side, using: _Side, told: Container[tuple[bytes, str]], *, are_exchanged: bool
) -> Iterator[Bearing]:
    """Yield places where one side newly writes a name that the other removed, except the names and paths in `told`."""
    if not changing.withdrawn:
        return
    for file in using.files:
        written = {name: _written_as(name, file) for name in changing.withdrawn}
        names = [name for name, word in written.items() if word is not None]
        for name in sorted(name for name in names if (name, file.path) not in told):
            word = written[name] or name
            change, row = changing.withdrawn[name], file.written[word]
            is_common = change.path != file.path and name.decode(errors="replace") in COMMON_ATTRIBUTES
            if not is_common and is_code(file.after, word, row):
                use = _Effect(name, file.path, (row, row + 1), "use")
                yield _between(change, use, are_exchanged=are_exchanged)


def _written_as(name: bytes, file: FileChange) -> bytes | None:
    """Return the word that stands for a name: itself, or the part of it from which the rest is computed or pasted."""
    if name in file.written:
        return name
    head = name.rpartition(b"_")[0] + b"_"
    if len(head) > 1 and head in file.written:
        return head
    tails = (name.removeprefix(each) for each in file.pasted if name.startswith(each))
    return next((each for each in tails if each in file.written), None)


def _counted_on(
    changing: _Side, using: _Side, told: Container[tuple[bytes, str]], *, are_exchanged: bool
) -> Iterator[Bearing]:
    """Yield places where one side newly writes a name of which something holds no more on the other side."""
    yield from _imported_otherwise(changing, using, are_exchanged=are_exchanged)
    for changed in changing.files:
        for name, row, what in changed.altered:
            bare = name.lstrip(b".")
            for file in using.files:
                place = file.written.get(bare)
                is_known = (bare, file.path) in told or not (
                    (file.path == changed.path and what not in ELSEWHERE) or using.names(changed.path, file.path)
                )
                if place is None or is_known or not is_code(file.after, name, place):
                    continue
                change = _Effect(name, changed.path, (row, row + 1), what)
                use = _Effect(name, file.path, (place, place + 1), "use")
                yield _between(change, use, are_exchanged=are_exchanged)


def _imported_otherwise(changing: _Side, using: _Side, *, are_exchanged: bool) -> Iterator[Bearing]:
    """Yield new uses of a name that the other side imports from elsewhere, and itself does not use in that way."""
    files = {file.path: file for file in using.files}
    for changed in (each for each in changing.files if each.path in files):
        file = files[changed.path]
        for name, row in taken_from_elsewhere(changed.before, changed.after):
            place = file.written.get(name)
            rows = changed_rows(file.before.source, file.after.source)[1]
            if place is None or not is_code(file.after, name, place):
                continue
            if not is_tried(name, file.after, rows, changed.after.source):
                change = _Effect(name, changed.path, (row, row + 1), "imported from elsewhere")
                use = _Effect(name, file.path, (place, place + 1), "use")
                yield _between(change, use, are_exchanged=are_exchanged)


def _between(change: _Effect, call: _Effect, *, are_exchanged: bool) -> Bearing:
    shown = change.name.decode(errors="replace").lstrip(".")
    why = f"one side {change.what} {shown!r} ({change.path}), the other came to {call.what} it ({call.path})"
    reason = Reason.DANGLING if change.is_gone else Reason.INTERFERES
    first, second = (call, change) if are_exchanged else (change, call)
    return Bearing(first.path, second.path, Spot(reason, why, ours=first.lines, theirs=second.lines))
