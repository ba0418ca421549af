"""The changes of an edit that matter to the rest of the file: signatures, classes, constructors, removed names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from commonhold.code.analysis.interface import (
    EVERY_BASE,
    CallableInterface,
    ClassInterface,
    Parameter,
    ParamKind,
    qualified,
)
from commonhold.code.analysis.leaf_pairs import Pair, definition_of
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Module, Sort, assigned_on_self
from commonhold.code.analysis.references import BUILTINS
from commonhold.kernel.keys import Key

_ANYTHING: Final = CallableInterface(
    (Parameter("args", ParamKind.VAR_POSITIONAL), Parameter("kwargs", ParamKind.VAR_KEYWORD))
)
Signatures = tuple[tuple[CallableInterface, CallableInterface], ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A name that an edited region defines: `before` and `after` are the class around it in each file."""

    before: str
    name: str
    after: str

    @property
    def qualname(self) -> str:
        """Its name before."""
        return qualified(self.before, self.name)

    @property
    def successor(self) -> str:
        """The name of this class after, if it is a class."""
        return qualified(self.after, self.name)


@dataclass(frozen=True, slots=True)
class Change:
    """Common to all changes: the change in words, and the regions (of the file after) that caused it."""

    subject: Subject
    what: str
    edited: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True)
class Resigned(Change):
    """Callers meet another signature. `provider` is the class whose definition they reach now."""

    signatures: Signatures = ()
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Gone(Change):
    """The name is no longer bound."""


