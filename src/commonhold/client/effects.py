"""Effects that a client's operation asks its driver to execute: the protocol core does no input or output itself.

An operation is a generator. It yields effects, is sent their results, and returns its answer. If a driver is stopped,
it throws the exception in; the operation may yield more effects to leave nothing behind.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


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


def calling(method: Callable[Concatenate[Any, P], T]) -> Callable[P, Steps[T]]:
    """Return the operation that consists of one call of a method of the service."""
    name = method.__name__

    def operation(*arguments: P.args, **named: P.kwargs) -> Steps[T]:
        answer: T = yield Call(name, arguments, named)
        return answer

    return operation
