"""JSON as text, and the shape of an error. A leaf module, so that reporting an error loads little."""

from collections.abc import Mapping
from typing import Any

import msgspec

from commonhold.kernel.errors import CommonholdError

Json = dict[str, Any]


def error(fault: CommonholdError) -> Json:
    """An error."""
    return {
        "code": fault.code.value,
        "message": fault.message,
        "hint": fault.hint,
        "retryable": fault.retryable,
        "retry_after_seconds": fault.retry_after_seconds,
        "fields": fault.fields,
    }


def dumps(shape: Mapping[str, Any], *, indent: int = 2) -> str:
    """JSON text of a shape; indented for people unless `indent` is 0."""
    data = msgspec.json.encode(shape)
    return (msgspec.json.format(data, indent=indent) if indent else data).decode()


def sound(text: str) -> str:
    """Escape bytes that are not valid UTF-8, which JSON cannot represent."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
