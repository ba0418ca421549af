"""A base of an edit that is no longer the present content."""

from dataclasses import dataclass

from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Key


@dataclass(frozen=True, slots=True)
class Stale:
    """A region or file that differs from the base of an edit: `region` is its present state, None if it is gone.

    `asked` is the key as the changeset has it, `base` the hash that it gives (None: it gave none, or expected nothing
    there), `span` the span of a header that it names.
    """

    asked: str
    key: Key
    base: str | None
    source: RegionMap | None
    region: Region | None
    span: int | None = None
