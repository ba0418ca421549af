"""The SDK for threads: one agent session's access to the files and leases that it shares with others."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from commonhold.api import terms
from commonhold.client import acquisition, external_values, lease_keeper
from commonhold.client.effects import Call, Effect, ReadClock, Sleep, Steps
from commonhold.client.external_values import Resolvers
from commonhold.client.lease_keeper import LeaseHandle
from commonhold.client.offered import Offered
from commonhold.client.operations import Operations
from commonhold.kernel import texts
from commonhold.kernel.arguments import check_arguments
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.correlation import correlated
from commonhold.machine.system import SystemClock

if TYPE_CHECKING:
    from commonhold.client.channel import Channel
    from commonhold.kernel.lease import Wish

T = TypeVar("T")


def ticks() -> float:
    """Seconds on a clock that goes on while the machine sleeps, as that of the store does."""
    return SystemClock().now().ticks


class Session(Operations):
    """The common part of the sessions for threads and for asyncio."""

    acquire = Offered(acquisition.acquire)

    def __init__(
        self, channel: Channel, *, root: str, agent: str | None = None, resolvers: Resolvers | None = None
    ) -> None:
        """Speak through `channel` for the working tree at `root`; `commonhold.open` does this for a repository."""
        self._channel = channel
        self._resolvers = resolvers or Resolvers({})
        self._root = root
        self._agent = agent

    @property
    def root(self) -> str:
        """The absolute path of the working tree."""
        return self._root

    @property
    def holder(self) -> str:
        """The name under which this session holds leases. Raises UsageError `HOLDER_MISSING` if it has none."""
        return self._agent or texts.check_holder("")


class Commonhold(Session):
    """One agent session's access to the files and leases that it shares with others.

    Keys are taken in any form (`src/a.py`, `src/a.py#C.m`, `file:…`, `method::src/a.py::C.m`, `account:12345`).
    Refusals are answers. Errors are CommonholdError, with a code and a hint; after one, nothing has changed. Threads
    of one process may share an instance.
    """

    def commit(self, changeset: terms.Changeset, *, dry_run: bool = False) -> terms.CommitAnswer:
        """Apply all edits of a changeset or none. A dry run returns the verdict and writes nothing.

        Edits whose base others have changed are merged if the merge is proven. Guarantees: edits take effect only if
        their named leases hold at the moment of writing; several files change together, also across a crash.
        """
        return self.drive(external_values.commit(self._resolvers, changeset, dry_run=dry_run))

    def version_of(self, key: str) -> str:
        """Return the hash to name for a free key in the reads of a changeset."""
        return self.drive(external_values.version_of(self._resolvers, key))

    @contextmanager
    def hold(self, *keys: str, wait_seconds: float = 30.0, **more: Any) -> Iterator[Held]:  # noqa: ANN401 - as acquire
        """Hold a lease on `keys` for the length of a `with` block: waited for, renewed meanwhile, released after.

        It takes the arguments of `acquire`. Raises RefusedError `LEASE_DENIED` if the lease is not granted in time, and
        with `once` `ALREADY_DONE` if the work is done: the field `result` of the error has its result.
        Call `check()` of the yielded object before each write: it raises RefusedError `LEASE_LOST` as soon as the lease
        cannot be relied on.
        """
        asking = acquisition.acquire(*keys, wait_seconds=wait_seconds, **more)
        handle = self.drive(lease_keeper.begin(asking, may_be_known=bool(lease_keeper.NAMES & more.keys())))
        process = os.getpid()
        is_done = False
        try:
            with self._kept(handle):
                yield Held(handle)
            is_done = True
        finally:
            if os.getpid() == process:  # a child that was forked inside the block leaves its parent's lease alone
                answer = self.drive(lease_keeper.end(handle))
                if is_done:  # otherwise an exception is being raised already
                    handle.released(answer)

    @contextmanager
    def _kept(self, handle: LeaseHandle) -> Iterator[None]:
        stop, process = threading.Event(), os.getpid()
        keeper = threading.Thread(target=self._keep, args=(handle, stop), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            if os.getpid() == process:  # a forked child has no keeper, which may have held a lock
                stop.set()
                keeper.join()

    def _keep(self, handle: LeaseHandle, stop: threading.Event) -> None:
        # If the store cannot be reached for a while, it is asked again; the handle itself knows when time is up.
        while not stop.is_set() and handle.why_lost(ticks()) is None:
            with suppress(CommonholdError, _Stopped):
                self.drive(lease_keeper.keep(handle), lambda seconds: _doze(stop, seconds))
            stop.wait(min(1.0, handle.renewal_seconds))

    def drive(self, steps: Steps[T], sleep: Callable[[float], object] = time.sleep) -> T:
        """Execute the effects that an operation yields until it is done."""
        resume: Callable[[Any], Effect] = steps.send
        value: Any = None
        with correlated():
            while True:
                try:
                    effect = resume(value)
                except StopIteration as done:
                    answer: T = done.value
                    return answer
                try:
                    value, resume = self._perform(effect, sleep), steps.send
                except BaseException as fault:  # noqa: BLE001 - the operation cleans up, and raises it again
                    value, resume = fault, steps.throw

    def _perform(self, effect: Effect, sleep: Callable[[float], object]) -> Any:  # noqa: ANN401
        match effect:
            case Call(method, arguments, named):
                check_arguments(arguments, named)
                return self._channel.call(method, arguments, named)
            case Sleep(seconds):
                return sleep(seconds)
            case ReadClock():
                return ticks()

    def close(self) -> None:
        """Close the state, as the end of a `with` block does. Leases stay as they are."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Stopped(Exception):  # noqa: N818 - the block has ended, so nothing needs to be kept
    """The block around the lease has ended, and the keeper with it."""


def _doze(stop: threading.Event, seconds: float) -> None:
    if stop.wait(seconds):
        raise _Stopped


class Held:
    """A lease inside a `with` block."""

    def __init__(self, handle: LeaseHandle) -> None:
        """Show `handle`."""
        self._handle = handle

    @property
    def id(self) -> str:
        """The id of the lease, to be named in a changeset."""
        return self._handle.lease.id

    @property
    def fence(self) -> int:
        """The fencing token, to be passed to the resource that is written to."""
        return self._handle.lease.fence

    @property
    def keys(self) -> tuple[str, ...]:
        """The canonical keys that are held."""
        return self._handle.lease.keys

    @property
    def slot(self) -> int:
        """The number of the slot that is held, from 1; 0 for a lease on all of its key."""
        return self._handle.lease.slot

    @property
    def wish(self) -> Wish | None:
        """The latest request to release the lease, with its author and reason, as of the last renewal."""
        return self._handle.lease.wish

    @property
    def is_lost(self) -> bool:
        """Whether the lease cannot be relied on any more."""
        return self._handle.why_lost(ticks()) is not None

    def finish(self, result: str) -> None:
        """Say that the work acquired with `once` is done: the end of the block keeps `result` for all that ask later.

        A block that ends without this call leaves the work to the next in line. Raises InputError `TEXT_INVALID` for a
        result of more than 65,536 characters, or one that is not UTF-8.
        """
        self._handle.finish(result)

    def check(self) -> None:
        """Raise RefusedError `LEASE_LOST` unless the lease holds. Call it before every write under the lease."""
        self._handle.check(ticks())
