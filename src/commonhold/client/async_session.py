"""The SDK for asyncio: the same operations, driven by awaiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from commonhold.api import terms
from commonhold.api.service import OPERATIONS
from commonhold.client import acquisition, external_values, lease_keeper
from commonhold.client.effects import Call, Effect, ReadClock, Sleep, Steps
from commonhold.client.external_values import Resolvers
from commonhold.client.lease_keeper import LeaseHandle
from commonhold.client.session import Held, Session, ticks
from commonhold.kernel.arguments import check_arguments
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.correlation import correlated

if TYPE_CHECKING:
    from commonhold.client.channel import Channel

T = TypeVar("T")
MAX_THREADS: Final = 1000
"""The limit of concurrent calls. Each waiter in line occupies one, and must not keep out a call that would release."""
PATIENCE_SECONDS: Final = 0.05
"""How long a cancelled call may still take before its ticket is released."""


class AsyncCommonhold(Session):
    """As `Commonhold`, for asyncio: every method is awaited. A cancelled wait leaves no place in line behind."""

    def __init__(
        self, channel: Channel, *, root: str, agent: str | None = None, resolvers: Resolvers | None = None
    ) -> None:
        """Speak through `channel`, whose calls are made in threads."""
        super().__init__(channel, root=root, agent=agent, resolvers=resolvers)
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="commonhold")

    async def commit(self, changeset: terms.Changeset, *, dry_run: bool = False) -> terms.CommitAnswer:
        """Apply all edits of a changeset or none. A dry run writes nothing. See `Commonhold.commit`."""
        return await self.drive(external_values.commit(self._resolvers, changeset, dry_run=dry_run))

    async def version_of(self, key: str) -> str:
        """Return the hash to name for a free key in the reads of a changeset."""
        return await self.drive(external_values.version_of(self._resolvers, key))

    @asynccontextmanager
    async def hold(self, *keys: str, wait_seconds: float = 30.0, **more: Any) -> AsyncIterator[Held]:  # noqa: ANN401
        """Hold a lease on `keys` for the length of an `async with` block. See `Commonhold.hold`."""
        asking = acquisition.acquire(*keys, wait_seconds=wait_seconds, **more)
        handle = await self.drive(lease_keeper.begin(asking, may_be_known=bool(lease_keeper.NAMES & more.keys())))
        keeper = asyncio.create_task(self._keep(handle))
        is_done = False
        try:
            yield Held(handle)
            is_done = True
        finally:
            keeper.cancel()
            try:
                await asyncio.wait([keeper])
            finally:
                answer = await self.drive(lease_keeper.end(handle))
                if is_done:  # otherwise an exception is being raised already
                    handle.released(answer)

    async def _keep(self, handle: LeaseHandle) -> None:
        # If the store cannot be reached for a while, it is asked again; the handle itself knows when time is up.
        while handle.why_lost(ticks()) is None:
            with suppress(CommonholdError):
                await self.drive(lease_keeper.keep(handle))
            await asyncio.sleep(min(1.0, handle.renewal_seconds))

    async def drive(self, steps: Steps[T]) -> T:
        """Execute the effects that an operation yields until it is done, also those it yields after a cancellation."""
        with correlated():
            return await self._driven(steps)

    async def _driven(self, steps: Steps[T]) -> T:
        resume: Callable[[Any], Effect] = steps.send
        value: Any = None
        while True:
            try:
                effect = resume(value)
            except StopIteration as done:
                answer: T = done.value
                return answer
            try:
                value, resume = await self._perform(effect), steps.send
            except GeneratorExit:  # the event loop is gone: nothing can be executed any more
                steps.close()
                raise
            except BaseException as fault:  # noqa: BLE001 - the operation cleans up, and raises it again
                value, resume = fault, steps.throw

    async def _perform(self, effect: Effect) -> Any:  # noqa: ANN401
        match effect:
            case Call():
                return await self._called(effect)
            case Sleep(seconds):
                return await asyncio.sleep(seconds)
            case ReadClock():
                return ticks()

    async def _called(self, call: Call) -> Any:  # noqa: ANN401
        """Call in a thread. After a cancellation, finish a call that writes: a lease it grants must not be lost."""
        check_arguments(call.arguments, call.named)
        answer = self._in_thread(call.method, call.arguments, call.named)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if OPERATIONS[call.method].reads:
                answer.add_done_callback(asyncio.Future.exception)  # so that no loop complains of it
                raise
            while not answer.done():
                with suppress(asyncio.CancelledError):  # cancelled once already; raised again below
                    await self._hasten(call, answer)
            if answer.exception() is None and call.method == "claim_task":
                await self._give_back(answer.result())
            raise

    async def _give_back(self, claim: terms.TaskAnswer) -> None:
        """Release the claim of a session that no longer wants the task, so that another can have it."""
        if claim.outcome == "claimed" and claim.lease is not None:
            with suppress(CommonholdError, asyncio.CancelledError):
                await asyncio.shield(self._in_thread("release", (claim.lease.id,), {}))

    async def _hasten(self, call: Call, answer: asyncio.Future[Any]) -> None:
        """Wait a little for an answer that is no longer needed; then take a call that still waits in line out of it."""
        is_answered, _ = await asyncio.wait([answer], timeout=PATIENCE_SECONDS)
        if not is_answered and "hold_seconds" in call.named:
            with suppress(CommonholdError):
                await asyncio.shield(self._in_thread("release", (call.named["ticket"],), {}))

    def _in_thread(self, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        call = copy_context().run  # the thread has the correlation id of this task, too
        return loop.run_in_executor(self._threads, call, self._channel.call, method, arguments, named)

    async def close(self) -> None:
        """Close the state. Leases stay as they are."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self._channel.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
