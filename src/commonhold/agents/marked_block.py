"""A block of our lines at the end of a text of the user, between two marks.

Taking it out restores, byte for byte, the text before it was put in: if that ended in the middle of a line, so does the
block.
"""

from typing import Final, NamedTuple

_BEGIN: Final = "commonhold: begin"
_END: Final = "commonhold: end"


class Marks(NamedTuple):
    """The form of a comment in that kind of file."""

    before: str
    after: str = ""

    def line(self, words: str) -> str:
        """Return the words as a comment."""
        return f"{self.before}{words}{self.after}"


HASH: Final = Marks("# ")
MARKDOWN: Final = Marks("<!-- ", " -->")


class UnendedError(ValueError):
    """A block begins and has no end, or ends without a beginning: our part of the text cannot be recognized."""


def replaced(text: str | None, body: str, marks: Marks) -> str | None:
    """Return the text with `body` as its block, at its end; without one if `body` is empty; None if nothing is left."""
    if text is not None and body and block_in(text, marks) == body:
        return text
    bare = None if text is None else removed(text, marks)
    if not body:
        return bare
    newline = "\r\n" if bare and "\r\n" in bare else "\n"
    lines = [marks.line(_BEGIN), *body.split("\n"), marks.line(_END)]
    block = newline.join(lines)
    if not bare:
        return f"{block}{newline}" if bare is None else block
    return f"{bare}{newline}{block}{newline}" if bare.endswith("\n") else f"{bare}{newline}{block}"


def block_in(text: str, marks: Marks) -> str:
    """Return the text between the marks, with line ends as ours; empty if there is no block. Raises UnendedError."""
    found = _span(text, marks)
    return "\n".join(text[found[0] : found[1]].replace("\r\n", "\n").split("\n")[1:-1]) if found else ""


def removed(text: str, marks: Marks) -> str | None:
    """Return the text without the block; None if it contained nothing else. Raises UnendedError."""
    found = _span(text, marks)
    if found is None:
        return text
    begin, end = found
    before, after = text[:begin], text[end:]
    if not before and after in ("\n", "\r\n"):
        return None
    # The line end, or the empty line, in front of the block is ours, and so is the line end behind it.
    before = before.removesuffix(_line_end(text[begin + len(marks.line(_BEGIN)) :]))
    rest = after[len(_line_end(after)) :]
    return before + (rest if before.endswith("\n") else after)


def _line_end(text: str) -> str:
    return next((each for each in ("\r\n", "\n") if text.startswith(each)), "")


def _span(text: str, marks: Marks) -> tuple[int, int] | None:
    """Return the place of the block, marks included; None if there is none."""
    begin, end = _line(text, marks.line(_BEGIN)), _line(text, marks.line(_END))
    if begin is None and end is None:
        return None
    if begin is None or end is None or end < begin:
        raise UnendedError(f"the marks {_BEGIN!r} and {_END!r} are not both there, in that order")
    return begin, end + len(marks.line(_END))


def _line(text: str, mark: str) -> int | None:
    """Return the beginning of the line that is the mark; None if there is none."""
    at = 0
    for line in text.split("\n"):
        if line.removesuffix("\r") == mark:
            return at
        at += len(line) + 1
    return None
