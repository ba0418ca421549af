"""One answer a request (invariant I5): a repeated request gets the first answer, whatever happened since."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from commonhold.app.answers import Answer
from commonhold.app.ports import Reader, StoredAnswer, Writer
from commonhold.domain.errors import Code, UsageError
from commonhold.domain.texts import line
from commonhold.regions.region import hash_bytes

T = TypeVar("T", bound=Answer)


class Request(Protocol):
    """A wish made of frozen dataclasses, of somebody, perhaps with an id to repeat it by."""

    @property
    def holder(self) -> str:
        """Whose wish it is."""
        ...

    @property
    def request_id(self) -> str | None:
        """The id; None for a wish that is never repeated."""
        ...


def first_answer(reader: Reader, request: Request, kind: type[T]) -> T | None:
    """The answer that this request got before, if it was made before.

    Raises UsageError `REQUEST_ID_REUSED` if the id was used for another request.
    """
    if request.request_id is None:
        return None
    line(request.request_id, "request_id", 200)
    stored = reader.answer(request.holder, request.request_id)
    if stored is None:
        return None
    if stored.fingerprint != _fingerprint(request) or not isinstance(stored.answer, kind):
        raise UsageError(
            Code.REQUEST_ID_REUSED,
            f"the request id {request.request_id!r} was used before, for another request",
            hint="repeat a request with its own id only; a new request takes a new id",
            fields={"request_id": request.request_id},
        )
    return stored.answer


def once(writer: Writer, request: Request, at: float, answer: Callable[[], T], kind: type[T]) -> T:
    """The first answer to this request, or `answer()` recorded as such, in the writer's transaction."""
    earlier = first_answer(writer, request, kind)
    if earlier is not None:
        return earlier
    given = answer()
    if request.request_id is not None:
        writer.remember(request.holder, request.request_id, StoredAnswer(_fingerprint(request), given), at)
    return given


def _fingerprint(request: Request) -> str:
    return hash_bytes(repr(request).encode("utf-8", "surrogatepass"))
