"""How a file writes text: its encoding, its line ends, the blank lines around a piece of it."""

from dataclasses import dataclass, replace
from typing import Final

from commonhold.code.regions.encoding import BLANK, Encoding, encoding_of
from commonhold.code.regions.languages import language_for
from commonhold.code.regions.region import RegionMap
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.texts import MARK

SPACE: Final = BLANK.decode()


@dataclass(frozen=True, slots=True)
class Style:
    """How the file writes text; `line_end` is None if the file has none, or mixes them."""

    path: str
    encoding: Encoding
    line_end: str | None

    @classmethod
    def of(cls, map: RegionMap) -> "Style":  # noqa: A002 - the word of the domain
        """Return the style of a file as it is."""
        encoding = encoding_of(map.source, language_for(map.path, map.source))
        line_ends, crlf = map.source.count(b"\n"), map.source.count(b"\r\n")
        is_mixed = 0 < crlf < line_ends
        line_end = None if is_mixed or not line_ends else "\r\n" if crlf else "\n"
        return cls(map.path, encoding, line_end)

    def declared_by(self, text: str) -> "Style":
        """Return the style for a whole new file: in the encoding that it declares, unless a byte order mark decides."""
        head = self.encoding.bom + text.removeprefix(MARK).encode(errors="replace")
        encoding = replace(self.encoding, codec=encoding_of(head, language_for(self.path, head)).codec)
        return replace(self, encoding=encoding)

    def text_of(self, data: bytes) -> str | None:
        """Return the decoded `data`; None if it is not in the encoding."""
        try:
            return self.encoding.decode(data)
        except UnicodeError:
            return None

    def bytes_of(self, text: str) -> bytes:
        """Return `text` as the file writes it. Raises InputError ENCODING_INVALID if its encoding lacks a character."""
        try:
            return self.encoding.encode(self.lines_of(text))
        except UnicodeError as error:
            raise InputError(
                Code.ENCODING_INVALID,
                f"the text cannot be written to {self.path} in {self.encoding.codec}: {error}",
                hint="use escapes for these characters, or replace the whole file with another encoding line",
                fields={"path": self.path, "encoding": self.encoding.codec},
            ) from error

    def lines_of(self, text: str) -> str:
        """Return the text with the file's line ends, without a byte order mark."""
        text = text.removeprefix(MARK)
        return text if self.line_end is None else text.replace("\r\n", "\n").replace("\n", self.line_end)


def header_text(text: str, old: str | None, *, has_line_end: bool) -> str:
    """Return the text with the old one's surrounding blank lines, unless it brings its own, and a last line end."""
    lines = text.removeprefix(MARK).split("\n")
    if not any(line.strip(SPACE) for line in lines):
        return text
    above, below = _margins(old or "")
    ended = text if text.endswith("\n") or not (has_line_end or below) else text + _line_end(text)
    head = "" if not lines[0].strip(SPACE) else above
    tail = "" if len(lines) > 1 and not (lines[-1] + lines[-2]).strip(SPACE) else below
    return head + ended + tail


def _margins(text: str) -> tuple[str, str]:
    """Return the blank lines before and after the text; if all of it is blank, it is returned as both."""
    lines = text.split("\n")
    filled = [index for index, line in enumerate(lines) if line.strip(SPACE)]
    if not filled:
        return text, text
    above, below = lines[: filled[0]], lines[filled[-1] + 1 :]
    return "".join(line + "\n" for line in above), "\n".join(below)


def definition_text(text: str, *, has_line_end: bool) -> str:
    """Return the text without blank lines around it, with exactly one line end or none."""
    lines = text.removeprefix(MARK).split("\n")
    filled = [index for index, line in enumerate(lines) if line.strip(SPACE)]
    if not filled:
        return ""
    kept = "\n".join(lines[filled[0] : filled[-1] + 1]).removesuffix("\r")
    return kept + _line_end(text) if has_line_end else kept


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
