"""The table of everyday commands: `table.txt`, read.

`make test` runs each row in at least one state, and each state with each kind of row; `make stress` runs every row in
every state. `is_chosen` in `test_habits.py` is the rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_INDENT: Final = "    "
_HELD: Final = " writes "


@dataclass(frozen=True, slots=True)
class Row:
    """One command: its name, what is typed, and a file that it writes; none where it writes none that could be held."""

    name: str
    line: str
    held: str = ""


def _read(text: str) -> Iterator[Row]:
    head, lines = "", list[str]()
    for each in (*text.splitlines(), ""):
        if each.startswith(_INDENT):
            lines.append(each.removeprefix(_INDENT))
            continue
        if lines:
            name, mark, held = head.rpartition(_HELD)
            yield Row((name if mark else held).strip(), "\n".join(lines), held.strip() if mark else "")
        head, lines = each, []


TABLE: Final = tuple(_read(Path(__file__).with_name("table.txt").read_text(encoding="utf-8")))
