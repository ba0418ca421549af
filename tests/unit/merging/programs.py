"""Python programs, and what two people make of them: every name that a side puts in is its own."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hypothesis import strategies as st

Lines = tuple[str, ...]
Change = Callable[[Lines, int, str], Lines]

_UNITS: Final = (
    "import module{n}\n",
    "from package import name{n}\n",
    "value{n} = {n}\n",
    "value{n} = {{'key{n}': 1, 'other{n}': 2}}\n",
    "words{n} = [\n    'first{n}',\n    'second{n}',\n]\n",
    "call(\n    first{n},\n    option{n}=1,\n)\n",
    "def short{n}(first{n}, second{n}=2):\n    return first{n}\n\n\n",
    """# About {n}.
@decorate{n}
def long{n}(
    first{n},
    second{n}=2,
):
    '''Text {n}.'''
    total{n} = 0
    for each{n} in first{n}:
        total{n} += each{n}
    # almost {n}
    return total{n}


""",
    """class Thing{n}:
    '''Text {n}.'''

    size{n} = 1

    def method{n}(self):
        self.field{n} = 1

    def other{n}(self, given{n}=0):
        return given{n}


""",
    "if flag{n}:\n    chosen{n} = 1\nelse:\n    chosen{n} = 2\n",
    "try:\n    run{n}()\nexcept Error{n}:\n    stop{n}()\nfinally:\n    end{n}()\n",
    "with opened{n} as file{n}:\n    text{n} = file{n}\n",
    "match kind{n}:\n    case 1:\n        found{n} = 1\n    case _:\n        found{n} = 2\n",
    "async def fetch{n}():\n    async with opened{n} as held{n}:\n        return await held{n}\n\n\n",
)

PROGRAMS: Final = st.lists(st.sampled_from(_UNITS), min_size=1, max_size=6).map(
    lambda units: tuple("".join(unit.format(n=n) for n, unit in enumerate(units)).splitlines(keepends=True))
)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())].strip("\n")


def _inserting(form: str) -> Change:
    def change(lines: Lines, at: int, name: str) -> Lines:
        put_in = form.format(name=name).splitlines(keepends=True)
        return (*lines[:at], *(_indent(lines[at]) + line for line in put_in), *lines[at:])

    return change


def _replacing(old: str, new: str) -> Change:
    def change(lines: Lines, at: int, name: str) -> Lines:
        return (*lines[:at], lines[at].replace(old, new.format(name=name), 1), *lines[at + 1 :])

    return change


def _delete(lines: Lines, at: int, _: str) -> Lines:
    return (*lines[:at], *lines[at + 1 :])


CHANGES: Final[Sequence[Change]] = (
    _inserting("{name} = 1\n"),
    _inserting("import {name}\n"),
    _inserting("# {name}\n"),
    _inserting("def {name}(self):\n    yield {name}\n"),
    _inserting("'{name}',\n"),
    _inserting("{name}=0,\n"),
    _replacing(")", ", {name}=0)"),
    _replacing("}", ", '{name}': 0}}"),
    _replacing("return", "return {name} or"),
    _replacing("= 1", "= {name}"),
    _replacing("Text", "Text of {name},"),
    _replacing("# ", "# {name} "),
    _delete,
)

EDITS: Final = st.lists(st.tuples(st.integers(0, 500), st.sampled_from(range(len(CHANGES)))), min_size=1, max_size=3)


def edited(lines: Lines, edits: Sequence[tuple[int, int]], tag: str, around: tuple[Lines, Lines] = ((), ())) -> Lines:
    """The lines with those edits that leave a program; what lies around them is left as it is."""
    for number, (at, kind) in enumerate(edits):
        if not lines:
            break
        changed = CHANGES[kind](lines, at % len(lines), f"{tag}{number}_")
        if compiles("".join((*around[0], *changed, *around[1]))):
            lines = changed
    return (*around[0], *lines, *around[1])


def compiles(source: str | bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "program", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def names_of(tag: str, text: bytes) -> Iterator[bytes]:
    """The names that edits with this tag put into a text."""
    return (name for number in range(5) if (name := f"{tag}{number}_".encode()) in text)
