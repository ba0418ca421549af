"""What a daemon must not end before: requests that are not answered yet, and commands that run."""

from collections.abc import Callable

UnderWay = set[Callable[[], bool]]
"""Each says whether it is under way still."""
