"""Changesets and texts that come in through files and standard input."""

import sys
from pathlib import Path
from typing import BinaryIO, Final

from commonhold.api.wire.changesets import parse_changeset
from commonhold.cli.output import complain
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.errors import Code, InputError, StoreError

MAX_BYTES: Final = 64_000_000
STDIN: Final = "-"


def read_changeset(name: str) -> Changeset:
    """Return the changeset in a file, or on standard input for `-`.

    Raises InputError `FILE_NOT_FOUND`, `NOT_A_FILE`, `FILE_TOO_LARGE`, `CHANGESET_INVALID`.
    """
    data = read_stdin("the changeset") if name == STDIN else _read_file(name)
    if data.strip():
        return parse_changeset(data)
    raise InputError(
        Code.CHANGESET_INVALID,
        f"there is no changeset: {'standard input' if name == STDIN else repr(name)} is empty",
        hint="write it as JSON, as `commonhold help reference` shows it, to the file or to standard input",
    )


def read_stdin(what: str) -> bytes:
    """Return all of standard input, which must contain `what`.

    Raises InputError `FILE_TOO_LARGE`, and `CHANGESET_INVALID` if it is closed.
    """
    if sys.stdin is None:
        raise InputError(
            Code.CHANGESET_INVALID,
            "standard input is closed, so there is nothing to read",
            hint="pipe the text in, or redirect it: < FILE",
        )
    if sys.stdin.isatty():
        complain(f"reading {what} from standard input; end with Ctrl-D")
    return _limited(sys.stdin.buffer, "standard input")


def _read_file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return _limited(file, repr(name))
    except FileNotFoundError as fault:
        raise _unusable(Code.FILE_NOT_FOUND, name, "does not exist") from fault
    except IsADirectoryError as fault:
        raise _unusable(Code.NOT_A_FILE, name, "is a folder") from fault
    except PermissionError as fault:
        hint = "fix its permissions, or pipe it in: --changeset - < FILE"
        raise StoreError(Code.PERMISSION_DENIED, f"this user may not read {name!r}", hint=hint) from fault


def _unusable(code: Code, name: str, why: str) -> InputError:
    return InputError(
        code,
        f"the changeset {name!r} {why}",
        hint="name a JSON file, relative to the current folder, or - for standard input",
        fields={"path": name},
    )


def _limited(stream: BinaryIO, what: str) -> bytes:
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(
            Code.FILE_TOO_LARGE,
            f"{what} has more than {MAX_BYTES:,} bytes",
            hint="split the changeset; each part is applied whole, and names the bases that the part before it left",
        )
    return data
