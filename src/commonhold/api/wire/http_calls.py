"""Calls of the service as HTTP requests, and their answers as bodies: both ends, for all operations.

Bodies are JSON, with the fields of the types in docs/python.md. A list is an object with its `items` and the cursor
of the `next` page; an event has its `sequence`, `at`, `kind` and `event`; bytes are sent as they are. The regions of a
file are sent as its path and its bytes, which the reader parses.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin
from urllib.parse import parse_qsl, urlencode

import msgspec

from commonhold.api.routes import Route
from commonhold.api.service import OPERATIONS
from commonhold.api.wire import calls
from commonhold.api.wire.changesets import changeset
from commonhold.kernel.arguments import check_arguments
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.machine.decoding import from_json, from_plain
from commonhold.machine.secrets import masked

if TYPE_CHECKING:
    from commonhold.code.regions.region import RegionMap
    from commonhold.kernel.events import Recorded

JSON: Final = "application/json"
BYTES: Final = "application/octet-stream"
LIMIT, CURSOR = "limit", "cursor"
"""The parameters by which a list is asked for in pages."""
MOST_ITEMS: Final = 1000
_ORDERS: Final = {"log": "sequence", "chain": "sequence", "leases": "id", "partial_works": "lease_id"}
"""The operations whose lists come in pages, with the field that these are ordered by: it never changes."""
_STATUSES: Final = {"refused": HTTPStatus.CONFLICT, "denied": HTTPStatus.CONFLICT, "queued": HTTPStatus.ACCEPTED}
_ANSWERED: Final = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT, *_STATUSES.values()})
"""The statuses of answers, refusals included; errors have others."""
_LONGEST_NUMBER: Final = 18
_LONGEST_ADDRESS: Final = 60_000
"""Servers, and proxies before them, read no longer head of a request; ours is added to it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the query or the body has the parameters that do not stand in the path."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is asked for: at most `limit` items, those after the place that `cursor` names."""

    limit: int | None = None
    cursor: int | str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A request that was read: the arguments of the call, and the page of its answer."""

    arguments: Sequence[Any]
    named: dict[str, Any]
    page: Page


@dataclass(frozen=True, slots=True)
class Body:
    """The body of an answer. `etag` changes with the content; it is empty for an answer that is no state."""

    status: int
    data: bytes
    content_type: str = JSON
    etag: str = ""


def asked(route: Route, arguments: Sequence[Any], named: Mapping[str, Any]) -> Asked:
    """Return the request for a call. Raises InputError `TEXT_INVALID` for a text that is not UTF-8.

    Raises InputError `REQUEST_TOO_LARGE` if it is a GET that asks for too much at once.
    """
    known = calls.described(route.operation)
    given = {name: value for name, value in named.items() if value is not None or route.has_body}
    if arguments:
        given |= known.named(arguments)
    try:
        path = route.filled(given)
        rest = {name: value for name, value in given.items() if name not in route.parameters}
        if route.has_body:
            return Asked(route.method, path, body=msgspec.json.encode(rest))
        query = urlencode(msgspec.to_builtins(rest), doseq=True)
        if len(path) + len(query) > _LONGEST_ADDRESS:
            raise _too_long(route)
        return Asked(route.method, path, query)
    except UnicodeEncodeError as fault:
        raise InputError(
            Code.TEXT_INVALID,
            f"what {route.operation} was given holds {fault.object[fault.start : fault.end]!a}, which is not UTF-8",
            hint="give texts and names in UTF-8; bytes that are no text go into `data`",
        ) from fault


def _too_long(route: Route) -> InputError:
    return InputError(
        Code.REQUEST_TOO_LARGE,
        f"what {route.operation} was given makes an address of more than {_LONGEST_ADDRESS:,} characters",
        hint="ask for less at once: a part of the keys in each call",
        fields={"most_characters": _LONGEST_ADDRESS},
    )


def read(route: Route, values: Mapping[str, str], query: str, body: bytes, key: str = "") -> Read:
    """Read a request for `route`, whose path has these `values`; `key` is its idempotency key, if it has one.

    Raises UsageError `USAGE` for parameters that the operation does not take, and InputError `CHANGESET_INVALID`.
    """
    known = calls.described(route.operation)
    if route.has_body:
        _check(not query, "this request takes no parameters in its query: send them in the JSON body")
        given = _object(body)
        page = Page()
    else:
        given, page = _from_query(query, known)
    _check(not given.keys() & values.keys(), "a parameter stands in the path already: leave it out")
    given |= values
    if isinstance(given.get("changeset"), dict):
        changeset(given["changeset"])
    if key and route.has_body:
        _name(given, key, known)
    check_arguments(given)
    try:
        parameters = from_plain(given, known.parameters, strict=route.has_body)
    except (msgspec.ValidationError, ValueError, OverflowError) as fault:
        raise _unfit(f"{route.operation} does not take these parameters: {fault}") from fault
    arguments, named = known.split(parameters)
    check_arguments(arguments, named)
    return Read(arguments, named, page)


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise _unfit(f"the body is not JSON: {fault}") from fault
    _check(isinstance(given, dict), "the body is not a JSON object")
    return dict(given)


def _from_query(query: str, known: calls.Method) -> tuple[dict[str, Any], Page]:
    try:
        pairs = parse_qsl(
            query, keep_blank_values=True, strict_parsing=bool(query), errors="strict", max_num_fields=5000
        )
    except ValueError as fault:
        raise _unfit(f"the query cannot be read: {fault}") from fault
    given: dict[str, Any] = {}
    for name, value in pairs:
        if name == known.rest:
            given.setdefault(name, []).append(value)
        else:
            _check(name not in given, f"{name} is given twice")
            given[name] = value
    return given, _page(given, known)


def _page(given: dict[str, Any], known: calls.Method) -> Page:
    """Take the page out of the parameters; an operation that has a limit of its own gets that, and its cursor."""
    order = order_of(known)
    if order is None:
        return Page()
    limit, cursor = given.pop(LIMIT, None), given.pop(CURSOR, None)
    count = None if limit is None else _number(LIMIT, limit)
    _check(count is None or 0 < count <= MOST_ITEMS, f"{LIMIT} is a whole number from 1 to {MOST_ITEMS}")
    if order == "sequence":
        if cursor is not None:
            _check("after" not in given, "cursor and after are the same: give one")
            _number(CURSOR, cursor)
            given["after"] = cursor
        given |= {} if limit is None else {LIMIT: limit}
        return Page(count, given.get("after"))
    return Page(count, cursor)


def _number(name: str, text: str) -> int:
    _check(
        text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER,
        f"{name} is not a whole number from 0 on: {text!a}",
    )
    return int(text)


def _name(given: dict[str, Any], key: str, known: calls.Method) -> None:
    """Name a call by its idempotency key. Raises UsageError `USAGE` if a repetition would take effect all the same."""
    if "request_id" in known.fields:
        call = given
    elif isinstance(given.get("changeset"), dict):
        call = given["changeset"] = dict(given["changeset"])
    else:
        _check(OPERATIONS[known.name].reads, f"{known.name} takes no Idempotency-Key: leave it out")
        return
    if call.get("request_id") is None:
        call["request_id"] = key


def order_of(known: calls.Method) -> str | None:
    """Return the field by which the list that a call returns is ordered; None if it does not come in pages."""
    return _ORDERS.get(known.name)


def answered(route: Route, answer: Any, page: Page) -> Body:  # noqa: ANN401 - each operation has its own
    """Return the body of an answer, or of the page of it that was asked for."""
    status = _STATUSES.get(getattr(answer, "outcome", ""), HTTPStatus.OK)
    if answer is None:
        return Body(HTTPStatus.NO_CONTENT, b"")
    if isinstance(answer, bytes):
        return Body(status, answer, BYTES, _etag(answer, answer, route.operation))
    if isinstance(answer, tuple):
        data = msgspec.json.encode(_listed(answer, order_of(calls.described(route.operation)), page))
    elif _is_map(type(answer)):
        shape = {"path": answer.path, "language": answer.language, "source": base64.b64encode(answer.source).decode()}
        data = msgspec.json.encode(shape)
    else:
        data = msgspec.json.encode(answer)
    return Body(status, data, JSON, _etag(answer, data, route.operation) if route.method == "GET" else "")


def _listed(answer: tuple[Any, ...], order: str | None, page: Page) -> dict[str, Any]:
    items: Sequence[Any] = [event_shape(each) if hasattr(each, "event") else each for each in answer]
    if order == "sequence":
        return {"items": items, "next": str(answer[-1].sequence) if answer else page.cursor or "0"}
    if order is None or page == Page():
        return {"items": items, "next": None}
    items = sorted(answer, key=lambda each: getattr(each, order))
    cursor: Any = page.cursor
    if cursor is not None:
        items = [each for each in items if getattr(each, order) > cursor]
    is_last = page.limit is None or len(items) <= page.limit
    shown = items if is_last else items[: page.limit]
    return {"items": shown, "next": None if is_last else str(getattr(shown[-1], order))}


def event_shape(recorded: Recorded) -> dict[str, Any]:
    """Return an event with its sequence, its time (in seconds since 1970), and its kind; secrets in it are masked."""
    from commonhold.stores import codec  # noqa: PLC0415 - loaded here: most calls have nothing to do with events

    kind, body = codec.encode_event(recorded.event)
    text = body.decode()
    event = msgspec.Raw(body) if masked(text) == text else _masked(msgspec.json.decode(body))
    return {"sequence": recorded.sequence, "at": recorded.at, "kind": kind, "event": event}


def _masked(shape: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the same JSON with its secrets masked, text by text: its form stays."""
    match shape:
        case str():
            return masked(shape)
        case list():
            return [_masked(each) for each in shape]
        case dict():
            return {_masked(name): _masked(each) for name, each in shape.items()}
        case _:
            return shape


