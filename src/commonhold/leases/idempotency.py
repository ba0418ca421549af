"""Idempotency (invariant I5): a repeated request gets the first answer, regardless of later events."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.answers import Answer
from commonhold.kernel.lease_ports import Once, StoredAnswer
from commonhold.kernel.ports import Store, Writer
from commonhold.kernel.texts import MAX_ID_LENGTH, check_line
from commonhold.leases.registry import first_answer

T = TypeVar("T", bound=Answer)


class Request(Protocol):
    """A request made of frozen dataclasses, with its holder and perhaps an id to repeat it by."""

    @property
    def holder(self) -> str:
        """Return the holder that made the request."""
        ...

    @property
    def request_id(self) -> str | None:
        """Return the id; None for a request that is never repeated."""
        ...


@dataclass(frozen=True, slots=True)
class IdentifiedRequest:
    """A request with an id to repeat it by; `content` is the command without what differs from try to try."""

    holder: str
    request_id: str | None
    content: object


def once(request: Request) -> Once | None:
    """Return the identity of this request; None for one that is never repeated."""
    if request.request_id is None:
        return None
    check_line(request.request_id, "request_id", MAX_ID_LENGTH)
    return Once(request.request_id, _fingerprint(request))


def earlier_answer(store: Store, request: Request, kind: type[T]) -> T | None:
    """Return the earlier answer to this request, if it was made before.

    Raises UsageError `REQUEST_ID_REUSED` if the id was used for another request.
    """
    key = once(request)
    if key is None:
        return None
    with store.read() as reader:
        answer: T | None = first_answer(reader, request.holder, key, (kind,))
        return answer


def remember(writer: Writer, request: Request, answer: T, at: float) -> T:
    """Make `answer` the first answer to this request; there must be none yet."""
    if request.request_id is not None:
        writer.remember(request.holder, request.request_id, StoredAnswer(_fingerprint(request), answer), at)
    return answer


def _fingerprint(request: Request) -> str:
    return hash_bytes(repr(request).encode("utf-8", "surrogatepass"))
