"""The routes of the HTTP interface, one an operation: derived from the declarations above the methods of the service.

Both ends use them: a server finds the operation of a request, a client the request for an operation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote, unquote

from commonhold.api.operations import Operation
from commonhold.api.service import OPERATIONS
from commonhold.kernel.scopes import Scope

PREFIX: Final = "/api/v1"
LOOK: Final = "GET"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Route:
    """The HTTP method and the path of an operation; `path` has parameters of the operation in braces."""

    operation: str
    method: str
    path: str
    scope: Scope

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the operation that stand in the path."""
        return tuple(_PLACEHOLDER.findall(self.path))

    @property
    def has_body(self) -> bool:
        """Whether the other parameters are sent as a JSON object; otherwise they stand in the query."""
        return self.method != LOOK

    def filled(self, values: Mapping[str, object]) -> str:
        """Return the path with these values in it. Raises KeyError if one is missing."""
        return _PLACEHOLDER.sub(lambda found: quote(str(values[found[1]]), safe=""), self.path)

    def values(self, path: str) -> Mapping[str, str] | None:
        """Return the parameters in a path as it was sent, still quoted; None if it is another path."""
        found = _pattern(self.path).fullmatch(path)
        return None if found is None else {name: unquote(given) for name, given in found.groupdict().items()}


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_PLACEHOLDER.sub(r"(?P<\1>[^/]*)", path))


@dataclass(frozen=True, slots=True)
class Match:
    """The route of a request, and the parameters in its path. Without one, `allowed` has the methods of the path."""

    route: Route | None
    values: Mapping[str, str]
    allowed: tuple[str, ...] = ()


def match(method: str, path: str) -> Match:
    """Find the route of a request by its method and its quoted path, which begins with PREFIX."""
    if (method, path) in _FIXED:
        return Match(_FIXED[method, path], {})
    for route in _WITH_PARAMETERS:
        if route.method == method and (values := route.values(path)) is not None:
            return Match(route, values)
    return Match(None, {}, tuple(sorted({each.method for each in ROUTES.values() if each.values(path) is not None})))


def _route(name: str, traits: Operation) -> Route:
    method, _, path = (traits.route or f"POST /calls/{name}").partition(" ")
    return Route(name, method, PREFIX + path, traits.scope or (Scope.OBSERVER if method == LOOK else Scope.AGENT))


ROUTES: Final[Mapping[str, Route]] = {name: _route(name, each) for name, each in OPERATIONS.items() if each.in_sdk}
"""The routes by the names of their operations."""
_FIXED: Final = {(each.method, each.path): each for each in ROUTES.values() if not each.parameters}
_WITH_PARAMETERS: Final = tuple(each for each in ROUTES.values() if each.parameters)
