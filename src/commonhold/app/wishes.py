"""What a tool's wish makes of a file: foretold from the file as it is, before the tool has touched it."""

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from commonhold.app.happenings import CellEdit, Ends, Patched, Removed, Somehow, Swap, Unclear, Whole, Wish
from commonhold.app.line_ends import CRLF, in_ends
from commonhold.app.notebooks import edited
from commonhold.app.patching import patched
from commonhold.app.swapping import swapped
from commonhold.domain.texts import MARK


def result(wish: Wish, content: bytes | None) -> bytes | Unclear | None:
    """What the file will hold once the tool has done its work; None: it will be gone.

    `content` is what it holds now (None: there is none). What cannot be foretold is Unclear: the tool may look further
    than we do for text that is not there to the letter, and nobody knows what it would change then. The id of a
    notebook's new cell is the program's to choose, so a stand-in is foretold for it.
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


def results(wishes: Sequence[Wish], load: Callable[[str], bytes | None]) -> Mapping[str, bytes | None] | Unclear:
    """What each file will hold once the wishes were done one after the other; None: it will be gone.

    `load` gives what a file holds now. A file that is moved is gone from where it was. Two wishes are about one file if
    their paths are written alike.
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
