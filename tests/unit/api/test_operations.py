"""Operations are declared on the service, and the declarations agree with the methods that they stand above."""

import inspect

import pytest

from commonhold.api.operations import Operation, Schedule, declared
from commonhold.api.service import OPERATIONS, Service
from commonhold.client.channel import repeatable

IN_PROCESS = {"close", "examine_put_off", "sweep_some", "tell"}
"""Methods that only the process with the service in it may call."""


def named(**traits: object) -> set[str]:
    """The operations with these traits."""
    return {
        name
        for name, each in OPERATIONS.items()
        if all(getattr(each, trait) == value for trait, value in traits.items())
    }


def test_every_method_is_an_operation_or_stays_in_its_process() -> None:
    methods = {name for name, _ in inspect.getmembers(Service, inspect.isfunction) if not name.startswith("_")}
    assert methods == OPERATIONS.keys() | IN_PROCESS
    assert not OPERATIONS.keys() & IN_PROCESS


def test_only_decorated_methods_are_operations() -> None:
    class Shop:
        @Operation(Schedule.QUICK, reads=True)
        def price(self) -> int:
            return 1

        def clean(self) -> None: ...

    assert declared(Shop) == {"price": Operation(Schedule.QUICK, reads=True)}
    assert Shop().price() == 1


def test_an_operation_that_only_reads_plans_no_writes() -> None:
    assert not named(reads=True) & named(schedule=Schedule.PLANNED)
    assert not named(reads=True) & named(once=True)


@pytest.mark.parametrize("name", sorted(named(once=True)))
def test_what_takes_effect_once_gets_an_id_for_its_repetition(name: str) -> None:
    assert "request_id" in inspect.signature(getattr(Service, name)).parameters
    _, given = repeatable(name, (), {})
    assert given["request_id"]
    assert repeatable(name, (), {"request_id": "mine"}) == ((), {"request_id": "mine"})


@pytest.mark.parametrize("name", sorted(named(once=False) - {"commit"}))
def test_any_other_call_is_repeated_as_it_is(name: str) -> None:
    assert repeatable(name, ("a",), {"b": 1}) == (("a",), {"b": 1})


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_says_what_it_does(name: str) -> None:
    assert getattr(Service, name).__doc__
