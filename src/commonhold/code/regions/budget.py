"""The limit on the work of one parse.

The grammars are quick on all ordinary text, and quadratic or worse on some repetitions: a few kilobytes can take
minutes, in which the parser holds the interpreter lock. So work is counted, in steps of the parser and not in seconds,
to make the regions of a text the same on every machine. Each step also lets other threads run.

One part of the work makes no steps: ending a file that is broken in many ways at once. A parse that may come to that is
tried in another process first, if the program offers one (`TRIALS`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import tree_sitter

# Files up to this size are parsed without counting: the worst of them take some hundredths of a second.
MOST_UNCOUNTED_BYTES: Final = 1_000
# The parser reports after every hundred actions. Ordinary files need one or two actions a byte, lists of one-digit
# numbers up to ten; hostile files need as many as they have bytes.
_ACTIONS_A_STEP: Final = 100
_MOST_ACTIONS_A_BYTE: Final = 15
_FIRST_ACTIONS: Final = 10_000
# A scanner that looks far ahead and goes back reads again. Ordinary files do so once in 70 bytes at most.
_CHUNK: Final = 4_096
_FIRST_READS: Final = 200
_BYTES_A_READ: Final = 25
# A parse with so many actions so early may end without steps; one ordinary file in fifty is as dense.
_MANY_ACTIONS: Final = 4_000
_MANY_ACTIONS_A_BYTE: Final = 1.25
# Most requested texts are names: a few words, and the characters between them.
_WORD: Final = re.compile(rb"\w{1,64}|.", re.DOTALL)
_MOST_WORDS: Final = 32
_FIRST_TEXT: Final = 256
_MOST_WORDS_KNOWN: Final = 65_536
_MOST_REMEMBERED: Final = 1_000


class BudgetExceededError(Exception):
    """The grammar needs more work for these bytes than for any ordinary file of their size."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__("reading its syntax takes more work than any ordinary file of this size needs")


@dataclass(slots=True)
class Trials:
    """Where to try a parse that may run long without a step; nowhere, until the program sets it.

    `is_quick` takes the bytes and the name of their language, and returns whether the parse blocks others for no more
    than an instant. It may take any time, but must not hold the interpreter lock meanwhile.
    """

    is_quick: Callable[[bytes, str], bool] | None = None


TRIALS: Final = Trials()
# Whether doubtful parses are within the budget, by the hash of language and content.
_verdicts: Final[dict[bytes, bool]] = {}


def parsed(
    parser: tree_sitter.Parser, source: bytes, language: str, old: tree_sitter.Tree | None = None
) -> tree_sitter.Tree:
    """Return the tree that `parser` makes of UTF-8 bytes. Raises BudgetExceededError, at once if it did so before.

    With an `old` tree a small part of the budget must suffice; else it parses all again, for the same answer.
    """
    verdict = _verdicts.get(_key(source, language)) if _verdicts else None
    if verdict is False:
        raise BudgetExceededError
    tree = None if old is None else Reading(source, actions_a_byte=1).parse(parser, old)
    if tree is not None:
        return tree
    reading = Reading(source, may_doubt=verdict is None and TRIALS.is_quick is not None)
    tree = reading.parse(parser)
    if tree is not None:
        return tree
    if reading.is_doubtful and TRIALS.is_quick is not None and TRIALS.is_quick(source, language):
        tree = Reading(source).parse(parser)
    _remember(source, language, is_within=tree is not None)
    if tree is None:
        raise BudgetExceededError
    return tree


def _remember(source: bytes, language: str, *, is_within: bool) -> None:
    # Threads may do this at once: each step is safe by itself, and clearing the cache is harmless.
    if len(_verdicts) >= _MOST_REMEMBERED:
        _verdicts.clear()
    _verdicts[_key(source, language)] = is_within


def _key(source: bytes, language: str) -> bytes:
    found = sha256(language.encode() + b"\0")
    found.update(source)
    return found.digest()


