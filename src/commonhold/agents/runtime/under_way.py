"""The work during which a daemon must not end: requests that are not answered yet, and running commands."""

from collections.abc import Callable

UnderWay = set[Callable[[], bool]]
"""Each returns whether it is still under way."""
