"""What an acquire may say, beside what it is for."""

from typing import TypedDict


class AcquireOptions(TypedDict, total=False):
    """What else an acquire may say.

    `patience_seconds`: take a place in line where the keys are not free, and keep it that long. `ticket`: the place
    that this session has already. `replaces`: a lease of this session that ends with the grant, for an upgrade.
    `hold_seconds`: how long a daemon may keep its answer back while this session stands in line; others answer at once.
    """

    acquisition_id: str | None
    request_id: str | None
    patience_seconds: float | None
    ticket: str | None
    replaces: str | None
    hold_seconds: float | None
