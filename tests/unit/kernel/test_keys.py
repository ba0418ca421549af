"""Keys: one name a thing, and when two names overlap."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import (
    FILE,
    HEADER,
    Key,
    Kind,
    Name,
    canonical,
    contains,
    file_key,
    overlaps,
    parse,
    parse_names,
)

Place = tuple[str, tuple[str, ...], tuple[Name, ...]]

schemes = st.builds(lambda scheme: Key(scheme, ()), strategies.schemes)
small_keys = strategies.small_keys | st.just(Key("account", ()))


@given(strategies.keys | schemes)
def test_the_text_of_a_key_gives_the_key_back(key: Key) -> None:
    assert canonical(str(key)) == key
    assert str(parse(str(key)).key()) == str(key)


@given(st.text("af:#.*?/%235A~[] é", min_size=1, max_size=12) | st.text("a:%235AF*", max_size=8).map("x:".__add__))
def test_the_key_of_any_text_gives_itself_back(text: str) -> None:
    try:
        key = canonical(text)
    except InputError:
        return
    assert canonical(str(key)) == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a.py", "file:a.py"),
        ("./src//x/../a.py", "file:src/a.py"),
        ("a.py#C.m~2", "file:a.py#C.m~2"),
        ("a.py#", "file:a.py"),
        ("file:a%23b%25%41.py", "file:a%23b%%41.py"),
        ("a%23b.py", "file:a%2523b.py"),
        ("src/", "file:src/"),
        (".", "file:./"),
        ("./", "file:./"),
        ("file:./", "file:./"),
        ("folder::src", "file:src/"),
        ("file::a.py", "file:a.py"),
        ("file::a.py::", "file:a.py"),
        ("method::a.py::C.m", "file:a.py#C.m"),
        ("shared_header::a.py", "file:a.py#@header"),
        ("shared_header::a.py::@header", "file:a.py#@header"),
        ("class_header::a.py::C", "file:a.py#C.@header"),
        ("class_header::a.py::C.@header", "file:a.py#C.@header"),
        ("class_header::a.py", "file:a.py#@header"),
        ("account:12345", "account:12345"),
        ("repo:frontend:file:auth.ts", "repo:frontend:file:auth.ts"),
        ("Account:1", "file:Account:1"),
        ("a.py::f", "file:a.py#f"),
        ("./src/../a.py::C::m", "file:a.py#C.m"),
        ("a.py::C.m~2", "file:a.py#C.m~2"),
        ("file:a.py::C::m", "file:a.py#C.m"),
        ("file:a%23b.py::f", "file:a%23b.py#f"),
        ("a.py::", "file:a.py"),
        ("a.py::C::test_m[1-x::y/z.w]", "file:a.py#C.test_m"),
        ("a.py::test[*]", "file:a.py#test"),
        ("a::b/c.py", "file:a:%3Ab/c.py"),
        ("a.py::x[", "file:a.py#x["),
        ("::f", "file:%3A%3Af"),
        ("a:::f", "file:a:%3A%3Af"),
        ("file:a:%3Ab.py", "file:a:%3Ab.py"),
        ("a::b#f", "file:a:%3Ab#f"),
        ("src/*.py", "file:src/"),
        ("src/**/test_*.py", "file:src/"),
        ("./src/x/../a?.py", "file:src/"),
        ("*.py", "file:./"),
        ("src/a/*", "file:src/a/"),
        ("file:src/*.py", "file:src/"),
        ("file:src/a%2A%3F.py", "file:src/a%2A%3F.py"),
        ("src/[ab].py", "file:src/[ab].py"),
        ("file::src/a*.py", "file:src/a%2A.py"),
        ("e\u0301.py", "file:e\u0301.py"),
        ("account:e\u0301", "account:é"),
        ("account:*", "account:*"),
        ("customer:acme:*", "customer:acme"),
        ("page:a%3Fb=%2A", "page:a%3Fb=%2A"),
        ("page:100%25", "page:100%"),
        ("page:%2541", "page:%41"),
        ("page:%23%3A", "page:%23%3A"),
        (":a.py", "file:%3Aa.py"),
        ("file:%3Aa.py", "file:%3Aa.py"),
        ("file:b:%3A.py", "file:b:%3A.py"),
        ("b%3A.py", "file:b%253A.py"),
    ],
)
def test_every_form_of_a_key_leads_to_one(text: str, key: str) -> None:
    assert str(parse(text).key()) == key


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", Code.KEY_INVALID),
        ("a" * 4097, Code.KEY_INVALID),
        ("account:", Code.KEY_INVALID),
        ("account:a::b", Code.KEY_INVALID),
        ("file:", Code.KEY_INVALID),
        ("file:#f", Code.KEY_INVALID),
        ("a.py#f..g", Code.KEY_INVALID),
        ("a.py#.", Code.KEY_INVALID),
        ("src/#f", Code.KEY_INVALID),
        ("folder::src::f", Code.KEY_INVALID),
        ("src/::f", Code.KEY_INVALID),
        ("a.py::f.", Code.KEY_INVALID),
        ("a.py::::f", Code.KEY_INVALID),
        ("src/*.py#f", Code.KEY_INVALID),
        ("src/*.py::f", Code.KEY_INVALID),
        ("a/*/../b.py", Code.KEY_INVALID),
        ("account:1*", Code.KEY_INVALID),
        ("account:1?", Code.KEY_INVALID),
        ("account:*:1", Code.KEY_INVALID),
        ("account:*:*", Code.KEY_INVALID),
        ("../a.py", Code.PATH_OUTSIDE),
        ("a/../../b.py", Code.PATH_OUTSIDE),
        ("a\nb.py", Code.PATH_INVALID),
        ("a\x00.py", Code.PATH_INVALID),
        ("a\udcff.py", Code.PATH_INVALID),
        ("a\u2028.py", Code.PATH_INVALID),
    ],
)
def test_what_is_no_key_is_refused_with_a_hint(text: str, code: Code) -> None:
    with pytest.raises(InputError) as caught:
        parse(text).key()
    assert caught.value.code is code
    assert caught.value.hint
    assert str(caught.value).isprintable()


def test_letters_with_two_meanings_give_both() -> None:
    assert [each.raw_path for each in parse("src/a*.py::f").literals] == ["src/a*.py::f", "src/a*.py"]
    assert [each.names for each in parse("src/a*.py::f").literals] == [(), (Name("f"),)]
    assert [each.raw_path for each in parse("file:a%23*.py").literals] == ["a#*.py"]
    assert parse("file:a%2A.py").literals == parse("function::a.py::f").literals == ()
    assert [str(each.key()) for each in parse("a.py::C::m").literals] == ["file:a.py:%3AC:%3Am", "file:a.py:%3AC#m"]
    assert [str(each.key()) for each in parse("method::a::b.py::C.m").literals] == ["file:a:%3Ab.py#C.m"]
    assert [str(each.key()) for each in parse("file::a::b.py::").literals] == ["file:a:%3Ab.py"]


def test_an_ordinal_is_a_short_number_above_zero() -> None:
    assert parse_names("f~2") == (Name("f", 2),)
    assert [name.ordinal for text in ("f~0", "f~02", "f~1234567", "f~") for name in parse_names(text)] == [0, 0, 0, 0]


@given(small_keys, small_keys)
def test_keys_overlap_if_they_share_a_place(left: Key, right: Key) -> None:
    assert overlaps(left, right) == overlaps(right, left) == bool(places(left) & places(right))


@given(small_keys, small_keys)
def test_a_container_has_all_places_of_its_contents(outer: Key, inner: Key) -> None:
    if contains(outer, inner):
        assert overlaps(outer, inner)
        assert places(inner) <= places(outer)


@given(strategies.keys | schemes)
def test_a_key_overlaps_and_contains_itself(key: Key) -> None:
    assert overlaps(key, key)
    assert contains(key, key)


@pytest.mark.parametrize(
    ("left", "right", "is_conflict"),
    [
        ("a.py#f", "a.py#g", False),
        ("a.py#f", "a.py", True),
        ("a.py#f", "./", True),
        ("a.py#@header", "a.py#f", True),
        ("a.py#@header", "a.py#C.m", True),
        ("a.py#C.@header", "a.py#C.m", False),
        ("a.py#C.@header", "a.py#C", True),
        ("a.py#C.@header", "a.py#D.@header", False),
        ("a.py#C.x", "a.py#C.x~2", True),
        ("a.py#C.x~1", "a.py#C.x~2", False),
        ("src/", "srcs/a.py", False),
        ("src/a", "src/a/b", True),
        ("src/a", "src/a/b.py#f", True),
        ("src/a#f", "src/a/b.py#g", True),
        ("src/a", "src/ab/c.py", False),
        ("app/[slug]", "app/[slug]/page.ts::Page", True),
        ("account:1", "account:12", False),
        ("account:1", "account:1:2", True),
        ("account:1", "other:1", False),
        ("file:account:1", "account:1", False),
        ("account:*", "account:1:2", True),
        ("account:*", "account:*", True),
        ("account:*", "accounts:1", False),
        ("src/*.py", "src/a.py#f", True),
        ("src/*.py", "src/b/", True),
        ("src/*.py", "srcs/a.py", False),
        ("a/b", "a/bc", False),
        ("a/b/", "a/bc", False),
        ("a/b/*", "a/bc", False),
        ("a/b*", "a/bc", True),
    ],
)
def test_examples_of_conflict(left: str, right: str, *, is_conflict: bool) -> None:
    assert overlaps(parse(left).key(), parse(right).key()) is is_conflict


def test_the_parts_of_a_key() -> None:
    key = canonical("file:src/a.py#C.m~2")
    assert (key.file_path, key.qualname, key.is_region, key.is_header) == ("src/a.py", "C.m~2", True, False)
    assert str(key.file) == "file:src/a.py"
    assert str(key.bare()) == "file:src/a.py#C.m"
    assert str(key.file.child(Name("f"))) == "file:src/a.py#f"
    assert str(key.at("b.py")) == "file:b.py#C.m~2"
    assert file_key("./src/a.py") == canonical("file:src/a.py")
    assert canonical("file:a.py#@header").is_header
    assert parse("method::a.py::C.m").kind is Kind.METHOD
    assert parse("a.py").is_plain
    assert not parse("file:a.py").is_plain


# The naive model: a key is the set of all places in a small world that it covers.

_SMALL_PATHS = [tuple(path) for size in (1, 2) for path in product("ab", repeat=size)]
_LEAVES = [Name(text, ordinal) for text in "fC" for ordinal in (1, 2)] + [Name(HEADER)]
_SMALL_NAMES = list(product(_LEAVES, repeat=2))


def places(key: Key) -> set[Place]:
    if key.scheme != FILE:
        return {(key.scheme, path, ()) for path in _SMALL_PATHS if path[: len(key.path)] == key.path}
    if key.is_folder:
        files = (Key(FILE, path) for path in _SMALL_PATHS if path[: len(key.path)] == key.path)
        return {each for file in files for each in places(file)}
    is_all = key.names == (Name(HEADER),)
    names_here = {names for names in _SMALL_NAMES if is_all or _is_under(key.names, names)}
    return {(FILE, key.path, names) for names in names_here} | _where_a_file_cannot_be(key.path, names_here)


def _where_a_file_cannot_be(path: tuple[str, ...], names_here: set[tuple[Name, ...]]) -> set[Place]:
    """What a file shares with each file below it and above it, since only one of the two can be there."""
    below = [other for other in _SMALL_PATHS if other[: len(path)] == path != other]
    above = [path[:size] for size in range(1, len(path))]
    return {(f"not {path}", other, names) for other in below for names in _SMALL_NAMES} | {
        (f"not {other}", path, names) for other in above for names in names_here
    }


def _is_under(outer: tuple[Name, ...], inner: tuple[Name, ...]) -> bool:
    pairs = zip(outer, inner, strict=False)
    return all(mine.text == theirs.text and mine.ordinal in (0, theirs.ordinal) for mine, theirs in pairs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/a.py#C.D.m~2", ["file:src/a.py#C.D.m~2", "file:src/a.py#C.D", "file:src/a.py#C", "file:src/a.py"]),
        ("src/a.py", ["file:src/a.py"]),
        ("src/", ["file:src/"]),
        ("account:1:2", ["account:1:2"]),
    ],
)
def test_upward_leads_to_the_file_and_no_further(text: str, expected: list[str]) -> None:
    assert [str(key) for key in canonical(text).upward()] == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1.2 a/b", "1%2E2 a%2Fb"),
        (".a:hover", "%2Ea:hover"),
        (":root", "%3Aroot"),
        ("a::b", "a:%3Ab"),
        ("x~2", "x%7E2"),
        ("~A", "~A"),
        ("x~y", "x~y"),
        ("100%", "100%"),
        ("100%2E", "100%252E"),
        ("a b#c*d?", "a b#c*d?"),
        ('""', '""'),
    ],
)
def test_a_name_may_hold_what_keys_use_for_themselves(text: str, shown: str) -> None:
    key = Key("file", ("a.md",), (Name("top"), Name(text, 3)))
    assert str(key) == f"file:a.md#top.{shown}~3"
    assert parse(str(key)).key() == key
    assert parse(f"section::a.md::top.{shown}~3").key() == key


@pytest.mark.parametrize("kind", ["section", "section_header", "entry", "paragraph"])
def test_the_kinds_of_documents_and_data_are_read_in_ids(kind: str) -> None:
    found = parse(f"{kind}::a.md::T")
    names = ("T", "@header") if kind == "section_header" else ("T",)
    assert tuple(name.text for name in found.key().names) == names


def test_a_file_whose_name_begins_with_the_mark_of_regions_can_be_named() -> None:
    with pytest.raises(InputError) as raised:
        parse("file:#a#b.py")
    assert raised.value.hint == "if # is part of a file's name, write file:%23a%23b.py"
    assert parse("file:%23a%23b.py").raw_path == "#a#b.py"
