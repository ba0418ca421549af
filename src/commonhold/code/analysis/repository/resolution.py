"""Resolve names and chains to definitions, across files.

A target that is not certain is UNKNOWN, a target in another distribution is OUTSIDE. One resolver serves one state of a
repository; it caches its results.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final
from weakref import proxy

from commonhold.code.analysis.chains import CALLED, COLLECTION, EACH, ELEMENT, ENTERED, INSTANCE, MAPPING, Chain
from commonhold.code.analysis.chains import UNKNOWN as UNKNOWN_CHAIN
from commonhold.code.analysis.interface import last_name
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import BUILTINS, ITSELF, Receiver, Reference, Use
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.lineage import Lineage
from commonhold.code.analysis.repository.linkage import Linkage
from commonhold.code.analysis.repository.summary import MADE_NAMES, STAR, Import, Offer, Summary
from commonhold.code.analysis.repository.symbols import NOTHING, OUTSIDE, UNKNOWN, Place, Thing, What

_DEEPEST: Final = 24
_MOST_HANDS: Final = 48  # over how many imports a name may come, one file importing it from the next
_OF_SORT: Final = {Sort.FUNCTION: What.FUNCTION, Sort.CLASS: What.CLASS, Sort.VALUE: What.VALUE}
_HOOK: Final = "__getattr__"
_FIXTURES: Final = "conftest.py"
_WRITES_NAMES: Final = frozenset({"exec", "globals", "star import", MADE_NAMES})


class Resolver:
    """Resolves names in one state of a repository. Never raises; cycles end as UNKNOWN."""

    def __init__(self, library: Library) -> None:
        """Look names up in `library`, which must not change meanwhile."""
        self.library = library
        self._names: dict[tuple[str, str], Thing] = {}
        self._chains: dict[tuple[str, Chain], Thing] = {}
        self._depth = 0
        self._hands = 0

    @cached_property
    def lineage(self) -> Lineage:
        """The inheritance between classes."""
        me = proxy(self)  # else the two would keep each other, and their caches, alive

        def follow(path: str, chain: Chain) -> Thing:
            thing: Thing = me.chain(path, chain)
            return thing

        return Lineage(self.library, follow)

    def use(self, path: str, reference: Reference) -> Thing:
        """Return the target of a reference in the file at `path`."""
        if reference.name == ITSELF:
            return self.chain(path, reference.chain)
        if reference.use is Use.FIXTURE:
            return self._fixture(path, reference.name)
        if reference.chain:
            return self.attribute(self.chain(path, reference.chain), reference.name)
        return self._bare(path, reference)

    def guarded(self, path: str, reference: Reference) -> Thing:
        """Return the imported target of a bare name for which the file also defines a substitute; else UNKNOWN."""
        summary = self._summary(path)
        taken = summary.imported.get(reference.name) if summary and not reference.chain else None
        is_substituted = taken is not None and taken.is_guarded and taken.name in (summary.offered if summary else ())
        return self._imported(path, taken) if taken is not None and is_substituted else UNKNOWN

    def callee(self, path: str, reference: Reference) -> Thing:
        """Return the code that a call runs: if a name only stands for a class or a function, that."""
        thing = self.use(path, reference)
        value = self._value(thing) if thing.what is What.VALUE and reference.shape is not None else thing
        return value if value.what in (What.CLASS, What.FUNCTION) and not value.layers else thing

    def _bare(self, path: str, reference: Reference) -> Thing:
        if reference.receiver is Receiver.CLASS and reference.class_name:
            return self.attribute(self.name(path, reference.class_name), reference.name)
        if reference.receiver is not Receiver.NONE:
            return self._module(path, reference.name) if reference.use is Use.IMPORT else UNKNOWN
        return self.name(path, reference.name)

    def name(self, path: str, name: str) -> Thing:
        """Return the meaning of a name at the top level of a file; a qualified name means a member of a class."""
        place = path, name
        if place not in self._names:
            self._names[place] = UNKNOWN  # the answer if a cycle comes back to this name
            self._hands += 1
            self._names[place] = self._find(path, name) if self._hands < _MOST_HANDS else UNKNOWN
            self._hands -= 1
        return self._names[place]

    def chain(self, path: str, chain: Chain) -> Thing:
        """Return the target of a chain in the file at `path`."""
        place = path, chain
        if place not in self._chains:
            self._chains[place] = UNKNOWN
            self._depth += 1
            self._chains[place] = self._follow(path, chain) if self._depth < _DEEPEST else UNKNOWN
            self._depth -= 1
        return self._chains[place]

    def attribute(self, thing: Thing, name: str) -> Thing:
        """Return the target of a thing's attribute."""
        owner = self._value(thing)
        if owner.layers:
            return OUTSIDE
        if owner.what is What.MODULE:
            return self._of_module(owner, name)
        if owner.what in (What.CLASS, What.INSTANCE) and owner.offer:
            return self._member(owner, name)
        return OUTSIDE if owner.what is What.OUTSIDE else UNKNOWN

    def _summary(self, path: str) -> Summary | None:
        return self.library.summary(path)

    def _linkage(self, path: str) -> Linkage:
        summary = self._summary(path)
        return linkage_of(summary.language if summary else "")

    # Names of a file.

    def _find(self, path: str, name: str) -> Thing:
        summary = self._summary(path)
        if summary is None or summary.problem:
            return UNKNOWN
        offer, taken = summary.offered.get(name), summary.imported.get(name)
        if offer is not None and (taken is None or offer.sort is not Sort.VALUE):
            return Thing(_OF_SORT[offer.sort], (path,), offer)
        if taken is not None:
            return self._imported(path, taken)
        return self._seen_without_import(path, name, summary)

    def _imported(self, path: str, taken: Import) -> Thing:
        if not taken.module:
            return self.name(path, taken.member)  # another name for a definition of the same file
        modules = self._linkage(path).modules(self.library, path, taken.module)
        if not modules:
            return self._inside(path, taken)
        module = Thing(What.MODULE, modules)
        found = self._of_module(module, taken.member) if taken.member else module
        return UNKNOWN if taken.is_guarded and found.what is What.NOTHING else found

    def _inside(self, path: str, taken: Import) -> Thing:
        """Return a module of a package without a file of its own; else OUTSIDE."""
        if taken.member:
            glue = "" if taken.module.endswith(".") else "."
            return self._module(path, f"{taken.module}{glue}{taken.member}")
        return OUTSIDE

    def _module(self, path: str, name: str) -> Thing:
        modules = self._linkage(path).modules(self.library, path, name)
        return Thing(What.MODULE, modules) if modules else OUTSIDE

    def _seen_without_import(self, path: str, name: str, summary: Summary) -> Thing:
        for sibling in self._linkage(path).siblings(self.library, path):
            other = self._summary(sibling)
            offer = other.offered.get(name) if other else None
            if offer is not None:
                return Thing(_OF_SORT[offer.sort], (sibling,), offer)
        stars = [each for each in summary.imports if each.member == STAR]
        found = [self._imported(path, replace(each, member=name, name=name)) for each in stars]
        known = [thing for thing in found if thing.is_found or thing.what is What.MODULE]
        if known:
            return known[-1]
        if name in BUILTINS and summary.language == "python":
            return OUTSIDE
        return UNKNOWN

    def _of_module(self, module: Thing, name: str) -> Thing:
        for path in module.paths:
            if self._is_hidden(path, name):
                continue
            found = self.name(path, name)
            if found.what is not What.UNKNOWN and not self._is_builtin(path, name, found):
                return found
            below = self._linkage(path).below(self.library, path, name)
            if below:
                return Thing(What.MODULE, below)
        is_seen = all(map(self._is_closed, module.paths)) and not _is_made(name)
        return NOTHING if is_seen else UNKNOWN

    def _is_hidden(self, path: str, name: str) -> bool:
        """Whether a file hides a name from others."""
        summary = self._summary(path)
        if summary is None or summary.exports is None or not linkage_of(summary.language).hides:
            return False
        return name not in summary.exports

    def _is_builtin(self, path: str, name: str, found: Thing) -> bool:
        """Whether a name is only the builtin: it is no attribute of the module."""
        summary = self._summary(path)
        return found.what is What.OUTSIDE and name in BUILTINS and name not in (summary.imported if summary else ())

    def _is_closed(self, path: str) -> bool:
        """Whether all names of a file are known."""
        summary = self._summary(path)
        if summary is None or summary.problem or _HOOK in summary.offered or linkage_of(summary.language).is_made:
            return False
        is_written = any(marker.kind in _WRITES_NAMES for marker in summary.markers)
        return not is_written and not any(each.member == STAR for each in summary.imports)

    # Chains.

    def _follow(self, path: str, chain: Chain) -> Thing:
        if chain == UNKNOWN_CHAIN:
            return UNKNOWN
        thing, steps = self._start(path, chain)
        while steps and thing.what not in _ENDS:
            step = steps.pop()
            held = self._value(thing) if thing.what is What.VALUE else thing
            if not held.layers or step in _LAYERS:
                thing = self._step(thing, step)
                continue
            if step in _OF_COLLECTIONS and steps[-1:] == [CALLED]:
                steps.pop()
            thing = _inside(held, step)
        return thing

    def _start(self, path: str, chain: Chain) -> tuple[Thing, list[str]]:
        """Return the target of the first steps, and the others, last first. A folder without a file is no target."""
        thing, steps = self._root(path, chain[0]), list(reversed(chain[1:]))
        folder = self._folder(path, chain[0]) if thing.what is What.OUTSIDE else ""
        for count, step in enumerate(chain[1:] if folder else (), start=2):
            module = self._module(path, f"{folder}.{step}")
            if module.what is What.MODULE and self._is_imported(path, folder, step):
                return module, list(reversed(chain[count:]))
            folder = f"{folder}.{step}"
        return thing, steps

    def _folder(self, path: str, root: str) -> str:
        """Return the module that a root names by an import of the whole module; else empty."""
        word, _, rest = root.partition(" ")
        if rest:
            return rest if word == "import" else ""
        summary = self._summary(path)
        taken = summary.imported.get(root) if summary else None
        return taken.module if taken and not taken.member else ""

    def _is_imported(self, path: str, folder: str, name: str) -> bool:
        """Whether a file imports exactly this module."""
        summary = self._summary(path)
        uses = summary.uses_by_name.get(name, ()) if summary else ()
        return any(use.use is Use.IMPORT and use.chain == (f"import {folder}",) for use in uses)

    def _root(self, path: str, root: str) -> Thing:
        word, _, rest = root.partition(" ")
        if not rest:
            return self.name(path, root)
        if word == "import":
            return self._dotted(path, rest)
        if word == "fixture":
            return self._given(self._fixture(path, rest))
        found = self.name(path, rest)
        if found.what is not What.CLASS:
            return UNKNOWN
        return replace(found, what=What.CLASS if word == "cls" else What.INSTANCE, receiver=_RECEIVERS[word])

    def _dotted(self, path: str, name: str) -> Thing:
        """Return a module, or the class in a module, that a string names."""
        module = self._module(path, name)
        owner, _, member = name.rpartition(".")
        if module.what is What.MODULE or not owner.strip("."):
            return module
        around = self._module(path, owner)
        found = self._of_module(around, member) if around.what is What.MODULE else OUTSIDE
        return found if found.what is What.CLASS else OUTSIDE

    def _step(self, thing: Thing, step: str) -> Thing:
        if step in _LAYERS:
            return replace(thing, layers=thing.layers + step)
        if step in (ELEMENT, EACH):
            return self._element(thing, step)
        if step == CALLED:
            return self._called(thing)
        if step == INSTANCE:
            return self._instance(thing)
        if step == ENTERED:
            return self._entered(thing)
        return self.attribute(thing, step)

    def _element(self, thing: Thing, step: str) -> Thing:
        """Return a thing's element by index, or in a loop; a class with type arguments is still the class."""
        thing = self._value(thing)
        if thing.what is What.CLASS:
            return thing if step == ELEMENT and self.lineage.of(thing.place).is_closed else UNKNOWN
        if thing.what is not What.INSTANCE:
            return UNKNOWN
        if step == ELEMENT:
            return self._given(self._member(thing, "__getitem__"))
        given = self._given(self._member(thing, "__iter__"))
        return _inside(given, step) if given.layers else UNKNOWN

    def _called(self, thing: Thing) -> Thing:
        thing = self._value(thing)
        if thing.what is What.CLASS:
            return self._instance(thing)
        if thing.what is What.INSTANCE:
            thing = self._member(thing, "__call__")
        return self._given(thing) if thing.what is What.FUNCTION else thing if thing.what is What.OUTSIDE else UNKNOWN

    def _given(self, thing: Thing) -> Thing:
        """Return the known result of a function, or the known value."""
        if thing.offer is None or not thing.offer.gives:
            return UNKNOWN
        gives = thing.offer.gives
        if len(gives) == 1 and gives[0].startswith("self ") and thing.reached_on:
            return self._instance(self.name(*thing.reached_on))
        return self.chain(thing.path, gives)

    def _instance(self, thing: Thing) -> Thing:
        thing = self._value(thing) if thing.what is What.VALUE else thing
        if thing.what is What.CLASS:
            return replace(thing, what=What.INSTANCE, receiver=Receiver.INSTANCE)
        return thing if thing.what in (What.OUTSIDE, What.INSTANCE) else UNKNOWN

    def _entered(self, thing: Thing) -> Thing:
        thing = self._value(thing)
        if thing.what is not What.INSTANCE:
            return thing
        entry = self._member(thing, "__enter__")
        given = self._given(entry)
        return thing if given.what in (What.UNKNOWN, What.NOTHING) else given

    def _value(self, thing: Thing) -> Thing:
        """Return the object on which an attribute of a thing is looked up."""
        if thing.what is What.VALUE:
            return self._given(thing)
        if thing.what is What.FUNCTION and thing.offer and is_property(thing.offer):
            return self._given(thing)
        return thing

    def _member(self, owner: Thing, name: str) -> Thing:
        line = self.lineage.of(owner.place)
        skip = 1 if owner.receiver is Receiver.SUPER else 0
        for path, qualname in line.places[skip:]:
            offer = self._own_member(path, qualname, name)
            if offer is not None:
                there, found = offer
                return Thing(_OF_SORT[found.sort], (there,), found, _receiver(owner), owner.place)
        return NOTHING if line.is_closed and not name.startswith("__") else UNKNOWN

    def _own_member(self, path: str, qualname: str, name: str) -> tuple[str, Offer] | None:
        wanted = f"{qualname}.{name}"
        linkage = self._linkage(path)
        for place in (path, *(linkage.siblings(self.library, path) if linkage.spreads else ())):
            summary = self._summary(place)
            offer = summary.offered.get(wanted) if summary else None
            if offer is not None:
                return place, offer
        return None

    def _fixture(self, path: str, name: str) -> Thing:
        """Return the nearest test fixture of this name: in the file, else in a `conftest.py` above it."""
        for place in _fixture_files(path):
            summary = self._summary(place)
            offer = summary.offered.get(name) if summary else None
            if offer and any(each.endswith("fixture") for each in _decorators(offer)):
                return Thing(What.FUNCTION, (place,), offer)
        return UNKNOWN


