"""One declaration becomes a method of each SDK: typed, called or awaited, and open to subclasses."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, assert_type

from commonhold import AsyncCommonhold, Commonhold, Lease, Value, WaiveAnswer
from commonhold.api.service import Service


class Paper:
    """A channel that answers each call with its name and arguments."""

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return name, tuple(arguments), dict(named)

    def close(self) -> None:
        """There is nothing to close."""


def call(name: str, *arguments: object, **named: object) -> Any:
    """The answer on paper to this call."""
    return name, arguments, named


class Blocking(Commonhold):
    def get(self, key: str) -> Value:
        return super().get(key.lower())


class Awaiting(AsyncCommonhold):
    async def get(self, key: str) -> Value:
        return await super().get(key.lower())


def test_type_checkers_see_what_a_call_takes_and_answers() -> None:
    hold = Commonhold(Paper(), root="/")
    assert_type(hold.get("x:1"), Value)
    assert_type(hold.leases(holder="ann"), tuple[Lease, ...])
    assert_type(hold.waive("a.py", note="unused"), WaiveAnswer)
    assert hold.get("x:1") == call("get", "x:1")
    assert hold.waive("a.py", note="unused") == call("waive", "a.py", note="unused")


def test_type_checkers_see_what_an_awaited_call_takes_and_answers() -> None:
    async def asked(hold: AsyncCommonhold) -> None:
        assert_type(await hold.get("x:1"), Value)
        assert_type(await hold.waive("a.py", note="unused"), WaiveAnswer)
        assert await hold.get("x:1") == call("get", "x:1")

    asyncio.run(asked(AsyncCommonhold(Paper(), root="/")))


def test_a_subclass_may_do_more_around_an_operation() -> None:
    blocking, awaiting = Blocking(Paper(), root="/"), Awaiting(Paper(), root="/")
    for _ in range(2):
        assert blocking.get("X:1") == call("get", "x:1")
        assert asyncio.run(awaiting.get("X:1")) == call("get", "x:1")
    assert Commonhold(Paper(), root="/").get("X:1") == call("get", "X:1")


def test_a_method_has_the_name_and_the_docstring_of_its_operation() -> None:
    for sdk in (Commonhold, AsyncCommonhold):
        method: Any = inspect.getattr_static(sdk, "waive").__get__(None, sdk)
        assert (method.__name__, method.__doc__) == ("waive", Service.waive.__doc__)
        assert method is sdk.waive
