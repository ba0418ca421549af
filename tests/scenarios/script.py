"""The form of a story: blocks of commands, each with the output that it must have.

    # A comment.
    one acquire a.py#f task="mend f" as L
    ----
    granted lease-1 …

Blocks are parted by blank lines. Lines that start with `|` are the text of the line above them; a line indented by
two blanks is a part (an edit, a read) of the command above it.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

RULE = "----"


@dataclass
class Line:
    """One command or part of one: words, `name=value` options, and the text below it."""

    words: list[str]
    options: dict[str, str]
    text: str | None = None
    parts: list["Line"] = field(default_factory=list)

    def add(self, raw: str) -> None:
        """One more line below: text, or a part."""
        if raw.lstrip().startswith("|"):
            target = self.parts[-1] if raw.startswith(" ") else self
            target.text = (target.text or "") + raw.lstrip()[1:].removeprefix(" ") + "\n"
        else:
            self.parts.append(_line(raw))


@dataclass(frozen=True)
class Block:
    given: tuple[str, ...]
    expected: tuple[str, ...]

    def commands(self) -> list[tuple[list[str], Line | None]]:
        """Each command with the lines that it is written in; comments belong to what follows them."""
        read: list[tuple[list[str], Line | None]] = []
        comments: list[str] = []
        for raw in self.given:
            if raw.startswith("#"):
                comments.append(raw)
                continue
            if raw.startswith((" ", "|")):
                written, line = read[-1]
                assert line is not None
                written.append(raw)
                line.add(raw)
            else:
                read.append(([*comments, raw], _line(raw)))
                comments = []
        return [*read, (comments, None)] if comments else read


def blocks(story: str) -> Iterator[Block]:
    for part in story.strip("\n").split("\n\n"):
        given: list[str] = []
        expected: list[str] = []
        target = given
        for line in part.splitlines():
            if line == RULE:
                target = expected
            else:
                target.append(line)
        yield Block(tuple(given), tuple(expected))


def written(given: list[str], output: list[str]) -> str:
    return "\n".join((*given, *((RULE, *output) if output else ())))


def _line(raw: str) -> Line:
    words: list[str] = []
    options: dict[str, str] = {}
    for word in shlex.split(raw):
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():
            options[name] = value
        else:
            words.append(word)
    return Line(words, options)