def _fixture_files(path: str) -> Iterator[str]:
    yield path
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        yield f"{folder}/{_FIXTURES}" if folder else _FIXTURES


def _is_made(name: str) -> bool:
    """Whether Python itself gives every module an attribute with such a name."""
    return name.startswith("__") and name.endswith("__")


_ENDS: Final = frozenset({What.UNKNOWN, What.OUTSIDE, What.NOTHING})
_GIVE_ONE: Final = frozenset({"get", "pop", "popleft", "setdefault"})
_OF_COLLECTIONS: Final = _GIVE_ONE | {"copy", "values"}
_LAYERS: Final = frozenset({COLLECTION, MAPPING})


def _inside(held: Thing, step: str) -> Thing:
    """Return an element of a collection, or the result of one of its methods."""
    is_mapping = held.layers[-1] == MAPPING
    if step == ELEMENT or step in _GIVE_ONE or (step == EACH and not is_mapping):
        return replace(held, layers=held.layers[:-1])
    if step == "values" and is_mapping:
        return replace(held, layers=held.layers[:-1] + COLLECTION)
    return held if step == "copy" else UNKNOWN


_RECEIVERS: Final = {"self": Receiver.SELF, "cls": Receiver.CLS, "super": Receiver.SUPER}


def _receiver(owner: Thing) -> Receiver:
    if owner.receiver in (Receiver.SELF, Receiver.CLS, Receiver.SUPER):
        return owner.receiver
    return Receiver.INSTANCE if owner.what is What.INSTANCE else Receiver.CLASS


def _decorators(offer: Offer) -> set[str]:
    return {last_name(text) for each in offer.signatures for text in each.decorators}


def is_property(offer: Offer) -> bool:
    """Whether a method is read like an attribute."""
    return any(name.endswith("property") for name in _decorators(offer))


def is_place(thing: Thing, place: Place) -> bool:
    """Whether a thing is this definition."""
    return thing.is_found and thing.place == place
