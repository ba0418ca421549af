"""Find values of local variables that a function never read, and that the changes of one side make it read.

If a side deletes an assignment, for example, an earlier one takes effect again, and with it all names that it uses.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tree_sitter import Node

from commonhold.merging.align import equal_ends
from commonhold.merging.changed_rows import WORD
from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.layout import Element, Shape
from commonhold.merging.local_variables import is_own
from commonhold.merging.profile import Profile
from commonhold.merging.prose import lines_of
from commonhold.merging.reachable_variables import reached

_LOOPS: Final = re.compile(r"(?:\A|_)for(?:each)?(?:_|\Z)|while|loop|do_statement|do_group|repeat|until")
_CONDITIONAL: Final = re.compile(r"_modifier\Z|\Alist\Z|conditional|ternary|binary|boolean|logical")

Run = Sequence[Element]


def exposed_values(old: Element, new: Element) -> Effects:
    """Return the effects of the assignments whose values a function now reads, and did not read before.

    `old` and `new` are two versions of one function. An assignment counts if its text is the same in both. Its uses
    include those of the local variables from which it computes its value. Nothing counts as defined.
    """
    names = _assigned(_changed_words(old.text, new.text), old.text)
    unread = Counter((each.name, each.text) for each in _Values(old, names).unread) if names else Counter()
    if not unread:
        return Effects()
    now = _Values(new, names)
    unread -= Counter((each.name, each.text) for each in now.unread)
    rest = [
        each.element
        for each in now.assignments
        if unread[each.name, each.text] and not reached(each.name, each.element)
    ]
    if not rest:
        return Effects()
    made: dict[bytes, list[Element]] = {}
    for each in _Values(new).assignments:
        made.setdefault(each.name, []).append(each.element)
    found: dict[int, Element] = {}
    while rest:
        element = rest.pop()
        if id(element) not in found:
            found[id(element)] = element
            rest += (each for name in now.effects(element).uses for each in made.get(name, ()))
    effects = effects_of([each.node for each in found.values()], new.profile)
    return Effects(uses=effects.uses, calls=effects.calls, receivers=effects.receivers, whole=effects.whole)


def no_longer_own(old: Element, new: Element) -> frozenset[bytes]:
    """Return the variables that a function declared and now only mentions: they are those of code around it."""
    names = _assigned(_changed_words(old.text, new.text), old.text) & new.tokens.keys()
    return frozenset(name for name in names if is_own(name, old) and not is_own(name, new))


def _changed_words(old: bytes, new: bytes) -> set[bytes]:
    """Return the words on the lines that changed, and on those between them: what became of others is as it was."""
    before, after = lines_of(old), lines_of(new)
    head, tail = equal_ends(before, after)
    changed = (*before[head : len(before) - tail], *after[head : len(after) - tail])
    return {word for line in changed for word in WORD.findall(line)}


def _assigned(words: Iterable[bytes], text: bytes) -> frozenset[bytes]:
    """Return the words that seem to be assigned on some line of a text."""
    form = rb"(?<!\w)%s(?!\w)[^=\n(]*(?<![<>!=])=(?!=)"
    return frozenset(word for word in words if re.search(form % re.escape(word), text))


@dataclass(frozen=True, slots=True)
class _Assignment:
    """A statement that assigns a variable; `after` are the runs of elements that may be run after it, nearest first."""

    name: bytes
    element: Element
    after: tuple[Run, ...]

    @property
    def text(self) -> bytes:
        return self.element.text


class _Values:
    """The assignments in the body of one function, without those of functions inside it; only of `names`, if given."""

    def __init__(self, function: Element, names: frozenset[bytes] | None = None) -> None:
        self._function = function
        self._names = names
        self._effects: dict[int, Effects] = {}

    def effects(self, element: Element) -> Effects:
        """Return the effects of an element on names, computed once."""
        found = self._effects.get(id(element))
        if found is None:
            found = self._effects[id(element)] = effects_of([element.node], element.profile)
        return found

    @cached_property
    def assignments(self) -> Sequence[_Assignment]:
        """The statements that assign variables, each once for each variable."""
        return [*self._assignments(self._function, ())]

    @cached_property
    def unread(self) -> Sequence[_Assignment]:
        """The assignments whose value this function itself never reads."""
        return [each for each in self.assignments if not self._is_read(each)]

    def _assignments(self, holder: Element, after: tuple[Run, ...]) -> Iterator[_Assignment]:
        around = ((holder,), *after) if _LOOPS.search(holder.node.type) and not holder.is_definition else after
        children = holder.children
        for index, child in enumerate(children):
            rest = (children[index + 1 :], *around)
            if holder.shape is not Shape.BLOCK:
                if child.holds_body:
                    yield from self._assignments(child, rest)
            elif child.holds_body:
                if not child.is_definition:
                    yield from self._assignments(child, rest)
            elif self._names is None or not self._names.isdisjoint(WORD.findall(child.text)):
                names = (name for name in self.effects(child).defines if not name.startswith(b"."))
                yield from (_Assignment(name, child, rest) for name in sorted(names))

    def _is_read(self, assignment: _Assignment) -> bool:
        for run in assignment.after:
            for element in run:
                if assignment.name not in element.text:
                    continue
                if assignment.name in self.effects(element).uses:
                    return True
                if not element.holds_body and _always_assigns(element.node, assignment.name, element.profile):
                    return False
        return False


def _always_assigns(node: Node, name: bytes, profile: Profile) -> bool:
    """Whether running a statement surely gives a variable a new value."""
    if _CONDITIONAL.search(node.type):
        return False
    return any(_assigns(each, name, profile) for each in (node, *node.named_children))


def _assigns(node: Node, name: bytes, profile: Profile) -> bool:
    binding = profile.bindings.get(node.type)
    if binding is None or binding.is_scope or binding.mutates or not binding.defines:
        return False
    word = re.compile(rb"(?<![\w$@])" + re.escape(name) + rb"(?!\w)")
    targets = (
        child
        for index, child in enumerate(node.children)
        if (node.field_name_for_child(index) or "") in binding.defines
    )
    return any(word.search(child.text or b"") for child in targets) and name in effects_of([node], profile).defines
