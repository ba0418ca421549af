"""The optional arguments of an acquire."""

from typing import TypedDict


class AcquireOptions(TypedDict, total=False):
    """The optional arguments of an acquire.

    `patience_seconds`: take a place in line if the keys are not free, and keep it that long. `ticket`: the place that
    this session has already. `replaces`: a lease of this session that ends with the grant, for an upgrade.
    `hold_seconds`: how long a daemon may delay its answer while this session is in line; without a daemon the answer is
    immediate. `slots`: how many leases of the one key may exist at once. `once`: the work on the one key is done once
    for all, by one holder at a time, until one releases it with a result, which all that ask later are given.
    """

    acquisition_id: str | None
    request_id: str | None
    patience_seconds: float | None
    ticket: str | None
    replaces: str | None
    hold_seconds: float | None
    slots: int
    once: bool
