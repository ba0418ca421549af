"""From names to regions and to keys that may be leased."""

import pytest

from commonhold.code.regions.discover import discover
from commonhold.code.regions.find import find, lookup, reserve
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import parse_names

FOUND = discover(
    b"def f(): ...\ndef g(): ...\ndef g(): ...\nclass C:\n    def m(self): ...\nclass D:\n    def m(self): ...\n"
    b"class D:\n    def m(self): ...\n    def n(self): ...\n    def o(self): ...\n    def o(self): ...\n",
    "a.py",
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", ""),
        ("f", "f"),
        ("f~1", "f"),
        ("g~2", "g~2"),
        ("@header", "@header"),
        ("C", "C"),
        ("C~1.m~1", "C.m"),
        ("C.@header", "C.@header"),
        ("D~2.m", "D~2.m"),
        ("D.n", "D~2.n"),
        ("D.o~2", "D~2.o~2"),
    ],
)
def test_names_find_a_region(name: str, expected: str) -> None:
    assert find(FOUND, parse_names(name)).key.qualname == expected
    assert reserve(FOUND, parse_names(name)).qualname == expected


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("g", ["file:a.py#g~1", "file:a.py#g~2"]),
        ("D", ["file:a.py#D~1", "file:a.py#D~2"]),
        ("D.m", ["file:a.py#D~1.m", "file:a.py#D~2.m"]),
        ("D.o", ["file:a.py#D~2.o~1", "file:a.py#D~2.o~2"]),
        ("D.@header", ["file:a.py#D~1.@header", "file:a.py#D~2.@header"]),
    ],
)
def test_a_bare_name_that_is_repeated_is_ambiguous(name: str, choices: list[str]) -> None:
    for call in (find, reserve):
        with pytest.raises(InputError) as caught:
            call(FOUND, parse_names(name))
        assert caught.value.code is Code.REGION_AMBIGUOUS
        assert caught.value.fields == {"choices": choices}
        assert all(choice in caught.value.hint for choice in choices)


@pytest.mark.parametrize("name", ["h", "f~2", "g~3", "C.x", "f.x", "D~3.m", "C.@header.x"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        find(FOUND, parse_names(name))
    assert caught.value.code is Code.REGION_UNKNOWN
    assert caught.value.fields["name"] == name


def test_the_hint_lists_near_names() -> None:
    found = discover(b"".join(b"def value%d(): ...\n" % number for number in range(9)))
    with pytest.raises(InputError) as caught:
        find(found, parse_names("value"))
    near = caught.value.fields["near"]
    assert isinstance(near, list)
    assert len(near) == 5
    assert caught.value.hint == f"near names: {', '.join(near)}"
    with pytest.raises(InputError) as caught:
        find(found, parse_names("zzz"))
    assert "`commonhold regions file:module.py` lists its regions" in caught.value.hint


def test_a_file_without_regions_says_so() -> None:
    for call in (find, reserve):
        with pytest.raises(InputError) as caught:
            call(discover(b"text", "a.txt"), parse_names("f"))
        assert caught.value.code is Code.REGION_UNKNOWN
        assert "name the whole file, file:a.txt" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("new", "file:a.py#new"),
        ("C.new", "file:a.py#C.new"),
        ("C~1.new~4", "file:a.py#C.new"),
        ("D~2.new", "file:a.py#D~2.new"),
    ],
)
def test_a_region_that_is_not_there_yet_is_reserved(name: str, key: str) -> None:
    assert str(reserve(FOUND, parse_names(name))) == key


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("X.new", Code.REGION_UNKNOWN),
        ("f.new", Code.REGION_UNKNOWN),
        ("D.new", Code.REGION_AMBIGUOUS),
        ("f.@header", Code.REGION_UNKNOWN),
    ],
)
def test_nothing_is_reserved_outside_a_known_container(name: str, code: Code) -> None:
    with pytest.raises(InputError) as caught:
        reserve(FOUND, parse_names(name))
    assert caught.value.code is code


def test_a_file_that_cannot_be_decoded_has_no_regions_to_find() -> None:
    with pytest.raises(InputError) as caught:
        find(discover(b"def f(): ...\n'\xff'\n"), parse_names("f"))
    assert caught.value.code is Code.ENCODING_INVALID
    assert "file:module.py" in caught.value.hint


def test_a_look_at_a_name_that_is_not_there_is_no_error() -> None:
    assert lookup(FOUND, parse_names("h")) is None
    for found, name in ((FOUND, "g"), (discover(b"\xff", "a.py"), "h")):
        with pytest.raises(InputError):
            lookup(found, parse_names(name))
