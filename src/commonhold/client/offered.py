"""Methods that both SDKs have: `Commonhold` returns their answers, with `AsyncCommonhold` they are awaited."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from commonhold.client.effects import Call, Steps

P = ParamSpec("P")
T = TypeVar("T")
Awaited = Coroutine[Any, Any, T]


class Blocking(Protocol):
    """A session that blocks until an operation is done."""

    def drive(self, steps: Steps[T]) -> T:
        """Execute the effects that an operation yields; return its answer."""
        ...


class Awaiting(Protocol):
    """A session whose operations are awaited."""

    async def drive(self, steps: Steps[T]) -> T:
        """Execute the effects that an operation yields; return its answer."""
        ...


class Offered(Generic[P, T]):
    """A method of both SDKs: as a class attribute it becomes a function that drives `steps` as its class does.

    The function has the name, the signature and the docstring of `like`.
    """

    def __init__(self, steps: Callable[P, Steps[T]], like: Callable[..., Any] | None = None) -> None:
        """Offer `steps`; without `like`, under their own name."""
        self._steps = steps
        self._like = like or steps
        self._methods: dict[type, Callable[..., Any]] = {}

    @overload
    def __get__(self, session: None, kind: type[Blocking]) -> Callable[Concatenate[Any, P], T]: ...
    @overload
    def __get__(self, session: None, kind: type[Awaiting]) -> Callable[Concatenate[Any, P], Awaited[T]]: ...
    @overload
    def __get__(self, session: Blocking, kind: type[Blocking]) -> Callable[P, T]: ...
    @overload
    def __get__(self, session: Awaiting, kind: type[Awaiting]) -> Callable[P, Awaited[T]]: ...
    def __get__(self, session: Blocking | Awaiting | None, kind: type[Any]) -> Any:
        """Return the method of a session, or the function of its class."""
        if kind not in self._methods:
            self._methods[kind] = self._awaiting() if iscoroutinefunction(kind.drive) else self._blocking()
        return self._methods[kind] if session is None else MethodType(self._methods[kind], session)

    def _blocking(self) -> Callable[Concatenate[Blocking, P], T]:
        @wraps(self._like)
        def method(session: Blocking, /, *arguments: P.args, **named: P.kwargs) -> T:
            return session.drive(self._steps(*arguments, **named))

        return method

    def _awaiting(self) -> Callable[Concatenate[Awaiting, P], Awaited[T]]:
        @wraps(self._like)
        async def method(session: Awaiting, /, *arguments: P.args, **named: P.kwargs) -> T:
            return await session.drive(self._steps(*arguments, **named))

        return method


def offered(method: Callable[Concatenate[Any, P], T]) -> Offered[P, T]:
    """Return the method of both SDKs that makes one call: to this method of the service."""
    name = method.__name__

    def steps(*arguments: P.args, **named: P.kwargs) -> Steps[T]:
        answer: T = yield Call(name, arguments, named)
        return answer

    return Offered(steps, method)
