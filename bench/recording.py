"""Record two agents that change one function, and draw the run as an animated SVG: `make recording`.

The agents are scripted, their hooks and every text of Commonhold in the picture are real. The animation is CSS alone.
Where it does not run (a printer, a reader who asks for less motion), all lines are visible: the end of the story.
"""

import argparse
import difflib
import re
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from commonhold.client import daemon
from commonhold.demo.hooked import CHECKED, PATH, ROUNDED, Editor, HooksFailedError, build
from commonhold.workspace.repository import find_repository

PICTURE: Final = Path(__file__).parents[1] / "docs/collision.svg"
COLUMNS: Final = 66
_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_CHARACTER, _LINE = 7.25, 17
_PANE: Final = round(COLUMNS * _CHARACTER) + 24
_GAP, _TOP, _BOTTOM = 12, 34, 12
_END_SECONDS: Final = 6.0
"""How long the last frame stays before the animation begins again."""
_PAUSES: Final = {"prompt": 1.0, "call": 1.2, "good": 0.7, "bad": 0.9}
"""Seconds before a line of this kind appears; other lines follow at once."""

_STYLE: Final = """\
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
text { white-space: pre; fill: #24292f }
.pane { fill: #f6f8fa; stroke: #d0d7de }
.title { font-weight: bold; fill: #57606a }
.prompt { font-weight: bold }
.call { fill: #0550ae }
.good, .added { fill: #116329 }
.bad { fill: #b3141e; font-weight: bold }
.removed { fill: #b3141e }
.said { fill: #57606a }
.next { fill: #8250df; font-weight: bold }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.pane { fill: #161b22; stroke: #30363d }
.title, .said { fill: #8b949e }
.call { fill: #79c0ff }
.good, .added { fill: #7ee787 }
.bad, .removed { fill: #ff7b72 }
.next { fill: #d2a8ff }
}
.past { opacity: 0 }
@media (prefers-reduced-motion: reduce) { g { animation: none !important } }"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a pane: the number of its agent (0 or 1), its kind (a class of the style), and its text."""

    pane: int
    kind: str
    text: str


@dataclass(slots=True)
class Story:
    """The events of a run in order, and the versions of the file, each with the number of lines before it."""

    lines: list[Line] = field(default_factory=list)
    versions: list[tuple[int, str]] = field(default_factory=list)

    def add(self, pane: int, kind: str, text: str) -> None:
        """Add a line to a pane, on several rows if it is too long for one."""
        rows = textwrap.wrap(text, COLUMNS, subsequent_indent="  ") if len(text) > COLUMNS else [text]
        # Only the first row waits for its moment.
        self.lines += [Line(pane, kind if row is rows[0] else f"{kind} more", row) for row in rows]

    def begin(self, pane: int, agent: Editor, prompt: str) -> str:
        """Let an agent begin and read the file; return the text."""
        agent.begin(prompt)
        self.add(pane, "prompt", f"> {prompt}")
        return self.read(pane, agent)

    def read(self, pane: int, agent: Editor) -> str:
        """Let an agent read the file, and return the text."""
        self.add(pane, "call", f"● Read {PATH}")
        return agent.read()

    def write(self, pane: int, agent: Editor, text: str, change: tuple[str, str]) -> str:
        """Let an agent write the file, which was `text` when it was read; return why it may not, or nothing."""
        self.add(pane, "call", f"● Write {PATH}")
        new = text.replace(*change)
        for line in difflib.unified_diff(text.splitlines(), new.splitlines(), n=0, lineterm=""):
            if line[0] in "+-" and line[:3] not in {"+++", "---"}:
                self.add(pane, "added" if line[0] == "+" else "removed", f"  {line[0]} {line[1:]}")
        why = agent.edit(text, *change)
        if not why:
            self.add(pane, "good", "✓ written")
            self.versions.append((len(self.lines) - 1, new))
        return why

    def refuse(self, pane: int, why: str) -> None:
        """Add a refusal without its diff, which the current text makes plain."""
        is_diff = False
        for line in why.splitlines():
            if line.startswith("--- what changed"):
                is_diff = True
                self.add(pane, "said", "…")
            elif line.startswith("next:"):
                self.add(pane, "next", line)
            elif not is_diff:
                self.add(pane, "bad" if line.startswith("Commonhold refused") else "said", line)


def record(folder: Path) -> Story:
    """Let two agents collide in a new repository in `folder`, and return the events. Raises HooksFailedError."""
    root = folder / "shop"
    build(root)
    try:
        return _recorded(Editor("claude-1", root), Editor("claude-2", root))
    finally:
        daemon.stop(find_repository(str(root)))


