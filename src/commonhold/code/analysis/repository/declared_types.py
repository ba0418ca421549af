"""Declared types of parameters and results, in languages that hold calls to them at compile time.

Only differences that no call survives count: another number of results, a result in a wrapper or out of one, a text
where a number was. Other differences are left to a compiler: a wider type, or a renamed one, breaks no caller.
"""

import re
from typing import Final

from commonhold.code.analysis.interface import CallableInterface

_NUMBERS: Final = re.compile(
    r"(u?int(8|16|32|64)?|[iu](8|16|32|64|128|size)|f(32|64)|float(32|64)?|byte|short|long|double)"
)
_TEXTS: Final = frozenset({"string", "String", "&str", "str", "&String"})
_TRUTHS: Final = frozenset({"bool", "boolean"})
_WRAPPED: Final = re.compile(r"(Result|Option|Optional|CompletableFuture|Future|List|Vec|Set|Stream)<(.+)>")
_NONE: Final = frozenset({None, "", "()", "void"})


def result_change(old: CallableInterface, new: CallableInterface) -> str | None:
    """Return how the result changed, if its users are affected: as a clause."""
    was, now = old.returns, new.returns
    if was in _NONE or was == now or was is None:
        return None
    is_other = now in _NONE or now is None or _count(was) != _count(now) or _is_wrapped(was, now) or _clash(was, now)
    return f"changed its result from {was} to {now or 'none'}" if is_other else None


def parameter_change(old: CallableInterface, new: CallableInterface) -> str | None:
    """Return how the type of a parameter changed so that no argument fits both, as a clause."""
    for was, now in zip(old.params, new.params, strict=False):
        if was.annotation and now.annotation and _clash(was.annotation, now.annotation):
            return f"takes {now.annotation} instead of {was.annotation} as `{now.name}`"
    return None


def types_of(interface: CallableInterface) -> tuple[object, ...]:
    """Return the type of the function itself, for code that passes it on as a value."""
    return tuple((each.kind, each.annotation) for each in interface.params), interface.returns or ""


def _count(returns: str) -> int:
    """Return the number of results: `(int, error)` has two, with or without names."""
    if not (returns.startswith("(") and returns.endswith(")")):
        return 1
    depth, count = 0, 1
    for letter in returns[1:-1].replace("->", "").rstrip(" ,"):
        depth += (letter in "([{<") - (letter in ")]}>")
        count += letter == "," and depth == 0
    return count


def _is_wrapped(was: str, now: str) -> bool:
    """Whether one of two types is a wrapper of the other."""
    return any(
        (found := _WRAPPED.fullmatch(outer)) is not None and found[2].split(",")[0].strip() == inner
        for outer, inner in ((was, now), (now, was))
    )


def _clash(was: str, now: str) -> bool:
    kinds = {_kind(was), _kind(now)}
    return len(kinds) > 1 and "" not in kinds


def _kind(text: str) -> str:
    if _NUMBERS.fullmatch(text):
        return "number"
    return "text" if text in _TEXTS else "truth" if text in _TRUTHS else ""
