"""`commonhold exec` in its plain form: this process asks the daemon and runs the command without the full program.

Any unusual case (an option, a holder from elsewhere, no daemon) is left to the full program, from the beginning.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonhold.client.launching.speaking import Object

_AGENT, _END = "--agent", "--"
_HEEDED = ("COMMONHOLD_DEBUG", "COMMONHOLD_LOG", "_COMMONHOLD_COMPLETE")
"""Variables that only the full program heeds."""


class _Unasked(Exception):  # noqa: N818 - it is answered by the full program
    """Nothing has begun: the daemon could not be asked, or did not answer."""


def executed(arguments: Sequence[str]) -> int | None:
    """Run the command of `exec`; return its exit status. None if it is for the full program: then nothing has begun."""
    asked = _read(arguments)
    if asked is None or None in (sys.stdin, sys.stdout, sys.stderr) or any(os.environ.get(name) for name in _HEEDED):
        return None
    holder, words = asked
    address = _address()
    if address is None:
        return None
    # Loaded here, as below: no other command waits for this.
    from commonhold.client.launching.command import attended  # noqa: PLC0415

    try:
        told: Object = {"holder": holder, "command": words, "call": ""}
        # Only the full program knows the rules that hold while there is no daemon.
        return attended(address, "", told, lambda _: words, _answer)
    except _Unasked:
        return None


def _answer(address: str, question: Object) -> Object:
    """Return the answer of a daemon that is already running. Raises _Unasked."""
    from commonhold.client.launching.running import Allowance  # noqa: PLC0415
    from commonhold.client.launching.speaking import Unserved, asked  # noqa: PLC0415

    try:
        answer = asked(address, "/shell/begin", question)
        if not answer.get("refusal"):
            Allowance(answer)
    except Unserved as fault:
        raise _Unasked from fault
    return answer


def _address() -> str | None:
    """Return the address of the daemon of the repository around this folder; None if it is not plain to see."""
    from commonhold.kernel.errors import CommonholdError  # noqa: PLC0415
    from commonhold.workspace.repository_paths import repository_paths  # noqa: PLC0415
    from commonhold.workspace.socket_paths import http_address  # noqa: PLC0415

    try:
        return http_address(repository_paths(".")[1])
    except (CommonholdError, OSError, UnicodeError):
        return None


def _read(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    """The holder and the words of the command, if they were typed in the plain form."""
    command, *rest = arguments or [""]
    if command != "exec":
        return None
    holder = os.environ.get("COMMONHOLD_AGENT", "")
    if rest[:1] == [_AGENT]:
        holder, rest = (*rest[1:2], "")[0], rest[2:]
    is_plain = holder.isascii() and holder.isprintable() and holder.strip() and not holder.startswith("-")
    return (holder, rest[1:]) if is_plain and rest[:1] == [_END] and rest[1:] else None
