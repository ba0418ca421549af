"""Who drives an operation in these tests: a clock that only sleeping and answering move, and a service on paper."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from commonhold.client.effects import Call, Effect, ReadClock, Sleep, Steps
from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer
from commonhold.kernel.clock import Deadline
from commonhold.kernel.lease import Conflict, Lease
from commonhold.kernel.modes import Mode

T = TypeVar("T")
Answering = Callable[[Call], object]


@dataclass
class Driver:
    """Does what operations ask for, and writes it down. What `answering` returns as an exception is thrown in.

    `interrupt_at` is the number of the effect, counted from 0, in the middle of which `interruption` comes.
    """

    answering: Answering
    answer_seconds: float = 0.0
    now: float = 0.0
    interrupt_at: int | None = None
    interruption: BaseException = field(default_factory=KeyboardInterrupt)
    calls: list[Call] = field(default_factory=list)
    sleeps: list[float] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)

    def drive(self, steps: Steps[T]) -> T:
        """Drive `steps` to their end."""
        resume: Callable[[Any], Effect] = steps.send
        value: Any = None
        while True:
            try:
                effect = resume(value)
            except StopIteration as done:
                answer: T = done.value
                return answer
            value = self._perform(effect)
            resume = steps.throw if isinstance(value, BaseException) else steps.send

    def _perform(self, effect: Effect) -> object:
        self.effects.append(effect)
        is_interrupted = len(self.effects) - 1 == self.interrupt_at
        value = self._answer(effect)
        return self.interruption if is_interrupted else value

    def _answer(self, effect: Effect) -> object:
        match effect:
            case Call():
                self.calls.append(effect)
                self.now += self.answer_seconds
                return self.answering(effect)
            case Sleep(seconds):
                self.sleeps.append(seconds)
                self.now += seconds
                return None
            case ReadClock():
                return self.now

    def methods(self) -> list[str]:
        """What was called, in order."""
        return [call.method for call in self.calls]


def lease(lease_id: str = "lease-1", *, fence: int = 7, ttl_seconds: float = 100.0) -> Lease:
    return Lease(
        id=lease_id,
        fence=fence,
        holder="ann",
        task="",
        keys=("account:1",),
        mode=Mode.EXCLUSIVE,
        acquisition_id=lease_id,
        granted_at=0.0,
        deadline=Deadline("boot", ttl_seconds, ttl_seconds),
        ttl_seconds=ttl_seconds,
    )


def granted(call: Call, *, fence: int = 7) -> AcquireAnswer:
    ttl_seconds = call.named["ttl_seconds"] or 100.0
    return AcquireAnswer("granted", lease(call.named["ticket"], fence=fence, ttl_seconds=ttl_seconds))


def queued(call: Call) -> AcquireAnswer:
    conflict = Conflict("account:1", "account:1", "bob", "", Mode.EXCLUSIVE, 0.0)
    return AcquireAnswer("queued", conflicts=(conflict,), ticket=call.named["ticket"], position=1)


def service(*acquires: Callable[[Call], object]) -> Answering:
    """A service that answers one acquire after the other so, the last one ever after, and all else kindly."""
    left = list(acquires)

    def answer(call: Call) -> object:
        if call.method == "acquire":
            return (left.pop(0) if len(left) > 1 else left[0])(call)
        held = lease(call.arguments[0], ttl_seconds=call.named.get("ttl_seconds", 100.0))
        return LeaseAnswer("released" if call.method == "release" else "renewed", held)

    return answer