def _recorded(first: Editor, second: Editor) -> Story:
    story = Story()
    text = story.begin(0, first, "Round the total to cents")
    story.versions.append((0, text))
    old = story.begin(1, second, "Let an empty basket cost nothing")
    if why := story.write(0, first, text, ROUNDED):
        raise HooksFailedError(why)
    first.end_turn()
    why = story.write(1, second, old, CHECKED)
    if not why:
        raise HooksFailedError("the second write was let through, so the first change is lost")
    # The name of the other agent stands for its session's id.
    story.refuse(1, re.sub(rf"claude:{first.session[:8]}[-0-9a-f]*", first.name, why))
    if why := story.write(1, second, story.read(1, second), CHECKED):
        raise HooksFailedError(why)
    second.end_turn()
    return story


def draw(story: Story) -> str:
    """Return the story as SVG: a pane for each agent side by side, and the file below the first."""
    begins = list(accumulate(_PAUSES.get(line.kind, 0.0) for line in story.lines))
    seconds = begins[-1] + _END_SECONDS
    moments = {begin: f"m{number}" for number, begin in enumerate(sorted(set(begins)))}
    first, second = (
        [(line, moments[begin]) for line, begin in zip(story.lines, begins, strict=True) if line.pane == pane]
        for pane in (0, 1)
    )
    file_rows = len(_function(story.versions[-1][1]))
    rows = max(len(second), len(first) + file_rows + 3)
    width, height = 2 * _PANE + _GAP, _height(rows)
    file_top = height - _height(file_rows)
    return "\n".join(
        [
            f'<svg xmlns="{_NAMESPACE}" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
            "<title>Two agents change one function. The second is refused, and keeps both changes.</title>",
            "<style>",
            _STYLE,
            *_appearances(moments, seconds),
            *_versions_in_turn([begins[at] for at, _ in story.versions], seconds),
            "</style>",
            *_pane("claude-1", 0, 0, file_top - _GAP),
            *_rows(first, 0),
            *_pane("claude-2", _PANE + _GAP, 0, height),
            *_rows(second, _PANE + _GAP),
            *_pane(PATH, 0, file_top, _height(file_rows)),
            *_file([text for _, text in story.versions], file_top),
            "</svg>",
            "",
        ]
    )


def _height(rows: int) -> int:
    return _TOP + rows * _LINE + _BOTTOM


def _function(text: str) -> list[str]:
    """Return the lines of the first function of the file."""
    return text.partition("\n\n")[0].splitlines()


def _appearances(moments: Mapping[float, str], seconds: float) -> Iterator[str]:
    """Yield the animation of each moment: its lines are hidden before, and visible to the end."""
    for begin, name in moments.items():
        share = f"{100 * begin / seconds:.2f}%"
        yield f"@keyframes {name} {{ 0% {{ opacity: 0 }} {share}, 100% {{ opacity: 1 }} }}"
        yield f".{name} {{ animation: {name} {seconds:.1f}s step-end infinite }}"


def _versions_in_turn(begins: Sequence[float], seconds: float) -> Iterator[str]:
    """Yield the animation of each version of the file: it is visible until the next one is written."""
    for number, (begin, end) in enumerate(zip(begins, [*begins[1:], seconds], strict=True)):
        shown, hidden = f"{100 * begin / seconds:.2f}%", f"{100 * end / seconds:.2f}%"
        before = "0% { opacity: 0 } " if number else ""
        after = "" if end == seconds else f" {hidden}, 100% {{ opacity: 0 }}"
        yield f"@keyframes v{number} {{ {before}{shown} {{ opacity: 1 }}{after} }}"
        yield f".v{number} {{ animation: v{number} {seconds:.1f}s step-end infinite }}"


def _pane(title: str, left: int, top: int, height: int) -> Iterator[str]:
    yield f'<rect class="pane" x="{left + 0.5}" y="{top + 0.5}" width="{_PANE - 1}" height="{height - 1}" rx="8"/>'
    yield f'<text class="title" x="{left + 12}" y="{top + 22}">{title}</text>'


def _rows(lines: Iterable[tuple[Line, str]], left: int) -> Iterator[str]:
    for row, (line, moment) in enumerate(lines):
        yield f'<g class="{moment}">{_text(line.kind, line.text, left, _TOP, row)}</g>'


def _file(versions: Sequence[str], top: int) -> Iterator[str]:
    """Yield the versions of the file, one on the other; without animation only the last is visible."""
    before = _function(versions[0])
    for number, version in enumerate(versions):
        yield f'<g class="v{number}{"" if version is versions[-1] else " past"}">'
        for row, line in enumerate(_function(version)):
            yield _text("said" if line in before else "added", line, 0, top + _TOP, row)
        yield "</g>"


def _text(kind: str, text: str, left: int, top: int, row: int) -> str:
    return f'<text class="{kind}" x="{left + 12}" y="{top + (row + 1) * _LINE - 4}">{escape(text)}</text>'


def main() -> None:
    """Record, and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=PICTURE)
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory(prefix="commonhold-recording-") as folder:
        output.write_text(draw(record(Path(folder))), encoding="utf-8")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
