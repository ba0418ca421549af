"""The subject of a comparison: the texts of some files, before and after."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from commonhold.typecheck.disk import read, text_of

Texts = dict[str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """Two states of files by path. `coming` are the new bytes of files that are not on disk, `going` those that go.

    `unread` are files that no text could be made of. The server sees the `confined` files and is not asked about them.
    """

    before: Texts
    after: Texts
    coming: Mapping[str, bytes]
    going: frozenset[str]
    unread: tuple[str, ...]
    confined: frozenset[str]

    def changed(self) -> frozenset[str]:
        """The files whose text changes, or that come or go."""
        return frozenset(dict(self.before.items() ^ self.after.items()))

    def without(self, paths: Collection[str]) -> "Case":
        """Return the same, without some files."""
        before = {path: text for path, text in self.before.items() if path not in paths}
        after = {path: text for path, text in self.after.items() if path not in paths}
        return replace(self, before=before, after=after)


def look_up(root: str, changes: Mapping[str, bytes | None], also: Collection[str], confined: Collection[str]) -> Case:
    """Return the files in `changes` and `also`, in this order, with the texts on disk as those before."""
    on_disk = {path: read(root, path) for path in (*changes, *also)}
    old = {path: content for path, content in on_disk.items() if content is not None}
    new = {path: content for path, content in {**old, **changes}.items() if content is not None}
    unread = {path for state in (old, new) for path, content in state.items() if text_of(content) is None}
    return Case(
        _texts(old, unread),
        _texts(new, unread),
        {path: content for path, content in new.items() if path not in old},
        frozenset(old.keys() - new.keys()),
        tuple(sorted(unread)),
        frozenset(confined),
    )


def read_texts(root: str, paths: Collection[str]) -> Texts:
    """The texts of those files that are on disk and have one."""
    found = {path: read(root, path) for path in paths}
    return _texts({path: content for path, content in found.items() if content is not None}, ())


def _texts(state: Mapping[str, bytes], unread: Collection[str]) -> Texts:
    texts = ((path, text_of(content)) for path, content in state.items() if path not in unread)
    return {path: text for path, text in texts if text is not None}
