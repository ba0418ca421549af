"""Whatever the bytes, and whatever language their path promises: an answer, and regions that tile."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.code.regions.checks import check_map, spliced

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.edit import Delete, Replace, text_of
from commonhold.code.regions.languages import LANGUAGES, TEXT
from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.regions.syntax import problem_in
from commonhold.kernel.errors import InputError
from commonhold.kernel.keys import parse

_CORPUS: Final = Path(__file__).parents[3] / "corpus"
_CASES: Final = {
    each.name: [path.read_bytes() for path in sorted((_CORPUS / each.name).glob("*/module.*"))]
    for each in (*LANGUAGES, TEXT)
}
_FRAGMENTS: Final = (
    "{", "}", "(", ")", "[", "]", "<", ">", "</a>", "<h1>", "\n", "\n\n", "\r\n", "\r", "\t", " ", "  ", "    ",
    '"', "'", "`", '"""', "$$", "${", "/*", "*/", "//", "#", "--", "<!--", "-->", "<<EOF\n", "EOF\n", "\\", ";", ",",
    ":", "::", ".", "=>", "=", "- ", "? ", "| ", "---\n", "...\n", "&a ", "*a", "!t ", "~1", "%2E", "@header", "@a ",
    "#[a]\n", "#if x\n", "#endif\n", "class A ", "def a", "fn a", "func a", "fun a", "function a", "end\n", "impl A ",
    "namespace A ", "BEGIN ", "END", "CREATE TABLE a", "SELECT 1", "export ", "const a = ", "a", "1", "\u00e9", "\0",
    "\ufb01", "\u2028", "# A\n", "===\n", "```\n", "[a]\n", "a: 1\n", '"a": 1,\n', "a { b: c }\n", "if a\n", "then\n",
)  # fmt: skip


def _paths() -> list[str]:
    by_name = {each.name: f"module{min(each.extensions, default='.txt')}" for each in (*LANGUAGES, TEXT)}
    return [by_name[name] for name in sorted(by_name)]


def _nearly(name: str) -> st.SearchStrategy[bytes]:
    """Bytes that are nearly of a language: a case of the corpus, cut and pasted over."""
    pieces = st.lists(st.sampled_from(_FRAGMENTS), max_size=4).map(lambda parts: "".join(parts).encode())

    @st.composite
    def made(draw: st.DrawFn) -> bytes:
        source = draw(st.sampled_from(_CASES[name]))
        start = draw(st.integers(0, len(source)))
        end = draw(st.integers(start, min(len(source), start + 60)))
        return source[:start] + draw(pieces) + source[end:]

    return made()


ANY_BYTES: Final = st.binary(max_size=200) | st.lists(st.sampled_from(_FRAGMENTS), max_size=40).map(
    lambda parts: "".join(parts).encode()
)


@given(st.sampled_from(_paths()), ANY_BYTES)
@examples(4)
def test_any_bytes_are_tiled_in_any_language(path: str, source: bytes) -> None:
    found = discover(source, path)
    check_map(found)
    _check_keys(found)
    assert rediscover(found, source) == found
    problem_in(source, path)


def _check_keys(found: RegionMap) -> None:
    """Assert that every form of every key means the region."""
    for region in found.regions:
        assert parse(str(region.key)).key() == region.key
        assert parse(region.id).key() == region.key


@pytest.mark.parametrize("name", sorted(_CASES))
@given(data=st.data())
@examples(0.6)
def test_bytes_that_are_nearly_of_a_language_are_tiled(name: str, data: st.DataObject) -> None:
    before = data.draw(_nearly(name))
    source = data.draw(_nearly(name))
    path = next(each for each in _paths() if discover(_CASES[name][0], each).language == name)
    found = discover(source, path)
    check_map(found)
    _check_keys(found)
    problem = problem_in(source, path, before)
    assert problem is None or 0 <= problem.span[0] <= problem.span[1] <= len(source)
    assert problem_in(source, path, source) is None or name == "python"


@pytest.mark.parametrize("name", sorted(_CASES))
@given(data=st.data())
@examples(0.4)
def test_a_region_replaced_by_its_own_text_changes_no_byte(name: str, data: st.DataObject) -> None:
    path = next(each for each in _paths() if discover(_CASES[name][0], each).language == name)
    before = discover(data.draw(_nearly(name)), path)
    region = data.draw(st.sampled_from(before.regions))
    span = data.draw(st.sampled_from(range(len(region.spans)))) if region.key.is_header else None
    try:
        text = text_of(before, region, span)
    except InputError:
        return
    made, _, breach = spliced(before, Replace(region, text, span))
    assert (made.source, breach) == (before.source, None)


@pytest.mark.parametrize("name", sorted(_CASES))
@given(data=st.data())
@examples(0.4)
def test_a_deleted_definition_takes_nothing_with_it(name: str, data: st.DataObject) -> None:
    path = next(each for each in _paths() if discover(_CASES[name][0], each).language == name)
    before = discover(data.draw(_nearly(name)), path)
    definitions = [each for each in before.regions if each.is_definition]
    if not definitions:
        return
    region = data.draw(st.sampled_from(definitions))
    made, after, breach = spliced(before, Delete(region))
    check_map(after)
    if breach is None:
        # Commas belong to the list: one may go from between an entry and the comment behind it.
        left = made.source.replace(b",", b"")
        kept = [each for each in before.leaves() if each.is_body and not _lies_in(each, region)]
        assert all(before.bytes_of(each).strip(b" \t\r\n,").replace(b",", b"")[:40] in left for each in kept)


def _lies_in(leaf: Region, region: Region) -> bool:
    return region.start <= leaf.start and leaf.end <= region.end
