"""Quotations of the project's notes in the answers to refused calls."""

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Final

from commonhold.kernel.answers import NoteQuote
from commonhold.kernel.errors import CommonholdError
from commonhold.workspace.place import WorktreeState

LINKS_KEY: Final = "archive:links"
"""The free key whose value links sections of notes to keys."""
KEPT_SECONDS: Final = 30.0
"""How long a quotation is used again: an agent that is refused tends to ask for the same again."""
_MOST_KEPT: Final = 64

FindNotes = Callable[[Sequence[str], str, str | None], tuple[NoteQuote, ...]]
"""Returns the quotations for canonical keys and words; the third argument is the value of LINKS_KEY."""

SearchNotes = Callable[[str], tuple[NoteQuote, ...]]
"""Returns the beginnings of the sections that have some words, best first."""


class ProjectNotes:
    """The notes that bear on a case. A refusal is given without them if they cannot be read."""

    def __init__(self, place: WorktreeState, find: FindNotes | None) -> None:
        """Look with `find` in the working tree of `place`; without it nothing is quoted."""
        self._place = place
        self._find = find
        self._lock = Lock()
        self._kept: dict[tuple[tuple[str, ...], str], tuple[float, tuple[NoteQuote, ...]]] = {}

    def bearing_on(self, keys: Iterable[str], words: str) -> tuple[NoteQuote, ...]:
        """Return the sections that bear on canonical `keys`, best first; none if there are no keys."""
        case = tuple(dict.fromkeys(keys)), words
        if self._find is None or not case[0]:
            return ()
        with self._lock:
            now = self._place.clock.now().ticks
            at, quotes = self._kept.get(case, (float("-inf"), ()))
            if now - at >= KEPT_SECONDS:
                quotes = self._found(self._find, case)
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[case] = now, quotes
            return quotes

    def _found(self, find: FindNotes, case: tuple[tuple[str, ...], str]) -> tuple[NoteQuote, ...]:
        try:
            with self._place.registry.read() as view:
                links = view.value(LINKS_KEY)
            return find(*case, links.text if links else None)
        except CommonholdError:  # the answer matters more than what it quotes
            return ()
