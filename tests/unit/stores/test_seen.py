"""What a machine was told of last outlives a process, and counts for all processes there."""

from pathlib import Path

import pytest

from commonhold.stores.seen import Seen, place_of


def test_a_later_process_knows_it(tmp_path: Path) -> None:
    one = Seen(str(tmp_path / "seen"))
    assert one.newest() == (0, "")
    one.note(7, "server")
    one.note(5, "older")
    assert one.newest() == Seen(str(tmp_path / "seen")).newest() == (7, "server")
    one.close()
    one.note(8, "other")
    assert Seen(str(tmp_path / "seen")).newest() == (8, "other")


def test_in_memory_alone_it_is_kept_as_long_as_the_process_lives() -> None:
    seen = Seen()
    seen.note(7)
    assert seen.newest() == (7, "")
    seen.close()


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 64, b"chseen1\n"])
def test_what_is_none_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "seen").write_bytes(content)
    seen = Seen(str(tmp_path / "seen"))
    assert seen.newest() == (0, "")
    seen.note(1)
    assert Seen(str(tmp_path / "seen")).newest() == (1, "")


def test_without_a_folder_nothing_is_made(tmp_path: Path) -> None:
    seen = Seen(str(tmp_path / "state/seen"))
    seen.note(7)
    assert seen.newest() == (7, "")
    assert not list(tmp_path.iterdir())


def test_each_namespace_of_a_store_has_its_own_whoever_connects() -> None:
    url = "postgresql://{}host:5432/db"
    places = {place_of("/s", url.format(who), "n") for who in ("", "me@", "you:secret@")}
    assert len(places) == 1
    assert place_of("/s", url.format(""), "m") not in places
    assert place_of("/s", "postgresql://other:5432/db", "n") not in places
