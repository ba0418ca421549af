"""The script that a command in a line of shell runs: from `bash -c`, a here-document, or a file just written. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_VALUED: Final = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_SOURCING: Final = frozenset({".", "source"})
_FINDING: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_PRINTED: Final = re.compile(r"%[sb](?:\\n)?")
Read = Callable[[str | None], str | None]
"""A function that returns the text of a file that the line has written; None if it has written no such file."""
_FLAGS_OF_ECHO: Final = frozenset({"-n", "-e", "-E", "-ne", "-en"})


@dataclass(frozen=True, slots=True)
class Word:
    """A literal word of the line. The matches of a pattern are only known from the file system."""

    text: str
    is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """The words of one command (None: known only when it runs), and their source texts, without quotes.

    `fed` is the command's input, None if it is not literal in the line.
    """

    words: Sequence[Word | None]
    sources: Sequence[str]
    fed: str | None = None

    @property
    def texts(self) -> tuple[str | None, ...]:
        """Return the words, with patterns left unexpanded."""
        return tuple(word.text if word else None for word in self.words)

    @property
    def name(self) -> str:
        """Return its program without folders; empty if it is unknown."""
        return (self.texts[0] or "").rpartition("/")[2] if self.words else ""

    def behind(self, count: int) -> "Call":
        """Return the same call without its first words."""
        return Call(self.words[count:], self.sources[count:], self.fed)

    def script(self, read: Read) -> str | None:
        """Return the text that it runs as a shell would; None if there is none, or it is unknown."""
        if self.name == "eval":
            return " ".join(self.sources[1:])
        if self.name == "trap":
            script, *signals = [text for text in self.sources[1:] if text != "--"] or [""]
            return script if signals and script not in {"", "-"} else None
        if self.name in SHELLS:
            return self._script_of_shell(read)
        if self.name in _SOURCING:
            return read(self.texts[1]) if len(self.texts) > 1 else None
        return read(self.texts[0]) if self.texts and "/" in (self.texts[0] or "") else None

    def _script_of_shell(self, read: Read) -> str | None:
        at = _behind_options(self.texts)
        letters = "".join(text[1:] for text in self.texts[1:at] if text and not text.startswith("--"))
        if "c" in letters:
            return self.sources[at] if at < len(self.sources) else None
        return self.fed if "s" in letters or at >= len(self.texts) else read(self.texts[at])

    def parts(self) -> "Iterator[Call]":
        """Yield the commands that `find` runs; words with `{}` are unknown until it runs, as the files are."""
        texts = self.texts
        for at, text in enumerate(texts if self.name == "find" else ()):
            if text in _FINDING:
                end = next((end for end in range(at, len(texts)) if texts[end] in {";", "+"}), len(texts))
                words = [None if word and "{}" in word.text else word for word in self.words[at + 1 : end]]
                yield Call(words, self.sources[at + 1 : end])

    def output(self) -> str | None:
        """Return its output, if it is literal in the line."""
        words = list(self.sources[1:])
        match self.name:
            case "cat" if all(text == "-" for text in self.texts[1:]):
                return self.fed
            case "echo":
                return " ".join(words[1:] if words and words[0] in _FLAGS_OF_ECHO else words)
            case "printf" if words and _PRINTED.fullmatch(words[0]):
                return "\n".join(words[1:])
            case "printf" if words and "%" not in words[0]:
                return words[0].replace("\\n", "\n")
            case _:
                return None


def _behind_options(texts: Sequence[str | None]) -> int:
    at = 1
    while at < len(texts) and (text := texts[at]) and text[0] in "-+":
        at += 2 if text in _VALUED else 1
        if text in {"-", "--"}:
            break
    return at
