"""The exit codes of every command."""

from typing import Final

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
INPUT: Final = 3
STORE: Final = 4
DEFECT: Final = 5
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

MEANINGS: Final = {
    DONE: "done",
    REFUSED: "refused: an answer, not a failure. It says why, and what to do next; nothing was changed",
    USAGE: "wrong usage: an option, a missing holder, a time to live that makes no sense",
    INPUT: "what was named is not there or not valid: a path, a region, a changeset, the settings",
    STORE: "the state or a file could not be read or written; nothing was changed. Also: doctor found a failure",
    DEFECT: "a defect of Commonhold; please report it",
    INTERRUPTED: "interrupted (Ctrl-C)",
    BROKEN_PIPE: "whoever read the output stopped reading (as in `commonhold log | head -1`)",
}
