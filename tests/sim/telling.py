"""What happened, in a line that a person can read."""

from typing import Any

from commonhold.kernel.commands import Acquire, Command, Put
from commonhold.kernel.events import KIND_OF, Recorded, holder_of, lease_id_of


def asked(command: Command[Any]) -> str:
    """Say what somebody wants."""
    name = type(command).__name__.lower()
    match command:
        case Acquire():
            waits = "" if command.patience_seconds is None else f", waits {command.patience_seconds:.0f} s"
            replaces = f", for {command.replaces}" if command.replaces else ""
            keys = " + ".join(map(str, command.keys))
            return f"{name} {command.lease_id}: {keys} {command.mode} {command.ttl_seconds:.0f} s{waits}{replaces}"
        case Put():
            fence = "" if command.fence is None else f", fence {command.fence}"
            reads = "".join(f", read {read.key} at {read.version}" for read in command.reads)
            return f"{name} {command.key} on version {command.expected_version}{fence}{reads}"
        case _:
            return f"{name} {getattr(command, 'lease_id', '')}".strip()


def answered(outcome: Any) -> str:
    """Say what somebody was answered."""
    name = type(outcome).__name__.lower()
    if lease := getattr(outcome, "lease", None):
        return f"{name}, fence {lease.fence}, until {lease.deadline.ticks:.1f}"
    if position := getattr(outcome, "position", None):
        return f"{name}, {position} in line"
    if value := getattr(outcome, "value", None):
        return f"{name}, version {value.version}: {value.text}"
    return f"{name} {getattr(outcome, 'code', '')}".strip()


def happened(recorded: Recorded) -> str:
    """Say what was written down."""
    event = recorded.event
    why = f" {event.why}" if hasattr(event, "why") else ""
    return f"   {recorded.sequence:3} {KIND_OF[type(event)]} {lease_id_of(event) or ''} of {holder_of(event)}{why}"
