"""Messages about a shell command: why it did not run, and the result of its writes."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.keys import file_key
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import duration, listed, quoted, short_name
from commonhold.shell.held_paths import Holding

_MOST: Final = 5
_WAIT_SECONDS: Final = 90
"""How long the suggested command waits for others: less than agents let a command take."""
_ELSE: Final = frozenset({0, *range(126, 193)})
"""Exit statuses of a command that went well, was not found, or was ended by a signal: no lease causes these."""
_OWN_CONCERN: Final = frozenset({Refusal.REQUIRE_ADDITIONAL_LOCKS})
"""Reasons to refuse a change that concern no other session: the log informs the session that is concerned."""
_PLAIN: Final = re.compile(r"[\w./+@-]+")


def some(paths: Sequence[str]) -> str:
    """Return paths in one line; of many only the first."""
    return listed([path or "./" for path in paths], _MOST)


def held_by_others(held: Sequence[Holding], now: float) -> str:
    """Return why a command must not run that would write files held by others; `now` is wall time."""
    lines = ["the command was not run, since it would write files that others hold:", *_who(held, now)]
    return "\n".join([*lines, f"Next: do other work, or wait until it is free, then run it again: {_waiting(held)}"])


def kept_from(held: Sequence[Holding], now: float) -> str:
    """Return the list of held files that a failed command could not write."""
    lines = ["while the command ran, it could not write files that others hold:", *_who(held, now)]
    return "\n".join(
        [
            *lines,
            f"If it failed for that reason, next: wait until the files are free, then run it again: {_waiting(held)}",
        ]
    )


def _who(held: Iterable[Holding], now: float) -> Iterator[str]:
    """Yield a line for each holder: all its wanted files, its task, and for how long it holds them at most."""
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
    """Return a command that waits until the held files are free."""
    keys = list(dict.fromkeys(map(_key, held)))[:_MOST]
    return shlex.join(("commonhold", "acquire", "--wait", str(_WAIT_SECONDS), *keys, "--", "true"))


def _key(held: Holding) -> str:
    if not held.path:
        return "./"
    return held.path if _PLAIN.fullmatch(held.path) else str(file_key(held.path))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a command: its exit status, its recorded changes, and those without an owner or a record."""

    status: int
    taken: RecordAnswer
    shared: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def report(outcome: Outcome, masked: Sequence[Holding], now: float) -> str:
    """Return the report about a command for its agent; empty if all is well.

    `masked` are files that it could not write.
    """
    taken = outcome.taken
    lines = [*taken.notices]
    if taken.code is Refusal.LOCK_CONFLICT:  # the notices name the holder and the way back
        lines.append(f"nothing was reverted; a person will review it ({taken.review})")
    elif taken.outcome == "unadmitted" and taken.code not in _OWN_CONCERN:
        lines.append(
            f"Commonhold recorded the command's writes, but would have refused them ({taken.code}): {taken.why}"
        )
        lines.append(f"nothing was reverted; a person will review it. Next: commonhold review show {taken.review}")
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