@dataclass(frozen=True, slots=True)
class Reshaped(Change):
    """A class was composed again, or a function became a class: every use of the name is affected.

    If it only `lost` bases, only its subclasses and its own methods are affected.
    """

    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rebuilt(Change):
    """A class (named by the subject) is called in another way. None if outside classes decide this."""

    constructors: tuple[CallableInterface | None, CallableInterface | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Notice:
    """Worth reporting; it blocks no edit."""

    text: str


@dataclass(frozen=True)
class Comparison:
    """Two versions of a file and the leaves that were edited between them."""

    before: Module
    after: Module
    pairs: tuple[Pair, ...]

    @cached_property
    def origins(self) -> dict[str, str]:
        """The former qualified names of renamed classes by the present ones."""
        return {
            qualified(*definition_of(pair.after)): qualified(*definition_of(pair.before))
            for pair in self.pairs
            if pair.is_class_header and pair.before and pair.after
        }

    def origin(self, qualname: str) -> str:
        """Return the name before of a class of the file after; nested classes follow their outer one."""
        head, dot, tail = qualname.rpartition(".")
        return self.origins.get(qualname) or (self.origin(head) + dot + tail if head else qualname)

    def newly_deleted(self, class_name: str) -> frozenset[str]:
        """Return the names that a class, or the file, newly deletes with `del`."""
        if class_name not in self._newly_deleted:
            after = self.after.deleted(self.successor(class_name))
            self._newly_deleted[class_name] = after - self.before.deleted(class_name)
        return self._newly_deleted[class_name]

    @cached_property
    def _newly_deleted(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def renamed(self) -> dict[tuple[str, str], str]:
        """The present qualified names of definitions with the same region, by former class and name; the first wins."""
        found: dict[tuple[str, str], str] = {}
        for pair in self.pairs:
            if pair.before and pair.after:
                found.setdefault(definition_of(pair.before), qualified(*definition_of(pair.after)))
        return found

    @cached_property
    def successors(self) -> dict[str, str]:
        """The reverse of `origins`."""
        return {old: new for new, old in self.origins.items()}

    def successor(self, qualname: str) -> str:
        """Return the name after of a class of the file before."""
        head, dot, tail = qualname.rpartition(".")
        return self.successors.get(qualname) or (self.successor(head) + dot + tail if head else qualname)


def changes_of(comparison: Comparison) -> tuple[Change | Notice, ...]:
    """Return all changes by the edited leaves that matter to other code, each once."""
    subjects: dict[Subject, set[Key]] = {}
    for pair in comparison.pairs:
        edited = {pair.after.key} if pair.after else set()
        for subject in _subjects(pair, comparison):
            subjects.setdefault(subject, set()).update(edited)
    named = (
        replace(change, edited=frozenset(edited)) if isinstance(change, Change) else change
        for subject, edited in subjects.items()
        for change in _change(subject, comparison)
    )
    return (*named, *_rebuilt(comparison))


def _subjects(pair: Pair, comparison: Comparison) -> Iterator[Subject]:
    if pair.before is None:
        yield from _again(pair, comparison)
        return
    class_name, name = definition_of(pair.before)
    after = definition_of(pair.after)[0] if pair.after else comparison.successor(class_name)
    if name:
        yield Subject(class_name, name, after)
    for method in comparison.before.functions.get((class_name, name), ()) if class_name else ():
        yield from (Subject(class_name, attribute, after) for attribute in assigned_on_self(method))
    if not pair.is_callable:
        inside = qualified(class_name, name)
        yield from _header_subjects(inside, comparison)


def _again(pair: Pair, comparison: Comparison) -> Iterator[Subject]:
    """Yield a new function under a name that already exists: as a function, or as a builtin of Python."""
    class_name, name = definition_of(pair.after) if pair.after and pair.is_callable else ("", "")
    former = comparison.origin(class_name)
    is_taken = comparison.before.sort_of(former, name) is Sort.FUNCTION
    if is_taken or (not class_name and name in BUILTINS and comparison.before.sort_of("", name) is None):
        yield Subject(former, name, class_name)


def _header_subjects(class_name: str, comparison: Comparison) -> Iterator[Subject]:
    """Yield the names that a header binds itself; definitions have regions of their own."""
    for name in comparison.before.members(class_name):
        if comparison.before.sort_of(class_name, name) is Sort.VALUE:
            yield Subject(class_name, name, comparison.successor(class_name))
    for name in comparison.newly_deleted(class_name):
        yield Subject(class_name, name, comparison.successor(class_name))


def _change(subject: Subject, comparison: Comparison) -> Iterator[Change | Notice]:
    sort = comparison.before.sort_of(subject.before, subject.name)
    provider = comparison.after.provider(subject.after, subject.name)
    if sort is None:
        yield from _hides_builtin(subject, comparison)
        return
    if provider == subject.after and subject.name in comparison.newly_deleted(subject.before):
        yield Gone(subject, f"`{subject.qualname}` is deleted")
        return
    if provider is None:
        if _left_with_its_class(subject, comparison):
            return
        yield Gone(subject, f"`{subject.qualname}` is gone{_new_name(subject, comparison)}")
        return
    now = comparison.after.sort_of(provider, subject.name)
    compare = _COMPARE.get((sort, now)) if now else None
    if compare is not None:
        yield from compare(subject, provider, comparison)


def _hides_builtin(subject: Subject, comparison: Comparison) -> Iterator[Resigned]:
    new = comparison.after.interfaces("", subject.name)
    if not subject.before and subject.name in BUILTINS and new:
        what = f"`{subject.name}` now hides the builtin of that name and takes {new[-1]}"
        yield Resigned(subject, what, signatures=((_ANYTHING, new[-1]),))


def _left_with_its_class(subject: Subject, comparison: Comparison) -> bool:
    """Whether the whole class is now imported or assigned; then its members go with it and cannot be seen."""
    class_name, _, name = subject.after.rpartition(".")
    is_class = not name or subject.after in comparison.after.classes
    return not is_class and comparison.after.provider(class_name, name) is not None


def _new_name(subject: Subject, comparison: Comparison) -> str:
    name = comparison.renamed.get((subject.before, subject.name))
    return f" (renamed to `{name}`)" if name else ""


def _functions(subject: Subject, provider: str, comparison: Comparison) -> Iterator[Change | Notice]:
    old = comparison.before.interfaces(subject.before, subject.name)
    new = comparison.after.interfaces(provider, subject.name)
    pairs = tuple(zip(old, new, strict=True)) if len(old) == len(new) else ((old[-1], new[-1]),)
    differing = tuple((left, right) for left, right in pairs if left.erased() != right.erased())
    if differing:
        yield Resigned(subject, _what(subject, *differing[0]), signatures=differing, provider=provider)
    elif any(left != right for left, right in pairs):
        yield Notice(f"of `{subject.qualname}` only what type checkers read changed; no caller is affected at run time")


def _what(subject: Subject, old: CallableInterface, new: CallableInterface) -> str:
    name = f"`{subject.qualname}`"
    if old.is_async != new.is_async:
        return f"{name} became {'async' if new.is_async else 'a plain function'}"
    if old.active_decorators != new.active_decorators:
        return f"the decorators of {name} changed from {_listed(old.decorators)} to {_listed(new.decorators)}"
    if old.is_generator != new.is_generator:
        return f"{name} became {'a generator' if new.is_generator else 'a plain function'}"
    return f"the parameters of {name} changed from {old} to {new}"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or "none"


def _classes(subject: Subject, provider: str, comparison: Comparison) -> Iterator[Change | Notice]:
    name = f"`{subject.qualname}`"
    after = qualified(provider, subject.name)
    old, new = comparison.before.class_interface(subject.qualname), comparison.after.class_interface(after)
    if lost := _lost_bases(old, new, after, comparison):
        bases = f"from {_listed(old.plain_bases)} to {_listed(new.plain_bases)}"
        yield Reshaped(subject, f"the bases of {name} changed {bases}", lost=lost)
    elif old.active_decorators != new.active_decorators:
        decorators = f"from {_listed(old.active_decorators)} to {_listed(new.active_decorators)}"
        yield Reshaped(subject, f"the decorators of {name} changed {decorators}")
    if old.keywords != new.keywords:
        yield Notice(f"the keywords of {name} changed from {_listed(_keywords(old))} to {_listed(_keywords(new))}")
    elif old.bases != new.bases and old.plain_bases == new.plain_bases:
        yield Notice(f"only the type arguments of the bases of {name} changed; nothing is affected at run time")


def _lost_bases(old: ClassInterface, new: ClassInterface, qualname: str, comparison: Comparison) -> tuple[str, ...]:
    """Return the bases that a class lost; none if a new one from elsewhere may inherit from them."""
    if not comparison.after.has_bases_in_sight(qualname) and set(new.plain_bases) - set(old.plain_bases):
        return ()
    kept = {EVERY_BASE, *new.plain_bases, *comparison.after.ancestors(qualname)}
    return tuple(base for base in old.plain_bases if base not in kept)


def _keywords(interface: ClassInterface) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in interface.keywords)


def _values(subject: Subject, provider: str, comparison: Comparison) -> Iterator[Notice]:
    old = _imports(comparison.before, subject.before, subject.name)
    new = _imports(comparison.after, provider, subject.name)
    if old and new and not set(new) <= set(old):
        yield Notice(f"`{subject.name}` now comes from `{_listed(new)}` instead of `{_listed(old)}`")


def _imports(module: Module, class_name: str, name: str) -> tuple[str, ...]:
    return tuple(bound.origin for bound in module.members(class_name).get(name, ()) if bound.is_import)


def _moved(subject: Subject, _provider: str, _comparison: Comparison) -> Iterator[Notice]:
    yield Notice(f"`{subject.qualname}` is no longer defined but assigned or imported; its uses were not checked")


def _retyped(subject: Subject, _provider: str, comparison: Comparison) -> Iterator[Reshaped]:
    was = comparison.before.sort_of(subject.before, subject.name)
    now = Sort.CLASS if was is Sort.FUNCTION else Sort.FUNCTION
    yield Reshaped(subject, f"`{subject.qualname}` was a {was} and is now a {now}")


_Compare = Callable[[Subject, str, Comparison], Iterator[Change | Notice]]
_COMPARE: Final[Mapping[tuple[Sort, Sort], _Compare]] = {
    (Sort.FUNCTION, Sort.FUNCTION): _functions,
    (Sort.CLASS, Sort.CLASS): _classes,
    (Sort.VALUE, Sort.VALUE): _values,
    (Sort.FUNCTION, Sort.VALUE): _moved,
    (Sort.CLASS, Sort.VALUE): _moved,
    (Sort.FUNCTION, Sort.CLASS): _retyped,
    (Sort.CLASS, Sort.FUNCTION): _retyped,
}


def _rebuilt(comparison: Comparison) -> Iterator[Rebuilt]:
    """Yield the classes whose constructor changed, by their own edit or by that of a base."""
    roots: dict[str, set[Key]] = {}
    for pair in comparison.pairs:
        for class_name in _constructed(pair):
            heirs = comparison.after.descendants(class_name)
            for qualname in (class_name, *heirs):
                roots.setdefault(qualname, set()).update({pair.after.key} if pair.after else set())
    for qualname, edited in roots.items():
        yield from _constructor_change(qualname, frozenset(edited), comparison)


def _constructed(pair: Pair) -> Iterator[str]:
    """Yield the classes whose constructor an edited leaf may belong to."""
    for region in (pair.before, pair.after):
        class_name, name = definition_of(region) if region else ("", "")
        if pair.is_class_header and name:
            yield qualified(class_name, name)
        elif class_name and name in CONSTRUCTORS:
            yield class_name


def _constructor_change(qualname: str, edited: frozenset[Key], comparison: Comparison) -> Iterator[Rebuilt]:
    former = comparison.origin(qualname)
    if former not in comparison.before.classes or qualname not in comparison.after.classes:
        return
    old, new = comparison.before.constructor(former), comparison.after.constructor(qualname)
    if (old and old.erased()) == (new and new.erased()):
        return
    class_name, _, name = qualname.rpartition(".")
    what = f"the constructor of `{qualname}` changed from {old or '(unknown)'} to {new or '(unknown)'}"
    yield Rebuilt(Subject(comparison.origin(class_name), name, class_name), what, edited, (old, new))