def _etag(answer: Any, data: bytes, operation: str) -> str:  # noqa: ANN401 - each operation has its own
    """Return the hash of one text or the version of a value, which stand for all of the body; else its own hash."""
    match operation, answer:
        case "read", (text,):
            tag = text.hash
        case "regions", _:
            tag = sha256(answer.source).hexdigest()
        case "get", _ if answer.version:
            tag = f"version-{answer.version}"
        case _:
            tag = sha256(data).hexdigest()
    return f'"{tag}"'


def answer_in(route: Route, path: str, status: int, data: bytes) -> Any:  # noqa: ANN401 - each operation has its own
    """Return the answer to the request for a path. Raises what msgspec raises for one that is not of a service.

    A proxy, or a page to sign in at, may answer in its place.
    """
    if status not in _ANSWERED:
        raise msgspec.DecodeError("no answer of the service has this status")
    kind = calls.described(route.operation).answer_kind
    if kind in (None, type(None)):
        if status != HTTPStatus.NO_CONTENT:
            raise msgspec.DecodeError("there is a body where there should be none")
        return None
    if kind is bytes:
        if sha256(data).hexdigest() != path.rpartition("/")[2]:
            raise msgspec.DecodeError("these are not the bytes with that hash")
        return data
    if _is_map(kind):
        return _parsed(data)
    if get_origin(kind) is not tuple:
        return from_json(data, kind)
    items = from_json(data, _Items).items
    if "event" in getattr(get_args(kind)[0], "__dataclass_fields__", {}):
        return tuple(map(_recorded, from_json(items, list[_Event])))
    return from_json(items, kind)


