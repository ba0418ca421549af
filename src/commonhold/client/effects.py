"""Effects that a client's operation asks its driver to execute: the protocol core does no input or output itself.

An operation is a generator. It yields effects, is sent their results, and returns its answer. If a driver is stopped,
it throws the exception in; the operation may yield more effects to leave nothing behind.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """Call a method of the service; its answer is sent back."""

    method: str
    arguments: Sequence[Any] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait; nothing is sent back."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ReadClock:
    """Read a clock that never runs back, and goes on while the machine sleeps; its seconds are sent back."""


Effect = Call | Sleep | ReadClock
Steps = Generator[Effect, Any, T]
