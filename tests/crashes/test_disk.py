"""The disk of the crash tests: what is flushed stays, and what is not may go any way that a real disk allows."""

import random
from collections.abc import Iterable

import pytest
from tests.crashes.disk import FOLDER, Bind, Deed, Disk, Flush, FlushNames, Image, Luck, Resize, Write

pytestmark = pytest.mark.slow

OLD = b"o" * 1024
NEW = b"n" * 1024
BEFORE: Image = {"a": OLD, "folder": None}
FILE = 1
MADE = 2


def outcomes(*deeds: Deed, draws: int = 400) -> list[Image]:
    """All that may be found after these deeds."""
    disk = Disk.holding(BEFORE)
    for deed in deeds:
        disk.do(deed)
    return [disk.remains(Luck.of(random.Random(number))) for number in range(draws)]


def contents(images: Iterable[Image], path: str = "a") -> set[bytes | None]:
    return {image.get(path) for image in images}


def test_what_was_flushed_is_there() -> None:
    assert contents(outcomes(Write(FILE, 0, NEW), Flush(FILE))) == {NEW}
    assert contents(outcomes(Write(FILE, 1024, NEW), Resize(FILE, 512), Flush(FILE))) == {OLD[:512]}


def test_what_was_not_flushed_may_be_there_or_not_or_torn_between_sectors() -> None:
    old, new = OLD[:512], NEW[:512]
    assert contents(outcomes(Write(FILE, 0, NEW))) == {OLD, NEW, old + new, new + old}


def test_writes_overtake_one_another() -> None:
    found = contents(outcomes(Write(FILE, 0, b"1"), Write(FILE, 1, b"2")))
    assert found == {b"oo" + OLD[2:], b"1o" + OLD[2:], b"o2" + OLD[2:], b"12" + OLD[2:]}


def test_later_writes_lie_above_earlier_ones() -> None:
    found = contents(outcomes(Write(FILE, 0, b"1"), Write(FILE, 0, b"2")))
    assert found == {b"o" + OLD[1:], b"1" + OLD[1:], b"2" + OLD[1:]}


def test_a_change_of_size_may_be_lost() -> None:
    assert contents(outcomes(Resize(FILE, 0))) == {OLD, b""}


def test_where_a_file_grew_without_its_bytes_there_are_zeros_or_noise() -> None:
    found = [data or b"" for data in contents(outcomes(Write(FILE, 1024, NEW), Write(FILE, 2048, NEW)))]
    holes = {data[1024:2048] for data in found if data[2048:] == NEW}
    assert {NEW, bytes(1024)} < holes
    assert all(data[:1024] == OLD for data in found)


def test_a_new_name_may_be_lost_though_its_file_was_flushed() -> None:
    made = (Bind((("b", MADE),)), Write(MADE, 0, NEW), Flush(MADE))
    assert contents(outcomes(*made), "b") == {None, NEW}
    assert contents(outcomes(*made, FlushNames(".")), "b") == {NEW}


def test_a_rename_is_one_step() -> None:
    deeds = Bind((("b", MADE),)), Write(MADE, 0, NEW), Flush(MADE), FlushNames("."), Bind((("b", None), ("a", MADE)))
    found = outcomes(*deeds)
    assert {(image["a"], image.get("b")) for image in found} == {(OLD, NEW), (NEW, None)}


def test_names_overtake_one_another_but_not_themselves() -> None:
    deeds = Bind((("b", MADE),)), Bind((("b", None),)), Bind((("c", FOLDER),)), Bind((("b", MADE),))
    found = outcomes(*deeds)
    assert {("b" in image, "c" in image) for image in found} == {
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    }


def test_a_lost_folder_takes_all_in_it_along() -> None:
    deeds = Bind((("new", FOLDER),)), Bind((("new/b", MADE),)), Flush(MADE), FlushNames("new")
    assert {("new" in image, "new/b" in image) for image in outcomes(*deeds)} == {(False, False), (True, True)}
