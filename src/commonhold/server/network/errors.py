"""The HTTP status and the body of every error."""

import math
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec

from commonhold.api.routes import ROUTES
from commonhold.api.wire.text import error, sound
from commonhold.kernel.errors import Code, CommonholdError, InputError, RefusedError, StoreError, UsageError
from commonhold.server.asgi import JSON, Answer
from commonhold.server.holder import AGENT_HEADER

_OF_FAMILIES: Final[Mapping[type[CommonholdError], HTTPStatus]] = {
    UsageError: HTTPStatus.BAD_REQUEST,
    InputError: HTTPStatus.UNPROCESSABLE_ENTITY,
    StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
    RefusedError: HTTPStatus.CONFLICT,
}
STATUSES: Final[Mapping[Code, HTTPStatus]] = {
    **dict.fromkeys(
        (
            *(Code.FILE_NOT_FOUND, Code.REGION_UNKNOWN, Code.SECTION_UNKNOWN, Code.CONTENT_UNKNOWN),
            *(Code.TASK_UNKNOWN, Code.REVISION_UNKNOWN, Code.TOKEN_UNKNOWN, Code.ROUTE_UNKNOWN),
            Code.NOTIFICATION_UNKNOWN,
        ),
        HTTPStatus.NOT_FOUND,
    ),
    **dict.fromkeys(
        (Code.REQUEST_ID_REUSED, Code.FILE_EXISTS, Code.REGION_AMBIGUOUS, Code.REPOSITORY_BUSY), HTTPStatus.CONFLICT
    ),
    **dict.fromkeys(
        (
            *(Code.PATH_OUTSIDE, Code.PATH_RESERVED, Code.PERMISSION_DENIED, Code.STORE_READ_ONLY),
            *(Code.SCOPE_INSUFFICIENT, Code.ORIGIN_REFUSED),
        ),
        HTTPStatus.FORBIDDEN,
    ),
    Code.TOKEN_INVALID: HTTPStatus.UNAUTHORIZED,
    Code.HOST_REFUSED: HTTPStatus.MISDIRECTED_REQUEST,
    Code.FILE_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Code.REQUEST_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Code.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    Code.CURSOR_UNKNOWN: HTTPStatus.GONE,
    Code.DISK_FULL: HTTPStatus.INSUFFICIENT_STORAGE,
}
"""The statuses of errors that do not have that of their family."""
_OPERATIONS: Final = {
    "task list": "tasks",
    "run list": "runs",
    "queue list": "entries",
    "archive list": "search_notes",
    "log": "log",
    "status": "status",
    "leases": "leases",
}
"""The operations of the commands that hints name: a client over HTTP has no shell."""
_COMMAND: Final = re.compile(rf"`commonhold ({'|'.join(_OPERATIONS)})( --all)?`")


def status_of(fault: CommonholdError) -> HTTPStatus:
    """Return the status of an error: that of its code, else that of its family; 500 for a defect."""
    family = _OF_FAMILIES.get(type(fault), HTTPStatus.INTERNAL_SERVER_ERROR)
    return STATUSES.get(fault.code, family)


def _hint(fault: CommonholdError) -> str:
    """Return the hint of an error for a client over HTTP."""
    if fault.code is Code.HOLDER_MISSING:
        return f"name the session in the header {AGENT_HEADER}"
    return _COMMAND.sub(_route, sound(fault.hint))


def _route(command: re.Match[str]) -> str:
    route = ROUTES[_OPERATIONS[command[1]]]
    return f"{route.method} {route.path}{' with all_states' if command[2] else ''}"


def body_of_error(fault: CommonholdError) -> bytes:
    """Return an error as JSON; `family` is the name of its class in the SDK, which no answer of a call has."""
    shape = error(fault) | {"family": type(fault).__name__, "message": sound(fault.message), "hint": _hint(fault)}
    try:
        return msgspec.json.encode(shape, enc_hook=str)
    except UnicodeEncodeError:  # a name of a file that is not UTF-8
        return msgspec.json.encode(shape | {"fields": {name: ascii(each) for name, each in fault.fields.items()}})


def error_answer(fault: CommonholdError) -> Answer:
    """Return the answer for an error. Retry-After says when to repeat, Allow which methods a path has instead."""
    headers, status = [JSON], status_of(fault)
    if fault.retry_after_seconds is not None:
        headers.append((b"retry-after", str(math.ceil(fault.retry_after_seconds)).encode()))
    if fault.code is Code.TOKEN_INVALID:
        headers.append((b"www-authenticate", b'Bearer realm="commonhold"'))
    if isinstance(allowed := fault.fields.get("allowed"), list) and allowed:
        headers.append((b"allow", ", ".join(allowed).encode()))
        status = HTTPStatus.METHOD_NOT_ALLOWED
    return Answer(status, body_of_error(fault), tuple(headers))
