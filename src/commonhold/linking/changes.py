"""What two versions of a file offer differently: contracts that changed."""

from dataclasses import dataclass

from commonhold.linking.summary import Offer, Summary


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A name whose contract changed: `before` None means new, `after` None gone. `what` says so as a clause."""

    qualname: str
    what: str
    before: Offer | None
    after: Offer | None


def contract_changes(before: Summary | None, after: Summary | None) -> tuple[ContractChange, ...]:
    """The names that are gone, or are offered with another contract; new names only where they hide an old one.

    Annotations are part of no contract here: nothing fails for them when it runs.
    """
    raise NotImplementedError
