"""Values of the domain, as Hypothesis draws them."""

import unicodedata

from hypothesis import strategies as st

from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import FileChange
from commonhold.kernel.keys import FILE, HEADER, Key, Name
from commonhold.kernel.lease import Base, Conflict, Lease, Waiter, Wish
from commonhold.kernel.modes import Mode

_printable = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="/")
_odd = st.sampled_from("#%:~.@ 23é\u0301")


def _is_segment(text: str) -> bool:
    return text not in ("", ".", "..") and unicodedata.normalize("NFC", text) == text


segments = (
    st.text(_odd | _printable, min_size=1, max_size=8)
    .map(lambda text: unicodedata.normalize("NFC", text))
    .filter(_is_segment)
)
paths = st.lists(segments, min_size=1, max_size=4).map(tuple)
names = st.builds(Name, st.text("fgCm_1éß名", min_size=1, max_size=4), st.integers(0, 999_999))
headers = st.just(Name(HEADER))
qualnames = st.one_of(
    st.lists(names, max_size=3).map(tuple),
    st.tuples(headers),
    st.tuples(names, headers),
)
code_keys = st.builds(lambda path, names: Key(FILE, path, names), paths, qualnames)
folder_keys = st.builds(lambda path: Key(FILE, path, is_folder=True), st.just(()) | paths)
free_parts = segments.filter(lambda text: ":" not in text) | st.sampled_from((".", "..", "a/b"))
schemes = st.sampled_from(("account", "repo", "function", "x+y.z-1", "folder"))
free_keys = st.builds(
    lambda scheme, parts: Key(scheme, tuple(parts)), schemes, st.lists(free_parts, min_size=1, max_size=3)
)
keys = code_keys | folder_keys | free_keys

# A small world, where things meet.
_small_names = st.builds(Name, st.sampled_from("fC"), st.integers(0, 2))
_small_qualnames = st.one_of(
    st.lists(_small_names, max_size=2).map(tuple), st.tuples(headers), st.tuples(_small_names, headers)
)
_small_paths = st.lists(st.sampled_from("ab"), min_size=1, max_size=2).map(tuple)
small_keys = st.one_of(
    st.builds(lambda path, names: Key(FILE, path, names), _small_paths, _small_qualnames),
    st.builds(lambda path: Key(FILE, path, is_folder=True), st.just(()) | _small_paths),
    st.builds(lambda path: Key("account", path), _small_paths),
)

texts = st.text(_printable, max_size=10)
deadlines = st.builds(Deadline, st.sampled_from(("boot-1", "boot-2")), st.floats(0, 100), st.floats(0, 1e10))
leases = st.builds(
    Lease,
    id=texts,
    fence=st.integers(1, 2**53),
    holder=texts,
    task=texts,
    keys=st.lists(keys.map(str), min_size=1, max_size=3).map(tuple),
    mode=st.sampled_from(Mode),
    acquisition_id=texts,
    granted_at=st.floats(0, 1e10),
    deadline=deadlines,
    ttl_seconds=st.floats(0, 1e6),
    is_claimed=st.booleans(),
    worktree=texts,
    bases=st.lists(st.builds(Base, texts, st.none() | texts), max_size=2).map(tuple),
    wish=st.none() | st.builds(Wish, texts, texts),
)
waiters = st.builds(
    Waiter,
    id=texts,
    number=st.integers(1, 2**53),
    holder=texts,
    task=texts,
    keys=st.lists(keys.map(str), min_size=1, max_size=3).map(tuple),
    mode=st.sampled_from(Mode),
    acquisition_id=texts,
    queued_at=st.floats(0, 1e10),
    deadline=deadlines,
    patience_seconds=st.floats(0, 1e6),
    ttl_seconds=st.floats(0, 1e6),
    replaces=st.none() | texts,
)
modes = st.none() | st.integers(0, 0o7777)
file_changes = st.builds(FileChange, texts, st.none() | texts, st.none() | texts, modes, modes)
conflicts = st.builds(Conflict, texts, texts, texts, texts, st.sampled_from(Mode), st.floats(0, 1e10))
