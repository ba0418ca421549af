"""The examination of a whole repository: whom a change in some files concerns in any of them."""

from collections.abc import Callable, Collection

from commonhold.linking.findings import Links
from commonhold.linking.library import Library

IsEdited = Callable[[str, int], bool]
"""Whether a line (from 1) of the file at a path, in the state after, lies in a region that the change writes itself."""


def examine(before: Library, after: Library, changed: Collection[str], is_edited: IsEdited) -> Links:
    """Compare two states that differ in the files `changed`: whom does that concern, outside of what was edited?"""
    raise NotImplementedError
