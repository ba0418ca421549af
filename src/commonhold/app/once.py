"""One answer a request (invariant I5): a repeated request gets the first answer, whatever happened since."""

from collections.abc import Callable
from typing import TypeVar

from commonhold.app.answers import Answer
from commonhold.app.ports import Reader, StoredAnswer, Writer
from commonhold.domain.errors import Code, UsageError
from commonhold.domain.texts import line
from commonhold.regions.region import hash_bytes

T = TypeVar("T", bound=Answer)


def fingerprint(asked: object) -> str:
    """A hash of a request made of frozen dataclasses."""
    return hash_bytes(repr(asked).encode("utf-8", "surrogatepass"))


def first_answer(reader: Reader, holder: str, request_id: str | None, asked: object, kind: type[T]) -> T | None:
    """The answer that this request got before, if it was made before.

    Raises UsageError `REQUEST_ID_REUSED` if the id was used for another request.
    """
    if request_id is None:
        return None
    line(request_id, "request_id", 200)
    stored = reader.answer(holder, request_id)
    if stored is None:
        return None
    if stored.fingerprint != fingerprint(asked) or not isinstance(stored.answer, kind):
        raise UsageError(
            Code.REQUEST_ID_REUSED,
            f"the request id {request_id!r} was used before, for another request",
            hint="repeat a request with its own id only; a new request takes a new id",
            fields={"request_id": request_id},
        )
    return stored.answer


def once(
    writer: Writer, holder: str, request_id: str | None, asked: object, at: float, answer: Callable[[], T], kind: type[T]
) -> T:
    """The first answer to this request, or `answer()` recorded as such, in the writer's transaction."""
    earlier = first_answer(writer, holder, request_id, asked, kind)
    if earlier is not None:
        return earlier
    given = answer()
    if request_id is not None:
        writer.remember(holder, request_id, StoredAnswer(fingerprint(asked), given), at)
    return given
