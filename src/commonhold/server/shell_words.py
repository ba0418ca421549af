"""What is told of a shell command: why it was not run, and what became of what it wrote."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.app.answers import TakeAnswer
from commonhold.app.held_paths import Holding
from commonhold.domain.keys import file_key
from commonhold.domain.refusal import Refusal
from commonhold.domain.texts import duration, listed, quoted, short_name

_MOST: Final = 5
_WAIT_SECONDS: Final = 90
"""So long the step that is named waits for others: less than agents let a command take."""
_ELSE: Final = frozenset({0, *range(126, 193)})
"""Exit statuses of a command that went well, was not found, or was ended by a signal: nobody's hold makes it so."""
_OWN_CONCERN: Final = frozenset({Refusal.REQUIRE_ADDITIONAL_LOCKS})
"""Why a change would have been refused that is no other session's concern: whoever it concerns is told by the log."""
_PLAIN: Final = re.compile(r"[\w./+@-]+")


def some(paths: Sequence[str]) -> str:
    """Paths in a line; of many the first."""
    return listed([path or "./" for path in paths], _MOST)


def held_by_others(held: Sequence[Holding], now: float) -> str:
    """Why a command is not run that would write what others hold; `now` is wall time."""
    lines = ["the command was not run, since it would write what others hold:", *_who(held, now)]
    return "\n".join([*lines, f"Next: do other work, or wait until it is free, then run it again: {_waiting(held)}"])


def kept_from(held: Sequence[Holding], now: float) -> str:
    """What a command that failed could not write."""
    lines = ["while the command ran, it could not write what others hold:", *_who(held, now)]
    return "\n".join(
        [
            *lines,
            f"If it failed for that reason, next: wait until the files are free, then run it again: {_waiting(held)}",
        ]
    )


def _who(held: Iterable[Holding], now: float) -> Iterator[str]:
    """Each holder once, with all that it has of what is wanted, what for, and for how long at most."""
    found: dict[str, list[Holding]] = {}
    for each in held:
        found.setdefault(each.holder, []).append(each)
    for holder, all_its in list(found.items())[:_MOST]:
        last = max(all_its, key=lambda each: each.expires_at)
        paths = some(list(dict.fromkeys(each.path for each in all_its)))
        if all(each.is_slot for each in all_its):
            yield f"- {short_name(holder)} is just writing {paths}"
        else:
            still = duration(last.expires_at - now)
            yield f"- {short_name(holder)} holds {paths}{_for(last.task)}, for at most {still} more"


def _waiting(held: Iterable[Holding]) -> str:
    """A command that waits until what others hold is free."""
    keys = list(dict.fromkeys(map(_key, held)))[:_MOST]
    return shlex.join(("commonhold", "acquire", "--wait", str(_WAIT_SECONDS), *keys, "--", "true"))


def _key(held: Holding) -> str:
    if not held.path:
        return "./"
    return held.path if _PLAIN.fullmatch(held.path) else str(file_key(held.path))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: its exit status, what was taken into the log, and what could not be."""

    status: int
    taken: TakeAnswer
    shared: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def report(outcome: Outcome, masked: Sequence[Holding], now: float) -> str:
    """What its agent must know of it; nothing where all is as it should be. `masked`: what it was kept from."""
    taken = outcome.taken
    lines = [*taken.notices]
    if taken.code is Refusal.LOCK_CONFLICT:  # who holds it, and how it comes back, is among the notices
        lines.append(f"it is left as it is, and waits for review ({taken.review})")
    elif taken.outcome == "unadmitted" and taken.code not in _OWN_CONCERN:
        lines.append(f"what the command wrote is recorded, but would have been refused ({taken.code}): {taken.why}")
        lines.append(f"it is left as it is, and waits for review. Next: commonhold review show {taken.review}")
    if unknown := (*taken.unknown, *outcome.unread):
        lines.append(f"not recorded, since too large, not kept from before, or now reached by a link: {some(unknown)}")
    if outcome.shared:
        lines.append(
            "other commands ran that could have written it, too, so no session is credited with it: "
            f"{some(outcome.shared)}"
        )
    if outcome.status not in _ELSE and masked:
        lines.append(kept_from(masked, now))
    return "\n".join(filter(None, lines))


def _for(task: str) -> str:
    return f" for {quoted(task)}" if task else ""
