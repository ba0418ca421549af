"""How it is known that a change concerns something: always told, and never raised above what it is."""

from enum import StrEnum


class Evidence(StrEnum):
    """How it is known that a change concerns a region."""

    CONTRACT = "contract"  # interfaces and uses were tied and compared
    TYPES = "types"  # a type checker newly complains
    SUSPICION = "suspicion"  # only a name says so
