"""Requests made up from an OpenAPI document: most fit it, some are spoiled."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

KEYS: Final = ("a.py", "a.py#one", "file:a.py#@header", "x:1", "new.py", "../out", "a.py#\x00", "", "*", "account:*")
"""Texts that mean something to the service: made up ones alone would all be refused at once."""
TEXTS: Final = st.sampled_from(KEYS) | st.text(max_size=20)
NUMBERS: Final = st.integers(-3, 30) | st.integers() | st.sampled_from((2**63, -(2**63) - 1, 10**30))
DEPTH: Final = 5


@dataclass(frozen=True)
class Request:
    """A request, and the operation that it is for."""

    operation: str
    method: str
    path: str
    body: bytes | None
    headers: Mapping[str, str]


class Requests:
    """Makes requests for the operations of a document."""

    def __init__(self, document: Any) -> None:
        self._schemas = document["components"]["schemas"]
        self.operations = [
            (path, method.upper(), one) for path, each in document["paths"].items() for method, one in each.items()
        ]

    @st.composite
    @staticmethod
    def made(draw: st.DrawFn, self: "Requests") -> Request:
        """Draw a request."""
        path, method, one = draw(st.sampled_from(self.operations))
        query: dict[str, Any] = {}
        headers = {"X-Commonhold-Agent": draw(st.sampled_from(("ann", "ben", "ben/sub", "ü", "")))}
        for each in one["parameters"]:
            value = draw(self.value(each["schema"], each["name"]))
            if each["in"] == "path":
                path = path.replace(f"{{{each['name']}}}", quote(_text(value) or "-", safe=""))
            elif each["in"] == "query" and (each.get("required") or draw(st.booleans())):
                query[each["name"]] = value
            elif each["name"] == "Idempotency-Key" and draw(st.booleans()):
                headers[each["name"]] = draw(st.sampled_from(("k1", "k2", "k" * 300)))
        body = None
        if "requestBody" in one:
            schema = one["requestBody"]["content"]["application/json"]["schema"]
            body = json.dumps(draw(self.value(schema, ""))).encode()
            if draw(st.integers(0, 9)) == 0:
                body = draw(st.binary(max_size=40) | st.sampled_from((b"[" * 5000, b'{"keys": NaN}', body[:-1])))
        encoded = urlencode({name: _queried(each) for name, each in query.items()}, doseq=True)
        return Request(one["operationId"], method, f"{path}?{encoded}" if encoded else path, body, headers)

    def value(self, schema: Any, name: str, depth: int = 0) -> st.SearchStrategy[Any]:
        """Draw a value for a schema, and now and then one of another type."""
        fitting = self._fitting(schema, name, depth)
        return st.one_of(*[fitting] * 15, st.sampled_from((None, True, 0, -1.5, "", [], {}, {"x": 1}, "\ud800")))

    def _fitting(self, schema: Any, name: str, depth: int) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            return self._fitting(self._schemas[schema["$ref"].rpartition("/")[2]], name, depth)
        kind = schema.get("type")
        kinds = [{**schema, "type": each} for each in kind] if isinstance(kind, list) else schema.get("anyOf", ())
        if kinds:
            return st.one_of(*[self._fitting(each, name, depth) for each in kinds])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        if kind == "array":
            item = schema.get("items", {"type": "string"})
            return st.lists(self.value(item, "", depth + 1), max_size=3 if depth < DEPTH else 0)
        return self._object(schema, depth) if kind == "object" else _plain(kind, name)

    def _object(self, schema: Any, depth: int) -> st.SearchStrategy[Any]:
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            return st.dictionaries(TEXTS, self.value(more, "", depth + 1), max_size=2)
        properties = {name: self.value(each, name, depth + 1) for name, each in schema.get("properties", {}).items()}
        required = {name: each for name, each in properties.items() if name in schema.get("required", ())}
        optional = {name: each for name, each in properties.items() if name not in required}
        return st.fixed_dictionaries(required, optional=optional)


def _plain(kind: Any, name: str) -> st.SearchStrategy[Any]:
    numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 60)
    plain = {"integer": NUMBERS, "boolean": st.booleans(), "null": st.none(), "number": numbers}
    return st.floats(0, 0.01) if name == "hold_seconds" else plain.get(kind, TEXTS)


def _text(value: Any) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else json.dumps(value)


def _queried(value: Any) -> Any:
    return [_text(each) for each in value] if isinstance(value, list) else _text(value)
