"""Notifications, sent once: who changed a session's reads, with which intent and how, and messages from others."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from commonhold.kernel.answers import AcquireAnswer, CommitAnswer, LeaseAnswer, News, RecordAnswer
from commonhold.kernel.keys import Key, canonical, contains
from commonhold.kernel.ports import Clock, Reader, Store
from commonhold.kernel.presence import Message
from commonhold.kernel.read_set import Overtaking, StaleRead
from commonhold.kernel.texts import NOBODY
from commonhold.kernel.unified_diff import difference
from commonhold.kernel.unwritable import although_unwritable
from commonhold.reads.content_history import Author, called, changed_by, intents, lines_of

MOST_TOLD: Final = 20

A = TypeVar("A", AcquireAnswer, LeaseAnswer, CommitAnswer, RecordAnswer)


class ChangeNotifications:
    """Notifies one session, once, of others' changes to its reads."""

    def __init__(self, store: Store, clock: Clock, worktree: str, holder: str | None) -> None:
        """Read the news for `holder` from `store`; without a holder there are none."""
        self._store = store
        self._clock = clock
        self._worktree = worktree
        self._holder = holder
        self._also: list[str] = []

    def add(self, notice: str) -> None:
        """Put this notice before the next notices."""
        self._also.append(notice)

    def tell(self, known: Collection[str] = ()) -> tuple[News, ...]:
        """Return the pending notifications, without those on `known` keys or regions inside them.

        If the delivery cannot be recorded, they are sent again.
        """
        if self._holder is None:
            return ()
        with self._store.read() as reader:
            messages = reader.messages(self._holder, self._worktree)
            waiting = [each for each in reader.overtaken(self._holder, self._worktree) if each.untold]
            if not (waiting or messages):
                return ()
            news = tuple(_in_short(reader, [each for each in waiting if not _is_in(each, known)]))
        with although_unwritable(), self._store.write() as writer:
            writer.overtake([each.once_told() for each in waiting], self._clock.now().wall)
            writer.end_messages(messages)
        return (*(News("", each.text, each.by, "", 0) for each in messages), *news)

    def send(self, holders: Collection[str], text: str, by: str | None = None) -> None:
        """Send `text` to other sessions in this working tree, for their next call, once.

        It is about an action of `by`, or else of this session. A message for an ended subagent goes to its session.
        """
        with self._store.write() as writer:
            there = {each.holder for each in writer.presences(self._worktree)}
            heirs = {each if each in there else each.partition("/")[0] for each in holders}
            now, by = self._clock.now().wall, by or self._holder or NOBODY
            writer.send(Message(each, self._worktree, text, by, now) for each in sorted(heirs - {by, NOBODY}))

    def with_news(self, answer: A) -> A:
        """Return the answer, which the session gets in any case, with the pending notifications."""
        notices = self.notices()
        return replace(answer, notices=answer.notices + notices) if notices else answer

    def notices(self, known: Collection[str] = ()) -> tuple[str, ...]:
        """Return the same as notices, after those that were added."""
        told_now = self.tell(known)
        if not (told_now or self._also):
            return ()
        also, self._also = self._also, []
        return (*also, *(each.notice for each in told_now))


def _is_in(found: StaleRead, keys: Collection[str]) -> bool:
    key = canonical(found.key)
    return any(contains(canonical(each), key) for each in keys)


def _in_short(reader: Reader, waiting: Sequence[StaleRead]) -> Iterator[News]:
    """Yield a notification for each changed contract, then one for the bodies that an author changed in a file."""
    resigned = [each for each in waiting if _has_new_contract(each.untold)]
    yield from (_contract_news(reader, each) for each in resigned[:MOST_TOLD])
    if len(resigned) > MOST_TOLD:
        yield _together(resigned[MOST_TOLD:], "their contracts changed")
    groups: dict[tuple[str, str, str], list[StaleRead]] = {}
    for each in waiting:
        if not _has_new_contract(each.untold):
            groups.setdefault((canonical(each.key).file_path, *who(each.untold)), []).append(each)
    yield from (_together(each, "only their bodies") for each in groups.values())


def _has_new_contract(changes: Sequence[Overtaking]) -> bool:
    return any(each.what for each in changes)


def _contract_news(reader: Reader, found: StaleRead) -> News:
    by, why = who(found.untold)
    return News(
        key=found.key,
        text=told(found, found.untold),
        changed_by=by,
        intent=why,
        sequence=found.untold[-1].sequence,
        base=found.base,
        now=found.now,
        diff=_diff(reader, found),
        is_contract=True,
    )


def _together(waiting: Sequence[StaleRead], what: str) -> News:
    """Return one notification for several changes; for a single one its usual text."""
    first, changes = waiting[0], [change for each in waiting for change in each.untold]
    by, why = who(changes)
    newest = max(each.sequence for each in changes)
    if len(waiting) == 1:
        return News(first.key, told(first, changes), by, why, newest, base=first.base, now=first.now)
    keys = [canonical(each.key) for each in waiting]
    names = ", ".join(dict.fromkeys(map(name, keys[:MOST_TOLD])))
    more = f" and {len(keys) - MOST_TOLD} more" if len(keys) > MOST_TOLD else ""
    text = f"{names}{more}, which you read, were changed by {called(by)}{_because(why)}: {what}"
    return News(str(keys[0].file), text, by, why, newest, is_contract=_has_new_contract(changes))


def who(changes: Sequence[Overtaking]) -> tuple[str, str]:
    """Return the authors of the changes, and their intents."""
    authors = [Author(each.holder, each.intent) for each in changes]
    return changed_by(authors) or "", intents(authors) or ""


def told(found: StaleRead, changes: Sequence[Overtaking]) -> str:
    """Return a line that says who changed it, why and how."""
    by, why = who(changes)
    what = "; ".join(dict.fromkeys(each.what for each in changes if each.what)) or _what_else(found)
    return f"{name(canonical(found.key))}, which you read, was changed by {called(by)}{_because(why)}: {what}"


def _because(why: str) -> str:
    return f" ({why})" if why else ""


def _what_else(found: StaleRead) -> str:
    if found.now is None:
        return "it is gone"
    key = canonical(found.key)
    return "its body changed" if key.is_region and not key.is_header else "its content changed"


def name(key: Key) -> str:
    """Return the readable name of a key: `f` in a.py."""
    if not key.is_header:
        return f"`{key.qualname}` in {key.file_path}" if key.is_region else key.file_path
    return f"the header of {name(Key(key.scheme, key.path, key.names[:-1]))}"


def _diff(reader: Reader, found: StaleRead) -> str | None:
    base, now = (reader.content(each) if each else None for each in (found.base, found.now))
    if base is None or now is None or b"\0" in base + now:
        return None
    return difference(lines_of(base), lines_of(now), "as you read it", "now")
