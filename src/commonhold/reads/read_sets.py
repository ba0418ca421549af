"""The read set of a session: its reads in a working tree, and others' changes since then."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonhold.code.regions.region import RegionMap
from commonhold.kernel.events import Committed, Recorded
from commonhold.kernel.keys import canonical, file_key
from commonhold.kernel.ports import Clock, Reader, Store, Writer
from commonhold.kernel.read_set import Sighting
from commonhold.kernel.texts import NOBODY
from commonhold.kernel.unwritable import although_unwritable
from commonhold.reads.partial_reads import NONE, Part, written
from commonhold.reads.read_set_invalidation import caught_up, overtaken_by, places_of
from commonhold.reads.session_observations import Memory
from commonhold.reads.shown_before import Earlier, shown_before

Shown = Mapping[str, str]
"""The hashes of regions that a session was shown, by key."""

_LATEST: Final = 1000


class ReadSet:
    """The regions that one session has read in one working tree. Without a session it is empty, and stays so."""

    def __init__(self, store: Store, clock: Clock, worktree: str, holder: str | None) -> None:
        """Keep it in `store` for `holder`; contents are kept there even without a holder."""
        self._store = store
        self._clock = clock
        self._worktree = worktree
        self._holder = holder

    @property
    def holder(self) -> str | None:
        """Return the holder that the read set belongs to."""
        return self._holder

    def newest(self) -> int:
        """Return the number of the newest event. Call it before a read, so that no commit can slip in between."""
        with self._store.read() as reader:
            return reader.next_sequence - 1

    def shown_before(self, path: str, shown: str) -> Earlier | None:
        """Return the earlier state of a file from which `shown` was read, if the log has such a recent state."""
        if self._holder is None:
            return None
        with self._store.read() as reader:
            by = (self._holder, self._worktree)
            return shown_before(reader, by, path, shown, self._clock.now().wall)

    def added_up(self, source: RegionMap, parts: Sequence[Part]) -> list[Part]:
        """Return the parts of a file that were shown, each with the lines of that region that the session saw before.

        If the session has now seen the whole file, the file is one of them.
        """
        if self._holder is None:
            return [*parts]
        by = self._holder, self._worktree
        with self._store.read() as reader:
            memory = Memory(reader, by, [part.region.key for part in parts])
            found = [memory.added_to(part, source) for part in parts]
            if all(part.is_all for part in found):
                shown = {part.region.key for part in found}
                others = [region for region in source.leaves() if region.key not in shown]
                if Memory(reader, by, [each.key for each in others]).knows(source, others):
                    found.append(Part(source.file, frozenset(), 0))
        return found

    def keep(self, contents: Mapping[str, bytes], shown: Shown, since: int, parts: Iterable[Part] = ()) -> None:
        """Keep the contents read since the event `since`, and record the reads; nothing is written if all is known.

        Of `parts` the session has seen only some lines.
        """
        seen = [Sighting(str(part.region.key), part.region.hash, since, written(part.seen)) for part in parts]
        with although_unwritable():
            with self._store.read() as reader:
                missing = reader.missing(contents)
                is_known = self._is_known(reader, shown, seen)
            if missing or not is_known:
                with self._store.write_unawaited() as writer:
                    at = self._clock.now().wall
                    writer.keep(((each, contents[each]) for each in missing), at)
                    self._catch_up(writer, shown, since, at)
                    self._see(writer, [*_whole(shown, since), *seen], since, at)

    def known(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the session's last known hashes of `keys`, without those it does not know, or knows only in part."""
        if self._holder is None:
            return {}
        with self._store.read() as reader:
            found = reader.sightings(self._holder, self._worktree, keys)
            return {each.key: each.hash for each in found if not each.lines}

    def _is_known(self, reader: Reader, shown: Shown, parts: Sequence[Sighting]) -> bool:
        """Whether the session's last reads are exactly these, and it knows all later changes of others."""
        if self._holder is None:
            return True
        keys = [canonical(key) for key in shown]
        if any(caught_up(each, keys, 0) for each in reader.overtaken(self._holder, self._worktree)):
            return False
        seen = [*_whole(shown, 0), *parts]
        memory = Memory(reader, (self._holder, self._worktree), [canonical(each.key) for each in seen])
        return all(memory.is_last(each) for each in seen)

    def read(self, writer: Writer, shown: Shown, since: int, at: float) -> None:
        """Record that the session has seen the text of all this, and so knows the changes of others to it."""
        self._catch_up(writer, shown, since, at)
        self._see(writer, _whole(shown, since), since, at)

    def _catch_up(self, writer: Writer, shown: Shown, since: int, at: float) -> None:
        if self._holder is None:
            return
        keys = [canonical(key) for key in shown]
        found = (caught_up(each, keys, since) for each in writer.overtaken(self._holder, self._worktree))
        writer.overtake([each for each in found if each], at)

    def note(self, writer: Writer, shown: Shown, since: int, at: float) -> None:
        """Record that the session got the hashes of all this, so that it is notified of others' changes.

        It was shown no line of it: its earlier reads of the text remain the last ones.
        """
        if self._holder is None:
            return
        memory = Memory(writer, (self._holder, self._worktree), map(canonical, shown))
        new = [replace(each, lines=NONE) for each in _whole(shown, since) if not memory.has(canonical(each.key))]
        self._see(writer, new, since, at)

    def know(self, writer: Writer, files: Shown, since: int, at: float) -> None:
        """Record known hashes of files, by path, that no session has read."""
        known = [Sighting(str(file_key(path)), each, since) for path, each in files.items()]
        writer.see(NOBODY, self._worktree, known, at)

    def _see(self, writer: Writer, seen: Sequence[Sighting], since: int, at: float) -> None:
        if self._holder is None or not seen:
            return
        writer.see(self._holder, self._worktree, seen, at)
        if writer.next_sequence - 1 > since:
            for recorded in writer.events(after=since, limit=_LATEST):
                self._overtake(writer, recorded, [self._holder])

    def committed(self, writer: Writer, recorded: Recorded, shown: Shown) -> None:
        """Record a commit of the session: notify others, and note that it has seen all that it wrote or relied on."""
        self._overtake(writer, recorded, None)
        self.read(writer, shown, recorded.sequence, recorded.at)

    def _overtake(self, writer: Writer, recorded: Recorded, only: Iterable[str] | None) -> None:
        """Record the effect of a commit on the read sets of all other holders, or `only` some."""
        commit = recorded.event
        if not isinstance(commit, Committed) or commit.worktree != self._worktree:
            return
        readers = writer.seen_by_others(commit.holder, commit.worktree, places_of(commit.regions, commit.contracts))
        seen = [each for each in readers if only is None or each[0] in only]
        holders = dict.fromkeys(holder for holder, _ in seen)
        known = {(each.holder, each.key): each for who in holders for each in writer.overtaken(who, commit.worktree)}
        writer.overtake(list(overtaken_by(commit, recorded.sequence, seen, known)), recorded.at)


def _whole(shown: Shown, since: int) -> list[Sighting]:
    return [Sighting(key, each, since) for key, each in shown.items()]