class _Items(msgspec.Struct, frozen=True):
    items: msgspec.Raw


class _Event(msgspec.Struct, frozen=True):
    sequence: int
    at: float
    kind: str
    event: msgspec.Raw


class _File(msgspec.Struct, frozen=True):
    path: str
    source: bytes


def _recorded(shape: _Event) -> Recorded:
    from commonhold.kernel.events import Recorded  # noqa: PLC0415 - loaded here: see `event_shape`
    from commonhold.stores import codec  # noqa: PLC0415

    return Recorded(shape.sequence, shape.at, codec.decode_event(shape.kind, bytes(shape.event)))


def _parsed(data: bytes) -> RegionMap:
    from commonhold.code.regions.discover import discover  # noqa: PLC0415 - loaded here: it brings the parsers

    file = from_json(data, _File)
    return discover(file.source, file.path)


def _is_map(kind: object) -> bool:
    """Whether it is the type of the regions of a file; by its name, since the class brings the parsers."""
    return getattr(kind, "__name__", "") == "RegionMap"


def _check(is_so: bool, why: str) -> None:  # noqa: FBT001 - it reads like an assertion
    if not is_so:
        raise _unfit(why)


def _unfit(why: str) -> UsageError:
    return UsageError(Code.USAGE, why, hint="see the parameters of the operation at /api/v1/openapi.json")
