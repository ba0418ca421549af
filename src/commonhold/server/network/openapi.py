"""The OpenAPI document: derived from the operations of the service, the types of their answers, and examples."""

import inspect
from functools import cache
from typing import Any, Final, get_args, get_origin

import msgspec

import commonhold
from commonhold.api.routes import PREFIX, ROUTES, Route
from commonhold.api.service import Service
from commonhold.api.wire import calls, http_calls
from commonhold.kernel.errors import Code
from commonhold.kernel.scopes import Scope
from commonhold.server.network.access import GRANTS
from commonhold.server.network.examples import EXAMPLES

_REFERENCE: Final = "#/components/schemas/{name}"
_ERROR: Final = {"$ref": "#/components/schemas/Error"}
_NAMED_SCHEMAS: Final[dict[str, Any]] = {
    "Error": {
        "type": "object",
        "description": "An error: nothing has changed. `family` is its class in the Python SDK.",
        "required": ["code", "message", "hint", "retryable", "retry_after_seconds", "fields", "family"],
        "properties": {
            "code": {"enum": sorted(Code)},
            "message": {"type": "string", "description": "What happened, and why."},
            "hint": {"type": "string", "description": "The next step."},
            "retryable": {"type": "boolean", "description": "Whether the same request may succeed later."},
            "retry_after_seconds": {"type": ["number", "null"]},
            "fields": {"type": "object"},
            "family": {"type": "string"},
        },
    },
    "Recorded": {
        "type": "object",
        "description": "An event. `commonhold help reference` lists the kinds, and the fields of each.",
        "required": ["sequence", "at", "kind", "event"],
        "properties": {
            "sequence": {"type": "integer", "description": "Its place in the log, and its cursor."},
            "at": {"type": "number", "description": "Seconds since 1970."},
            "kind": {"type": "string"},
            "event": {"type": "object"},
        },
    },
    "RegionMap": {
        "type": "object",
        "description": "A file; `source` is its bytes, in base64. The Python SDK finds the regions in it.",
        "required": ["path", "language", "source"],
        "properties": {
            "path": {"type": "string"},
            "language": {"type": "string"},
            "source": {"type": "string", "contentEncoding": "base64"},
        },
    },
}
_HEADERS: Final = (
    ("X-Commonhold-Agent", "The name of the agent session that calls. Only looking works without one."),
    ("Idempotency-Key", "A name for this request: repeated with it, the request takes effect once."),
)
_ERRORS: Final = {
    "400": "The request is not one of this operation.",
    "401": "The access token is missing or unknown (`TOKEN_INVALID`).",
    "403": "The access token does not permit this, or the path may not be used.",
    "404": "The named thing is not there.",
    "410": "The cursor is of another log, or of a state that was lost (`CURSOR_UNKNOWN`).",
    "413": "The request, or the file, is too large.",
    "421": "The server is not known by the name in Host (`HOST_REFUSED`).",
    "422": "A named thing is not valid.",
    "429": "The bearer sent too many requests (`RATE_LIMITED`).",
    "503": "The state cannot be read or written now: repeat the request after `retry_after_seconds`.",
    "507": "The disk is full (`DISK_FULL`).",
}
_ANYTHING: Final = {"description": "Any JSON value."}
_SUCCESS: Final = "200"


@cache
def document() -> bytes:
    """Return the document as JSON."""
    return msgspec.json.encode(shape())


def shape() -> dict[str, Any]:
    """Return the document."""
    components = _components()
    inputs = {calls.described(name).parameters.__name__ for name in ROUTES}
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES.values():
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Commonhold",
            "version": commonhold.__version__,
            "description": "Leases, validated commits, tasks and events of one repository: `commonhold help server`.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {name: each for name, each in components.items() if name not in inputs},
        },
    }


def _components() -> dict[str, Any]:
    described = [calls.described(name) for name in ROUTES]
    answers = [kind for each in described if (kind := _answer_type(each.answer_kind)) is not None]
    return {**_schemas([*(each.parameters for each in described), *answers])[1], **_NAMED_SCHEMAS}


