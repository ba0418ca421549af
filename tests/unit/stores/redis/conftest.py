"""Registries that are closed when the test ends."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol
from uuid import uuid4

import pytest

from commonhold.kernel.lease_ports import Registry
from commonhold.stores.redis import open_redis


class OpenRegistry(Protocol):
    """Opens the namespace of that name; without a name it is the one that the test has for itself."""

    def __call__(self, url: str, name: str = "", *, skew: Callable[[], float] = float) -> Registry: ...


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid4()}"


@pytest.fixture
def open_registry(namespace: str) -> Iterator[OpenRegistry]:
    with ExitStack() as stack:

        def opened(url: str, name: str = "", *, skew: Callable[[], float] = float) -> Registry:
            registry = open_redis(url, name or namespace, skew=skew)
            stack.callback(registry.close)
            return registry

        yield opened
