"""The types in the signatures of the service, each loaded when a call is first made that has it: commands make few."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, get_type_hints

_HOMES: Final = {
    "commonhold.app.acquire_options": "AcquireOptions",
    "commonhold.app.answers": "AcquireAnswer CommitAnswer LeaseAnswer News PutAnswer RegionHash RegionText ReviewAnswer"
    " TakeAnswer WaiveAnswer",
    "commonhold.app.pictures": "Briefing Status Who",
    "commonhold.domain.changeset": "Changeset",
    "commonhold.domain.events": "CommitUndone Recorded",
    "commonhold.domain.lease": "Lease",
    "commonhold.domain.partial_work": "PartialWork",
    "commonhold.domain.value": "Value Version",
}
_HOME_OF: Final = {name: module for module, names in _HOMES.items() for name in names.split()}


class _Types(dict[str, object]):
    """Types by name; not one of them is loaded before it is looked for."""

    def __missing__(self, name: str) -> object:
        self[name] = found = getattr(import_module(_HOME_OF[name]), name)
        return found


_types: Final = _Types()


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of the parameters of a method of the service, and of its answer."""
    return get_type_hints(function, localns=_types)
