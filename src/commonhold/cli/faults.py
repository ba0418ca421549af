"""Any exception becomes an error with a code, a hint and an exit status."""

import errno
import os
from collections.abc import Mapping
from typing import Final

import click

from commonhold.cli.exit_status import status_of
from commonhold.cli.output import complain, send_json, shown_text
from commonhold.cli.usage_words import NAME_IT, usage_error
from commonhold.kernel.errors import Code, CommonholdError, InternalError, RefusedError, StoreError, UsageError
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.machine.logs import Log
from commonhold.machine.os_errors import code_of

DEBUG: Final = "COMMONHOLD_DEBUG"
_log: Final = Log(__name__)


def report(fault: Exception, *, as_json: bool) -> int:
    """Report the error, on standard error or as JSON; return the exit status."""
    error = as_error(fault)
    if isinstance(error, InternalError) or isinstance(fault, OSError):
        _log.error("command failed", fault=fault, code=error.code)
    else:
        _log.debug("command refused", code=error.code, message=error.message)
    if os.environ.get(DEBUG) and not isinstance(fault, click.ClickException):
        import traceback  # noqa: PLC0415 - loaded here, since it is seldom wanted

        complain(traceback.format_exc())
    if as_json:
        send_json(_shape(error))
    else:
        complain(_lines(error))
    return status_of(error)


def as_error(fault: Exception) -> CommonholdError:
    """Return the exception as one of ours."""
    if busy := exhausted(fault):
        return busy
    match fault:
        case CommonholdError():
            is_nameless = fault.code is Code.HOLDER_MISSING
            return UsageError(fault.code, fault.message, hint=NAME_IT) if is_nameless else fault
        case click.UsageError():
            return usage_error(fault)
        case click.ClickException():
            return UsageError(Code.USAGE, fault.format_message().rstrip("."), hint="see `commonhold --help`")
        case OSError():
            return _from_system(fault)
        case _:
            return _defect(fault)


def _from_system(fault: OSError) -> StoreError:
    what = repr(fault.filename) if fault.filename else "a file or folder"
    return StoreError(
        code_of(fault),
        f"{what} could not be used: {fault.strerror or fault}",
        hint="look at the path and its permissions, then repeat the same call; `commonhold doctor` may say more",
        fields={"errno": errno.errorcode.get(fault.errno or 0)},
    )


def _defect(fault: Exception) -> InternalError:
    return InternalError(
        Code.INTERNAL,
        f"Commonhold failed in a way that it should not: {type(fault).__name__}: {fault}",
        hint=f"please report it, with what this prints under {DEBUG}=1 and with the output of `commonhold doctor`",
        fields={"exception": type(fault).__name__},
    )


def _lines(error: CommonholdError) -> list[str]:
    message, hint = shown_text(error.message), shown_text(error.hint)
    if isinstance(error, RefusedError):
        return [f"refused [{error.code}]: {message}", f"hint: {hint}"]
    lines = [f"error: {message} [{error.code}]", f"hint: {hint}"]
    if error.retry_after_seconds is not None:
        lines.append(f"the same call may succeed after {error.retry_after_seconds:g} seconds")
    return lines


def _shape(error: CommonholdError) -> dict[str, object]:
    # Loaded here: help needs no JSON.
    from commonhold.api.wire import text  # noqa: PLC0415

    return _sound(text.error(error))


def _sound(value: Mapping[str, object]) -> dict[str, object]:
    """Escape bytes that are not valid UTF-8, which JSON cannot represent."""
    return {name: _sound_text(each) if isinstance(each, str) else each for name, each in value.items()}


def _sound_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
