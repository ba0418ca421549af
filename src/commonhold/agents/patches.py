"""Patches in the agents' format (`*** Begin Patch`), read into wishes.

Programs differ in the patches that they accept; this accepts what any of them accepts: a patch that the program then
refuses writes nothing, but one that it accepts and we could not read would go through unseen.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from commonhold.agents.hook_events import TO_THE_LETTER, Hunk, IntendedWrite, Manner, Patched, Removed, Whole

_BEGIN: Final = "*** Begin Patch"
_FINISH: Final = "*** End Patch"
_ADD: Final = "*** Add File:"
_UPDATE: Final = "*** Update File:"
_DELETE: Final = "*** Delete File:"
_MOVE: Final = "*** Move to:"
_LAST: Final = "*** End of File"
_WHERE: Final = "*** Environment ID:"
_DOCUMENT: Final = r"""<<-?\s*(?P<quote>['"]?)(?P<word>\w+)(?P=quote)[ \t]*\n(?P<patch>.*?)\n[ \t]*(?P=word)\s*"""
_WRAPPED: Final = re.compile(rf"\s*(?:(?:apply_?patch|cat)\s+)?{_DOCUMENT}", re.DOTALL)
_CALLED: Final = re.compile(
    rf"\s*(?:cd\s+(?P<folder>[^\s;&|'\"]+|'[^']*'|\"[^\"]*\")\s*&&\s*)?apply_?patch\s+{_DOCUMENT}", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The requested writes of a call, in order; `trouble` says which part could not be read: nothing after it was."""

    wishes: tuple[IntendedWrite, ...]
    trouble: str = ""


def read_patch(text: str, manner: Manner = TO_THE_LETTER) -> Asked:
    """Return the wishes of a patch, bare or in a here-document, for a tool of that manner."""
    plain = text.replace("\r\n", "\n")
    wrapped = _WRAPPED.fullmatch(plain)
    lines = (wrapped["patch"] if wrapped else plain).strip().split("\n")
    if lines[0].strip() != _BEGIN:
        return Asked((), f"the patch does not begin with {_BEGIN!r}")
    if len(lines) < 2 or lines[-1].strip() != _FINISH:  # noqa: PLR2004 - a first and a last line
        return Asked((), f"the patch does not end with {_FINISH!r}")
    reader = _Reader(lines[1:-1], manner)
    while reader.lines and not reader.trouble:
        reader.read_file()
    return Asked(tuple(reader.wishes), reader.trouble)


def called_in_shell(command: str) -> tuple[str, str] | None:
    """Return the folder and the patch of a shell command that only calls apply_patch; None for any other."""
    found = _CALLED.fullmatch(command.replace("\r\n", "\n"))
    return ((found["folder"] or "").strip("'\""), found["patch"]) if found else None


@dataclass(slots=True)
class _Reader:
    """Reads file after file from the remaining lines."""

    lines: list[str]
    manner: Manner
    wishes: list[IntendedWrite] = field(default_factory=list)
    trouble: str = ""

    def read_file(self) -> None:
        """Read the change of the next file in the patch. Blank lines between files mean nothing."""
        head = self.lines.pop(0).strip()
        for word, read in ((_ADD, self._added), (_UPDATE, self._updated), (_DELETE, Removed)):
            path = head.removeprefix(word).strip()
            if head.startswith(word) and path:
                self.wishes.append(read(path))
                return
        if head and not head.startswith(_WHERE):
            self.trouble = f"the patch has a line that is not understood: {head!r}"

    def _added(self, path: str) -> IntendedWrite:
        text = []
        while self._next_starts("+"):
            text.append(f"{self.lines.pop(0)[1:]}\n")
        return Whole(path, "".join(text), self.manner)

    def _updated(self, path: str) -> IntendedWrite:
        to = self.lines.pop(0).removeprefix(_MOVE).strip() if self._next_starts(_MOVE) else ""
        hunks: list[Hunk] = []
        while self.lines and not self._next_starts("***"):
            if not hunks or self._next_starts("@@"):
                hunks.append(self._hunk())
            elif (line := self.lines.pop(0)).strip():
                self.trouble = f"the patch of {path} has a line that is not understood: {line!r}"
                break
        return Patched(path, tuple(hunks), to, self.manner)

    def _hunk(self) -> Hunk:
        anchors = []
        while self._next_starts("@@"):
            anchors.append(self.lines.pop(0)[2:].removeprefix(" "))
        before: list[str] = []
        after: list[str] = []
        kept: list[tuple[int, int]] = []
        while self.lines and (not self.lines[0] or self._next_starts(" ", "+", "-")):
            mark, text = self.lines[0][:1], self.lines.pop(0)[1:]
            if mark in ("", " "):
                kept.append((len(before), len(after)))
            if mark != "+":
                before.append(text)
            if mark != "-":
                after.append(text)
        is_last = self._next_starts(_LAST) and bool(self.lines.pop(0))
        named = tuple(anchor for anchor in anchors if anchor.strip())
        return Hunk(tuple(before), tuple(after), named, at_end=is_last, kept=tuple(kept))

    def _next_starts(self, *words: str) -> bool:
        return bool(self.lines) and self.lines[0].startswith(words)
