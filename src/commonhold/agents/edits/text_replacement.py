"""Replace one text in a file with another, in the manner of the tool that does it."""

from typing import Final

from commonhold.agents.edits.line_ends import CRLF, are_mostly_crlf, in_ends
from commonhold.agents.hook_events import Deleting, Ends, Swap, Unclear
from commonhold.kernel.texts import MARK

_STRAIGHT: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_NO_FILE: Final = "check the path; to make a new file, write the whole of it"
_OPENING_AFTER: Final = frozenset(" \t\n\r([{\u2014\u2013")


def swapped(wish: Swap, text: str | None) -> str | Unclear:
    """Return the future text of a file whose present text is `text` (None: there is no file), or why it is unclear."""
    if not wish.old:
        return _begun(wish, text)
    if text is None:
        return Unclear("there is no such file", wish.path, _NO_FILE)
    match wish.manner.ends:
        case Ends.MOST:
            after = _exchanged(wish, in_ends("\n", text), wish.old, wish.new)
            return in_ends(CRLF, after) if are_mostly_crlf(text) and isinstance(after, str) else after
        case Ends.ANY:
            after = _exchanged(wish, *(in_ends("\n", each) for each in (text, wish.old, wish.new)))
            return in_ends(CRLF, after) if CRLF in text and isinstance(after, str) else after
        case Ends.SPOKEN:
            end = CRLF if CRLF in text else "\n"
            return _exchanged(wish, text, in_ends(end, wish.old), in_ends(end, wish.new))
        case Ends.AS_GIVEN | Ends.FIRST:
            return _exchanged(wish, text, wish.old, wish.new)


def _begun(wish: Swap, text: str | None) -> str | Unclear:
    """Return the text of a file that an empty old text begins: the file must be missing or blank."""
    mark = MARK if text and text.startswith(MARK) else ""
    if text is not None and text.removeprefix(MARK).strip():
        return Unclear("the text to replace is empty, but the file exists and is not empty", wish.path)
    return mark + wish.new.removeprefix(MARK) if mark else wish.new


def _exchanged(wish: Swap, text: str, old: str, new: str) -> str | Unclear:
    there = _as_it_stands(wish, text, old)
    count = text.count(there) if there else 0
    if not count:
        return Unclear("the text to replace is not in the file", wish.path)
    if count > 1 and not wish.everywhere:
        return Unclear(f"the text to replace is in the file {count} times, and one place is to be changed", wish.path)
    if there != old:
        new = _quoted_like(there, new)
    if not new:
        there = _with_its_end(wish, text, there)
    after = text.replace(there, new) if wish.everywhere else text.replace(there, new, 1)
    return _ended_like(text, after) if wish.manner.keeps_last_end else after


def _as_it_stands(wish: Swap, text: str, old: str) -> str:
    """Return the old text as the file has it; empty if the file does not contain it."""
    if old in text or not wish.manner.bends_quotes:
        return old
    at = text.translate(_STRAIGHT).find(old.translate(_STRAIGHT))
    return text[at : at + len(old)] if at >= 0 else ""


def _with_its_end(wish: Swap, text: str, there: str) -> str:
    """Return the text to delete, including the line ending that the tool deletes with it."""
    if there.endswith("\n"):
        return there
    end = next((end for end in ("\n", "\r\n") if there + end in text), "")
    match wish.manner.deleting:
        case Deleting.LINE_END:
            return there + end
        case Deleting.WHOLE_LINES:
            return there + end if f"\n{there}{end}" in f"\n{text}" else there
        case Deleting.AS_GIVEN:
            return there


def _quoted_like(there: str, new: str) -> str:
    """Return the new text with curly quotes of the kinds that the found text has instead of straight ones."""
    if "\u201c" in there or "\u201d" in there:
        new = _curled(new, '"', "\u201c\u201d")
    if "\u2018" in there or "\u2019" in there:
        new = _curled(new, "'", "\u2018\u2019")
    return new


def _curled(text: str, straight: str, pair: str) -> str:
    return "".join(_curl(text, at, straight, pair) if char == straight else char for at, char in enumerate(text))


def _curl(text: str, at: int, straight: str, pair: str) -> str:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if straight == "'" and before.isalpha() and after.isalpha():
        return pair[1]
    return pair[0] if not before or before in _OPENING_AFTER else pair[1]


def _ended_like(before: str, after: str) -> str:
    if before.endswith("\n"):
        return after if after.endswith("\n") else f"{after}\n"
    return after.removesuffix("\n")
