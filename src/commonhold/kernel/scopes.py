"""The scopes of access tokens."""

from enum import StrEnum


class Scope(StrEnum):
    """The rights of the bearer of an access token over the network. AGENT and REVIEWER include OBSERVER."""

    OBSERVER = "observer"
    """Look at the state, at files and at events, without a name of its own."""
    AGENT = "agent"
    """Work as an agent session: lease, read, commit, claim tasks."""
    REVIEWER = "reviewer"
    """Decide as a person: review partial work, waive debts, break leases."""
    ADMIN = "admin"
    """Everything, maintenance of the state included."""
