"""Values in the text of a statement."""

from collections.abc import Callable
from typing import Final

from commonhold.kernel.errors import Code, InputError

Value = str | int | float | list[str] | None
Escape = Callable[[bytes], bytes]
_SPECIAL: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})


def literal(value: Value, escape: Escape) -> str:
    """A value in SQL; `escape` is libpq's own way to quote a text. Raises InputError `TEXT_INVALID` for a NUL."""
    match value:
        case None:
            return "NULL"
        case str():
            return _text(value, escape)
        case int():
            return f"'{value}'::bigint"
        case float():
            return f"'{value!r}'::double precision"
        case list():
            quoted = (f'"{text.translate(_SPECIAL)}"' for text in value)
            return _text(f"{{{','.join(quoted)}}}", escape)


def _text(text: str, escape: Escape) -> str:
    # libpq would take it for the end of the text.
    if "\0" in text:
        raise InputError(
            Code.TEXT_INVALID,
            "a text holds a NUL character, which PostgreSQL cannot keep",
            hint="leave it out",
        )
    return escape(text.encode()).decode()
