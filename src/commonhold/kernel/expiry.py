"""Expiry of an instant on the store's clock. A leaf module: showing leases must not load the lease types."""


def has_passed(epoch: str, ticks: float, now_epoch: str, now_ticks: float) -> bool:
    """Whether now is at or after an instant. One of another epoch has passed: after a reboot leases are expired."""
    return epoch != now_epoch or now_ticks >= ticks