class _Room:
    """A buffer for one chunk at a time: py-tree-sitter 0.26 keeps a reference to everything that it ever read."""

    def __init__(self) -> None:
        self._whole = memoryview(bytearray(_CHUNK))
        self._parts: dict[int, memoryview] = {}

    def filled(self, source: bytes, offset: int) -> memoryview:
        """Return the chunk at an offset; it is valid until the next request."""
        size = max(0, min(_CHUNK, len(source) - offset))
        self._whole[:size] = memoryview(source)[offset : offset + size]
        part = self._parts.get(size)
        if part is None:
            part = self._parts[size] = self._whole[:size]
        return part


_ROOMS: Final[list[_Room]] = []
"""Buffers that no parse is using. Threads take them and put them back; each of these is one atomic step."""
_WORDS: Final[dict[bytes, bytes]] = {}
"""The words that were read as texts: each word is the same object every time, for the same reason."""


def _room() -> _Room:
    try:
        return _ROOMS.pop()
    except IndexError:
        return _Room()


def _word(source: bytes, offset: int) -> bytes:
    """Return the word or the other character at an offset; empty at the end."""
    found = _WORD.match(source, offset)
    if found is None:
        return b""
    if len(_WORDS) >= _MOST_WORDS_KNOWN:
        _WORDS.clear()
    return _WORDS.setdefault(found[0], found[0])


class Reading:
    """One parse of some bytes: gives them to the parser in chunks, counts its work, and ends it if that is too much.

    A tree keeps it, and reads the texts of its nodes through it.
    """

    def __init__(
        self,
        source: bytes,
        *,
        actions_a_byte: int = _MOST_ACTIONS_A_BYTE,
        may_doubt: bool = False,
        at_step: Callable[[], None] = lambda: None,
    ) -> None:
        """Call `at_step` after each step. With `may_doubt`, also give up if the last step may be a long one."""
        self.source = source
        self._at_step = at_step
        self.is_doubtful = False
        self._actions_a_byte = actions_a_byte
        self._may_doubt = may_doubt
        self._is_over = False
        self._actions = 0
        self._reads = 0
        self._most_reads = _FIRST_READS + len(source) // _BYTES_A_READ
        self._room: _Room | None = None
        self._next = -1
        self._words = 0
        self._size = 0

    def parse(self, parser: tree_sitter.Parser, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree | None:
        """Return the tree; None if the parse was given up."""
        self._room = room = _room()
        try:
            if old is None:
                tree = parser.parse(self, progress_callback=self.is_enough)
            else:
                tree = parser.parse(self, old, progress_callback=self.is_enough)
        except ValueError:
            # The parser stopped as requested. Its next parse must not continue from here.
            parser.reset()
            return None
        finally:
            self._room = None
            _ROOMS.append(room)
        return None if self._is_over else tree

    def __call__(self, offset: int, _point: object) -> bytes | memoryview:
        """Return some bytes from an offset on; empty at the end, or if the scanner has read enough."""
        if self._room is None:
            return self._text(offset)
        self._reads += 1
        if self._reads > self._most_reads:
            # A scanner makes no steps. To stop it, the file ends here.
            self._is_over = True
            return b""
        return self._room.filled(self.source, offset)

    def is_enough(self, offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - the parser gives it by position
        """Return whether to end the parse; called after each step."""
        self._at_step()
        self._actions += _ACTIONS_A_STEP
        if self._actions > _FIRST_ACTIONS + offset * self._actions_a_byte:
            self._is_over = True
        elif self._may_doubt and self._actions >= _MANY_ACTIONS:
            self.is_doubtful = self._actions >= offset * _MANY_ACTIONS_A_BYTE
        return self._is_over or self.is_doubtful

    def _text(self, offset: int) -> bytes:
        """Return bytes for the text of a node, which asks until it has enough: in the end twice as many each time."""
        # Threads may ask at once: each gets some bytes, even if not the ideal number.
        self._words = self._words + 1 if offset == self._next else 0
        if self._words < _MOST_WORDS:
            text, self._size = _word(self.source, offset), _FIRST_TEXT
        else:
            text = self.source[offset : offset + self._size]
            self._size *= 2
        self._next = offset + len(text)
        return text
