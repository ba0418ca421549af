"""Regions that are found without the service are those that the service finds, whatever is kept of them."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commonhold.client import outlines
from commonhold.client.outlines import Outlines
from commonhold.client.reader import Unread
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import PARSE_BUDGET, Problem
from commonhold.commits.region_list import listed
from commonhold.reads.reading import region_text

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = sorted(path for path in CORPUS.rglob("*.*") if path.is_file() and path.stat().st_size < 20_000)[::9]
ODD = {
    "empty.py": b"",
    "bad.py": b"def (:\n",
    "marked.py": b"\xef\xbb\xbfdef one():\n    pass\n",
    "latin.py": b"# coding: latin-1\ndef one():\n    return '\xe4'\n",
    "utf7.py": b"# coding: utf-7\ndef one():\n    return '+AOQ-'\n",
    "broken.py": b"def one():\n    return '\xff'\n",
    "data.bin": b"\0\xff",
    "twice.py": b"def one(): pass\n\n\ndef one(): pass\n",
    "text.txt": "größe\n".encode(),
    "crlf.py": b"def one():\r\n    pass\r\n",
}
TEXT = b"import os\n\n\ndef one():\n    return os.sep\n"


class House:
    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "tree", folder / "state"
        self.root.mkdir()
        self.state.mkdir()
        self.outlines = Outlines(str(self.state), str(self.root))

    def write(self, path: str, content: bytes) -> None:
        (self.root / path).write_bytes(content)

    @property
    def kept(self) -> Path:
        (found,) = (self.state / outlines.FOLDER).iterdir()
        return found


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def check(house: House, path: str, content: bytes) -> None:
    house.write(path, content)
    found = discover(content, path)
    expected = listed(found)
    said = house.outlines.regions(f"file:{path}")
    told = [(each.key, each.kind, each.hash, [*map(tuple, each.lines)], each.is_empty) for each in said.regions]
    assert told == [(each.key, each.kind, each.hash, [*each.lines], each.is_empty) for each in expected.regions]
    problems = [(each.code, each.message, each.line) for each in said.problems]
    assert problems == [(each.code, each.message, each.line) for each in expected.problems]
    for region in found.regions:
        try:
            shown = house.outlines.region(str(region.key))
        except Unread:
            continue
        whole = region_text(found, region)
        assert (shown.key, shown.kind, shown.hash, shown.text, shown.data) == (
            whole.key,
            whole.kind,
            whole.hash,
            whole.text,
            whole.data,
        )


@pytest.mark.parametrize("times", [1, 2])
def test_they_are_those_of_the_service_found_and_kept(house: House, times: int) -> None:
    assert len(FILES) > 20
    for _ in range(times):
        for number, path in enumerate(FILES):
            check(house, f"f{number}{path.suffix}", path.read_bytes())
        for name, content in ODD.items():
            check(house, name, content)


def test_what_is_kept_is_not_looked_for_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("a.py", TEXT)
    first = house.outlines.regions("file:a.py")

    def never(*_: object) -> dict[str, Any]:
        raise AssertionError

    monkeypatch.setattr(outlines, "_found", never)
    assert house.outlines.regions("file:a.py") == first
    assert house.outlines.region("file:a.py#one").text == "def one():\n    return os.sep\n"
    house.write("a.py", TEXT + b"\n")
    with pytest.raises(AssertionError):
        house.outlines.regions("file:a.py")


def test_other_code_finds_it_anew(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("a.py", TEXT)
    house.outlines.regions("file:a.py")
    before = house.kept.read_bytes()
    code = [*outlines._code()]
    assert any(b"discover.py" in each for each in code)
    assert any(each.startswith(b"tree_sitter_python-") for each in code)
    monkeypatch.setattr(outlines, "_code", lambda: iter([*code, b"another"]))
    house.outlines.regions("file:a.py")
    assert house.kept.read_bytes() != before


def damaged(house: House, damage: str) -> bytes:
    kept = json.loads(house.kept.read_bytes())
    match damage:
        case "empty":
            return b""
        case "no json":
            return b"\xff\0{"
        case "deep":
            return b"[" * 200_000
        case "a list":
            return b"[]"
        case "of other bytes":
            kept["digest"] = "0" * 64
        case _:
            kept["outline"] = 7
    return json.dumps(kept).encode()


@pytest.mark.parametrize("damage", ["empty", "no json", "deep", "a list", "of other bytes", "no outline"])
def test_what_is_wrong_with_what_is_kept_is_no_error(house: House, damage: str) -> None:
    house.write("a.py", TEXT)
    first = house.outlines.regions("file:a.py")
    kept = house.kept.read_bytes()
    house.kept.write_bytes(damaged(house, damage))
    assert house.outlines.regions("file:a.py") == first
    assert house.kept.read_bytes() == kept, "and it is made anew"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key", 1),
        ("kind", None),
        ("lines", [[1]]),
        ("lines", [[1, "2"]]),
        ("lines", 5),
        ("is_empty", 0),
        ("span", [0]),
        ("span", [True, 2]),
        ("more", "x"),
    ],
)
def test_an_outline_of_another_shape_is_left_to_the_service(house: House, name: str, value: object) -> None:
    house.write("a.py", TEXT)
    house.outlines.regions("file:a.py")
    kept = json.loads(house.kept.read_bytes())
    kept["outline"]["regions"][0][name] = value
    house.kept.write_text(json.dumps(kept))
    with pytest.raises(Unread):
        house.outlines.regions("file:a.py")


def test_a_text_that_has_another_hash_is_left_to_the_service(house: House) -> None:
    house.write("a.py", TEXT)
    house.outlines.regions("file:a.py")
    kept = json.loads(house.kept.read_bytes())
    for each in kept["outline"]["regions"]:
        each["span"] = [0, 3]
    house.kept.write_text(json.dumps(kept))
    with pytest.raises(Unread):
        house.outlines.region("file:a.py#one")


@pytest.mark.parametrize(
    "name", ["missing.py", "link.py", "pipe", "folder", "in/a.py", "../a.py", "", "./a.py", "größe.py"]
)
def test_what_is_no_plain_file_is_left_to_the_service(house: House, name: str) -> None:
    house.write("a.py", TEXT)
    house.write("größe.py", TEXT)
    (house.root / "link.py").symlink_to("a.py")
    os.mkfifo(house.root / "pipe")
    (house.root / "folder").mkdir()
    (house.root / "in").symlink_to("folder")
    (house.root / "folder/a.py").write_bytes(TEXT)
    with pytest.raises(Unread):
        house.outlines.regions(f"file:{name}")
    assert house.outlines.regions("file:folder/a.py").regions


def test_a_file_that_is_too_large_is_left_to_the_service(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("a.py", TEXT)
    monkeypatch.setattr(outlines, "MOST_FILE_BYTES", len(TEXT) - 1)
    with pytest.raises(Unread):
        house.outlines.regions("file:a.py")


def test_what_took_too_long_to_read_is_not_kept(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def over_budget(content: bytes, path: str) -> object:
        found = discover(content, path)
        return SimpleNamespace(problems=(Problem(PARSE_BUDGET, "it took too long", (0, 0)),), regions=found.regions)

    house.write("a.py", TEXT)
    monkeypatch.setattr("commonhold.code.regions.discover.discover", over_budget)
    with pytest.raises(Unread):
        house.outlines.regions("file:a.py")
    assert not (house.state / outlines.FOLDER).exists()


def test_where_nothing_can_be_kept_it_is_found_each_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    (house.state / outlines.FOLDER).write_text("in the way")
    check(house, "a.py", TEXT)
    (house.state / outlines.FOLDER).unlink()
    monkeypatch.setattr(outlines, "MOST_KEPT_BYTES", 10)
    check(house, "a.py", TEXT)
    assert not (house.state / outlines.FOLDER).exists()


def test_so_many_are_kept_at_most(house: House) -> None:
    for number in range(30):
        house.write(f"f{number}.py", TEXT)
        house.outlines.regions(f"file:f{number}.py")
    names = [each.name for each in (house.state / outlines.FOLDER).iterdir()]
    assert {len(name) for name in names} == {3}


def test_a_region_that_is_not_there_is_left_to_the_service(house: House) -> None:
    house.write("a.py", TEXT)
    for key in ("file:a.py#two", "file:a.py#(header)"):
        with pytest.raises(Unread):
            house.outlines.region(key)
