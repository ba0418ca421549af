"""Whether what one side did to whole files bears on what the other did, in the same file or in another.

Names are all there is to go by across files, so a name is taken for the same thing wherever it stands. What is asked:
does one side newly call, or newly name, what the other took away, gave another contract, or made behave in another way?
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.interference import Delta, deltas_of, known_as
from commonhold.merging.layout import Element
from commonhold.merging.making import made_anew, made_otherwise
from commonhold.merging.profile import Profile
from commonhold.merging.record import Edit
from commonhold.merging.verdict import Lines, Reason, Spot

_CONSTRUCTORS: Final = frozenset({b".__init__", b".__new__", b".__init_subclass__"})


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after, as one side changed it."""

    path: str
    before: Element
    after: Element


@dataclass(frozen=True, slots=True)
class _Effect:
    """What a side did to a name, where it was, in words."""

    name: bytes
    path: str
    lines: Lines
    what: str
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Bearing:
    """A name that one side changed and the other came to count on."""

    ours_path: str
    theirs_path: str
    spot: Spot


def bearing(ours: Sequence[FileChange], theirs: Sequence[FileChange], profile: Profile) -> list[Bearing]:
    """What of either side bears on the other. Empty: nothing that names can tell."""
    mine, others = _Side.of(ours, profile), _Side.of(theirs, profile)
    return [*_met(mine, others), *_met(others, mine, are_exchanged=True)]


@dataclass(frozen=True, slots=True)
class _Side:
    """The names that a side changed, and those that it came to call."""

    changed: Mapping[bytes, _Effect]
    called: Mapping[bytes, _Effect]

    @classmethod
    def of(cls, files: Sequence[FileChange], profile: Profile) -> "_Side":
        """What a side did, over all its files."""
        changed: dict[bytes, _Effect] = {}
        called: dict[bytes, _Effect] = {}
        for file in files:
            deltas = list(deltas_of(Edit(file.before, file.after, ()), profile))
            for effect in _behaviour(file, deltas):
                changed.setdefault(effect.name, effect)
            for effect in _new_calls(file, deltas):
                called.setdefault(effect.name, effect)
            for name, row in made_otherwise(file.before, file.after):
                made = _made(name)
                changed.setdefault(made, _Effect(made, file.path, (row, row + 1), "changed how to make"))
            for name, row in made_anew(file.before, file.after):
                made = _made(name)
                called.setdefault(made, _Effect(made, file.path, (row, row + 1), "makes"))
        return cls(changed, called)


def _made(name: bytes) -> bytes:
    """What stands for the making of a type, beside the names of what is called."""
    return name + b"()"


def _behaviour(file: FileChange, deltas: Iterable[Delta]) -> Iterator[_Effect]:
    """The names that mean something else than before: another contract, gone, or a body that does other things."""
    for delta in deltas:
        lines = delta.element.rows
        for name in delta.effects.defines & delta.before.defines if not delta.is_gone else delta.before.defines:
            if delta.function is None and not name.startswith(b"."):
                what = "took away" if delta.is_gone else "changed"
                yield _Effect(name, file.path, lines, what, is_gone=delta.is_gone)
        for name in _contracts(delta):
            yield _Effect(name, file.path, lines, "changed how to call")
        for name, class_ in _bodies(delta):
            yield _Effect(name, file.path, lines, "changed what happens in")
            yield from (_Effect(each, file.path, lines, "changed what happens in") for each in _implied(name, class_))


def _contracts(delta: Delta) -> Iterator[bytes]:
    """The functions and classes that may have to be called in another way; a class is called by its own name."""
    if not (delta.element.is_definition and delta.is_head):
        return
    for name in delta.effects.defines:
        class_ = delta.scope[-1].name if name in _CONSTRUCTORS and delta.scope else None
        yield class_ or name


def _bodies(delta: Delta) -> Iterator[tuple[bytes, Element | None]]:
    """The functions around a changed statement, with the class that each is a member of."""
    if delta.is_head or delta.function is None or delta.function.name is None:
        return
    around = delta.scope[: delta.scope.index(delta.function)]
    (name,) = known_as((delta.function.name,), around)
    if name not in _CONSTRUCTORS:
        yield name, around[-1] if around else None


def _implied(name: bytes, class_: Element | None) -> Iterator[bytes]:
    """The methods that the language calls unsaid and that come to `name`, by way of methods of the same class."""
    if class_ is None:
        return
    implied = {each for names in class_.profile.implied.values() for each in names}
    methods = dict(_methods(class_))
    reached = {name}
    grown = implied & methods.keys()
    while grown and (more := {each for each, calls in methods.items() if each not in reached and calls & reached}):
        reached |= more
    yield from sorted(implied & reached - {name})


def _methods(class_: Element) -> Iterator[tuple[bytes, frozenset[bytes]]]:
    members = (child for part in class_.children if part.nodes is not None for child in part.children)
    for member in members:
        if member.is_definition and member.name is not None:
            yield b"." + member.name, frozenset(effects_of([member.node], member.profile).calls)


def _named(effects: Effects) -> list[bytes]:
    return [*effects.calls]


def _new_calls(file: FileChange, deltas: Sequence[Delta]) -> Iterator[_Effect]:
    """What is called, or named, more often than before."""
    now = Counter(name for delta in deltas if not delta.is_gone for name in _named(delta.effects))
    before = Counter(name for delta in deltas for name in _named(delta.before))
    for delta in deltas:
        for name in _named(delta.effects):
            if now[name] > before[name]:
                yield _Effect(name, file.path, delta.element.rows, "calls")


def _met(changing: _Side, calling: _Side, *, are_exchanged: bool = False) -> Iterator[Bearing]:
    for name in sorted(changing.changed.keys() & calling.called.keys()):
        change, call = changing.changed[name], calling.called[name]
        shown = name.decode(errors="replace").lstrip(".")
        why = f"one side {change.what} {shown!r} ({change.path}), the other came to call it ({call.path})"
        reason = Reason.DANGLING if change.is_gone else Reason.INTERFERES
        first, second = (call, change) if are_exchanged else (change, call)
        yield Bearing(first.path, second.path, Spot(reason, why, ours=first.lines, theirs=second.lines))
