"""The write slot of a file: a key that any path has, which only that path has, and which gives it back."""

from hypothesis import example, given
from hypothesis import strategies as st
from tests.strategies import code_keys, paths

from commonhold.kernel.keys import Key, canonical, overlaps
from commonhold.kernel.write_slots import path_of_slot, slot_of

any_path = paths.map("/".join)
places = st.sampled_from(["/w", "/w/other", "host:/w", ""])


@given(places, any_path)
@example("/w", "a*b/[c]?.py")
@example("/w", "100%/%2A:%25.txt")
@example("/w", "über/Å#x.py")
def test_a_slot_gives_its_path_back(place: str, path: str) -> None:
    key = slot_of(place, path)
    assert path_of_slot(str(key)) == path
    assert canonical(str(key)) == key


@given(places, places, any_path, any_path)
def test_two_files_have_two_slots_and_one_has_one(place: str, other: str, path: str, another: str) -> None:
    assert overlaps(slot_of(place, path), slot_of(other, another)) is ((place, path) == (other, another))


def test_a_slot_is_not_that_of_the_folder_around_it() -> None:
    assert not overlaps(slot_of("/w", "a"), slot_of("/w", "a/b.py"))


@given(code_keys)
def test_a_slot_is_no_region(key: Key) -> None:
    assert path_of_slot(str(key)) is None
    assert not overlaps(key, slot_of("/w", key.file_path))
