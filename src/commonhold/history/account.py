"""An account of past events in plain words."""

from dataclasses import dataclass
from typing import Literal

from commonhold.kernel.answers import Next

Subject = Literal["event", "lease", "task", "region"]


@dataclass(frozen=True, slots=True)
class Step:
    """One event in words: its `text`, and the reasons for it. `code` is that of a refusal, to look up its meaning."""

    sequence: int
    at: float
    kind: str
    text: str
    reasons: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The events about a subject, oldest first.

    `since` is the number of the oldest event that was examined: older ones are not part of the account. `left_out`
    counts the earlier events about the subject among those examined; the account has the newest.
    """

    subject: Subject
    name: str
    steps: tuple[Step, ...]
    since: int = 0
    left_out: int = 0
    next: Next | None = None
