"""Values of free keys: read them with their versions, change them if they have not changed since (compare-and-swap)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from commonhold.kernel.answers import Next, PutAnswer
from commonhold.kernel.changeset import Read
from commonhold.kernel.commands import Put
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.keys import FILE, Key
from commonhold.kernel.lease_ports import LeaseView, Registry
from commonhold.kernel.outcomes import NotStored, Stored
from commonhold.kernel.policy import Policies, Policy
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import RESULTS, Value, Version, check_number, check_value
from commonhold.leases.idempotency import once
from commonhold.reads.reading import RegionReader


@dataclass(frozen=True, slots=True)
class PutRequest:
    """A request that a key hold `text`, based on its `expected_version` and on the versions in `reads`."""

    holder: str
    key: str
    text: str | None
    expected_version: int
    fence: int | None = None
    reads: tuple[Version, ...] = ()
    request_id: str | None = None


class Values:
    """The values of one namespace."""

    def __init__(self, registry: Registry, reading: RegionReader, policies: Policies) -> None:
        """Keep values in `registry`; `policies` say which keys a writer must hold."""
        self._registry = registry
        self._reading = reading
        self._policies = policies

    def get(self, text: str) -> Value:
        """Return the value of a key and its version (0: never set). Raises InputError `KEY_INVALID` for a file."""
        key = str(self._free(text))
        with self._registry.read() as view:
            return view.value(key) or Value(key)

    def put(
        self,
        holder: str,
        key: str,
        text: str | None,
        expected_version: int,
        fence: int | None,
        reads: Iterable[Version],
        request_id: str | None,
    ) -> PutAnswer:
        """Change the value of a key, atomically with all checks; a refusal carries the present values."""
        return self._put(PutRequest(holder, key, text, expected_version, fence, tuple(reads), request_id))

    def _put(self, request: PutRequest) -> PutAnswer:
        check_value(request.text)
        for number in (request.expected_version, request.fence or 0, *(read.version for read in request.reads)):
            check_number(number)
        key = self._free(request.key)
        if key.scheme == RESULTS:
            raise UsageError(
                Code.USAGE,
                f"{key} carries the result of work that was done once, which stays as it is",
                hint="ask for new work under a new key: commonhold acquire --once KEY",
            )
        command = Put(
            key=key,
            holder=request.holder,
            text=request.text,
            expected_version=request.expected_version,
            fence=request.fence,
            reads=tuple(Version(str(self._free(read.key)), read.version) for read in request.reads),
            must_hold=self._policies.of(key) is Policy.PESSIMISTIC,
        )
        match self._registry.execute(command, once(request)):
            case Stored(value):
                return PutAnswer("stored", value)
            case NotStored() as refused:
                return _refused(refused, request)

    def changed(self, view: LeaseView, reads: Iterable[Read]) -> tuple[Value, ...]:
        """Return the present values of free keys in `reads` whose version differs from the one in their hash."""
        asked = {str(key): read.hash for read in reads if (key := self._reading.locate(read.key)).scheme != FILE}
        now = [view.value(key) or Value(key) for key in asked]
        return tuple(value for value in now if str(value.version) != asked[value.key])

    def _free(self, text: str) -> Key:
        key = self._reading.locate(text)
        if key.scheme != FILE:
            return key
        raise InputError(
            Code.KEY_INVALID,
            f"{key} is a file: its content is its value",
            hint="read it with show, change it with commit; values are for keys such as account:12345",
            fields={"key": str(key)},
        )


def _refused(refused: NotStored, request: PutRequest) -> PutAnswer:
    return PutAnswer(
        "refused",
        code=refused.code,
        why=refused.why,
        current=refused.current,
        conflicts=refused.conflicts,
        next=_NEXT[refused.code](request, refused),
    )


def _look_again(request: PutRequest, refused: NotStored) -> Next:
    keys = list(dict.fromkeys((request.key, *(value.key for value in refused.current))))
    return Next("get", {"keys": keys}, "decide again with the current value (in current), then put with its version")


def _hold_first(request: PutRequest, _: NotStored) -> Next:
    return Next.acquire([request.key], "", "hold it first, read it again, then put with the fence of the lease")


def _wait(request: PutRequest, _: NotStored) -> Next:
    why = "another holds it: wait for your turn, read it again, then put"
    return Next.acquire([request.key], "", why, wait_seconds=60)


_NEXT: Mapping[Refusal, Callable[[PutRequest, NotStored], Next]] = {
    Refusal.VERSION_CHANGED: _look_again,
    Refusal.READ_CHANGED: _look_again,
    Refusal.LEASE_REQUIRED: _hold_first,
    Refusal.LEASE_LOST: _hold_first,
    Refusal.LOCK_CONFLICT: _wait,
}
