"""Who depends on a definition: its callers, heirs, importers, in any file."""

from dataclasses import dataclass

from commonhold.linking.library import Library
from commonhold.semantics.references import Use


@dataclass(frozen=True, slots=True)
class Dependent:
    """A place that uses a definition. `qualname` is the definition that the place is in, empty at the top level.

    `is_sure`: the use was tied to the definition; else only its name says so.
    """

    path: str
    line: int
    qualname: str
    use: Use
    call: str
    is_sure: bool


def dependents(library: Library, path: str, qualname: str) -> tuple[Dependent, ...]:
    """Everything that uses a definition, sure ones first, then by path and line."""
    raise NotImplementedError
