"""When an instant of the store's clock has passed: a leaf, for who looks at leases without loading what they are."""


def has_passed(epoch: str, ticks: float, now_epoch: str, now_ticks: float) -> bool:
    """Whether now is at or after an instant. One of another epoch has passed: after a reboot leases are expired."""
    return epoch != now_epoch or now_ticks >= ticks
