"""Predict the effect of a tool's intended write on a file, from the file's present content, before the tool runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from commonhold.agents.edits.line_ends import CRLF, in_ends
from commonhold.agents.edits.notebooks import edited
from commonhold.agents.edits.patching import patched
from commonhold.agents.edits.text_replacement import swapped
from commonhold.agents.hook_events import CellEdit, Ends, IntendedWrite, Patched, Removed, Somehow, Swap, Unclear, Whole
from commonhold.kernel.texts import MARK


def result(wish: IntendedWrite, content: bytes | None) -> bytes | Unclear | None:
    """Return the content of the file after the tool's write; None if it will be gone.

    `content` is its present content (None: there is no file). A write that cannot be predicted is Unclear: the tool may
    search more loosely than this for a text that is not in the file exactly, and its change is unknown then. The
    program chooses the id of a notebook's new cell, so the prediction has a placeholder.
    """
    if isinstance(wish, Somehow):
        return Unclear("it is not known how the tool writes it", wish.path)
    if isinstance(wish, Removed):
        return None if content is not None else Unclear("there is no such file", wish.path)
    try:
        after = _whole(wish, content or b"") if isinstance(wish, Whole) else _text(wish, content)
        return after if isinstance(after, Unclear) else after.encode()
    except UnicodeDecodeError:
        return Unclear("the file is not UTF-8 text", wish.path, "change it with a shell command")
    except UnicodeEncodeError:
        return Unclear("the new text is not valid Unicode", wish.path, "write it as valid Unicode text")


def results(
    wishes: Sequence[IntendedWrite], load: Callable[[str], bytes | None]
) -> Mapping[str, bytes | None] | Unclear:
    """Return each file's content after all intended writes, in order; None if it will be gone.

    `load` returns a file's present content. A moved file is gone from its old place. Two writes are to the same file if
    their paths are spelled the same.
    """
    found: dict[str, bytes | None] = {}
    for wish in wishes:
        after = result(wish, found[wish.path] if wish.path in found else load(wish.path))
        if isinstance(after, Unclear):
            return after
        found[wish.path] = after
        if isinstance(wish, Patched) and wish.to:
            found |= {wish.path: None, wish.to: after}
    return found


def _whole(wish: Whole, content: bytes) -> str:
    text = wish.content
    if wish.manner.ends is Ends.ANY and CRLF.encode() in content:
        text = in_ends(CRLF, text)
    is_marked = wish.manner.keeps_mark and content.startswith(MARK.encode())
    return MARK + text.removeprefix(MARK) if is_marked and text else text


def _text(wish: Swap | CellEdit | Patched, content: bytes | None) -> str | Unclear:
    text = None if content is None else content.decode()
    match wish:
        case Swap():
            return swapped(wish, text)
        case CellEdit():
            return edited(wish, text)
        case Patched():
            return patched(wish, text)
        case _:
            assert_never(wish)
