"""The rights of a request: its scope, and the names of sessions that it may use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.api.routes import Route
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.scopes import Scope

GRANTS: Final[Mapping[Scope, frozenset[Scope]]] = {
    Scope.OBSERVER: frozenset({Scope.OBSERVER}),
    Scope.AGENT: frozenset({Scope.OBSERVER, Scope.AGENT}),
    Scope.REVIEWER: frozenset({Scope.OBSERVER, Scope.REVIEWER}),
    Scope.ADMIN: frozenset(Scope),
}
"""The operations that the bearer of a token may call, by the scopes that they need."""


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of a request. `holder`: it acts in that name, or in that of a subagent (`HOLDER/...`), only.

    `bearer` identifies the sender in limits and logs. `is_valid` says whether its token still is: a stream asks again.
    """

    scope: Scope
    bearer: str = ""
    holder: str | None = None
    is_valid: Callable[[], bool] = lambda: True

    def check(self, route: Route) -> None:
        """Raise UsageError `SCOPE_INSUFFICIENT` unless this may call the operation of `route`."""
        if route.scope not in GRANTS[self.scope]:
            wanted = "admin" if route.scope is Scope.ADMIN else f"{route.scope} or admin"
            raise insufficient(f"{route.method} {route.path} needs a token of the scope {wanted}, this is {self.scope}")

    def name(self, given: str | None) -> str | None:
        """Return the name of the session that a request acts for. Raises UsageError `SCOPE_INSUFFICIENT`."""
        if self.scope is Scope.OBSERVER:
            if given is None:
                return None
            raise insufficient("a token of the scope observer looks without a name: leave X-Commonhold-Agent out")
        if self.holder is None:
            return given
        if given is None or given == self.holder or given.startswith(f"{self.holder}/"):
            return given or self.holder
        raise insufficient(f"this token is for the session {self.holder!a}, and cannot act as {given!a}")


OWNER: Final = Access(Scope.ADMIN, "owner")
"""The rights of a program of this user, over the private socket."""


def insufficient(why: str) -> UsageError:
    """Return the error for a request that its token does not permit."""
    return UsageError(
        Code.SCOPE_INSUFFICIENT, why, hint="ask for a token that permits it: commonhold token issue --scope SCOPE"
    )
