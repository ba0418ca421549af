"""The exit codes of every command."""

from collections.abc import Mapping
from typing import Final

from commonhold.kernel.errors import CommonholdError, InputError, InternalError, RefusedError, StoreError, UsageError

DONE: Final = 0
REFUSED: Final = 1
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

FAMILIES: Final[Mapping[type[CommonholdError], int]] = {
    RefusedError: REFUSED,
    UsageError: 2,
    InputError: 3,
    StoreError: 4,
    InternalError: 5,
}

MEANINGS: Final = {
    DONE: "done",
    REFUSED: "refused: an answer, not a failure. It says why, and what to do next; nothing was changed. "
    "Also: a lease was lost under the command that `acquire ... -- COMMAND` ran",
    FAMILIES[UsageError]: "wrong usage: an option, a missing holder, a time to live that makes no sense",
    FAMILIES[InputError]: "an argument does not exist or is not valid: a path, a region, a changeset, the settings",
    FAMILIES[StoreError]: "the state or a file could not be read or written; nothing was changed. "
    "Also: doctor found a failure",
    FAMILIES[InternalError]: "a defect of Commonhold; please report it",
    INTERRUPTED: "interrupted (Ctrl-C)",
    BROKEN_PIPE: "the reader of the output stopped reading (as in `commonhold log | head -1`)",
}


def status_of(error: CommonholdError) -> int:
    """The exit code of an error: that of its family."""
    return next(status for family, status in FAMILIES.items() if isinstance(error, family))