def _schemas(types: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """Return a schema for each type, and the components that these name. Anything fits an `object`."""
    return msgspec.json.schema_components(types, schema_hook=lambda _: dict(_ANYTHING), ref_template=_REFERENCE)


def _answer_type(kind: Any) -> Any:  # noqa: ANN401 - each operation has its own
    """Return the type that the schema of an answer comes from; None if that is written by hand, or needs none."""
    one = get_args(kind)[0] if get_origin(kind) is tuple else kind
    return None if one in (bytes, type(None)) or one.__name__ in _NAMED_SCHEMAS else one


def _operation(route: Route, components: dict[str, Any]) -> dict[str, Any]:
    known = calls.described(route.operation)
    text = inspect.getdoc(getattr(Service, route.operation)) or ""
    summary, _, more = text.partition("\n\n")
    able = [scope for scope in Scope if route.scope in GRANTS[scope]]
    found: dict[str, Any] = {
        "operationId": route.operation,
        "tags": [route.path.removeprefix(f"{PREFIX}/").partition("/")[0]],
        "summary": " ".join(summary.split()),
        "description": f"{more}\n\nScopes: {', '.join(able)}.".strip(),
        "parameters": [*_parameters(route, known, components), *_common(route)],
        "responses": _responses(route, known),
    }
    if route.has_body:
        found["requestBody"] = _request_body(route, known, components)
    return found


def _request_body(route: Route, known: calls.Method, components: dict[str, Any]) -> dict[str, Any]:
    whole = components[known.parameters.__name__]
    properties = {name: each for name, each in whole["properties"].items() if name not in route.parameters}
    required = [name for name in whole.get("required", ()) if name not in route.parameters]
    body: dict[str, Any] = {
        "schema": {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    }
    if route.operation in EXAMPLES:
        body["example"] = {
            name: each for name, each in EXAMPLES[route.operation].items() if name not in route.parameters
        }
    return {"required": bool(required), "content": {http_calls.JSON: body}}


def _parameters(route: Route, known: calls.Method, components: dict[str, Any]) -> list[dict[str, Any]]:
    whole = components[known.parameters.__name__]
    names = route.parameters if route.has_body else known.fields
    found = []
    for name in names:
        is_in_path = name in route.parameters
        one: dict[str, Any] = {
            "name": name,
            "in": "path" if is_in_path else "query",
            "required": is_in_path or name in whole.get("required", ()),
            "schema": whole["properties"][name],
        }
        if name in EXAMPLES.get(route.operation, {}):
            one["example"] = EXAMPLES[route.operation][name]
        found.append(one)
    return found


def _common(route: Route) -> list[dict[str, Any]]:
    headers = _HEADERS if route.has_body else _HEADERS[:1]
    found: list[dict[str, Any]] = [
        {"name": name, "in": "header", "required": False, "description": text, "schema": {"type": "string"}}
        for name, text in headers
    ]
    known = calls.described(route.operation)
    if not route.has_body and http_calls.order_of(known) is not None:
        limit = {"type": "integer", "minimum": 1, "maximum": http_calls.MOST_ITEMS}
        pages = [
            {"name": http_calls.LIMIT, "in": "query", "schema": limit, "description": "The length of a page."},
            {
                "name": http_calls.CURSOR,
                "in": "query",
                "schema": {"type": "string"},
                "description": "The `next` of the page before.",
            },
        ]
        found += [each for each in pages if each["name"] not in known.fields]
    return found


def _responses(route: Route, known: calls.Method) -> dict[str, Any]:
    kind = known.answer_kind
    errors = {
        status: {"description": text, "content": {http_calls.JSON: {"schema": _ERROR}}}
        for status, text in _ERRORS.items()
    }
    if kind in (None, type(None)):
        return {"204": {"description": "Done."}, **errors, "409": _conflict(None)}
    if kind is bytes:
        content: dict[str, Any] = {http_calls.BYTES: {"schema": {"type": "string", "format": "binary"}}}
    else:
        content = {http_calls.JSON: {"schema": _answer_schema(kind)}}
    found = {_SUCCESS: {"description": "The answer.", "content": content}, **errors}
    if not route.has_body:
        found["304"] = {"description": "It still has the ETag that If-None-Match names."}
    outcomes = _outcomes(kind)
    if "queued" in outcomes:
        found["202"] = {"description": "The session waits in line: ask again with the `ticket`.", "content": content}
    is_refusable = bool(outcomes & {"refused", "denied"})
    found["409"] = _conflict(_answer_schema(kind) if is_refusable else None)
    return found


def _conflict(refusal: dict[str, Any] | None) -> dict[str, Any]:
    """Describe status 409: a refusal, which is an answer, or an error."""
    text = "The call was refused: the answer says why, and what to do next." if refusal else "The call is in conflict."
    schema = {"anyOf": [refusal, _ERROR]} if refusal else _ERROR
    return {"description": text, "content": {http_calls.JSON: {"schema": schema}}}


def _outcomes(kind: Any) -> set[str]:  # noqa: ANN401 - each operation has its own
    """Return the outcomes that an answer can have; none for answers without one."""
    field = getattr(kind, "__dataclass_fields__", {}).get("outcome")
    return set(get_args(field.type)) if field is not None else set()


def _answer_schema(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - each operation has its own
    if get_origin(kind) is not tuple:
        return _schema(kind)
    return {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": _schema(get_args(kind)[0])},
            "next": {"type": ["string", "null"], "description": "The cursor of the next page; null after the last."},
        },
    }


def _schema(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - each operation has its own
    if kind.__name__ in _NAMED_SCHEMAS:
        return {"$ref": _REFERENCE.format(name=kind.__name__)}
    ((found,), _) = _schemas([kind])
    return found
