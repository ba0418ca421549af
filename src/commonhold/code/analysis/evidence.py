"""The evidence that a change affects something: always reported, and never overstated."""

from enum import StrEnum


class Evidence(StrEnum):
    """The kind of evidence that a change affects a region."""

    CONTRACT = "contract"  # interfaces and uses were resolved and compared
    TYPES = "types"  # a type checker newly complains
    SUSPICION = "suspicion"  # only a name suggests it
