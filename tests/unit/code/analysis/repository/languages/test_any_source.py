"""No bytes break a summary; names are those that regions have; depth and length cost what they should."""

from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.code.analysis.repository.languages.telling import (
    EXTENSIONS,
    crossing_cases,
    summarised_cases,
    summary_of,
)

from commonhold.code.analysis.repository.languages import LINKED
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import plain_name

CORPUS = Path(__file__).parents[5] / "corpus"
LANGUAGES = sorted(EXTENSIONS)
# Pieces that open something, or stand where the grammar wants something else.
ECMASCRIPT = "class A extends |function* f(|=> |module.exports = |export { |import(|`${|<A b={|}"
TYPES = "interface I { m(|type T = |enum E { |namespace N.M {"
PIECES = {
    "go": "func (|type S struct {|func f(|package p|x := |switch t := x.(type) {|[]T{{|import (|}",
    "java": "class A extends |void m(|new T(|record R(|@An(|x -> |case Foo f ->|enum E { A(|}",
    "javascript": ECMASCRIPT,
    "rust": "impl<T> A for |fn f(|use a::{|match x {|println!(|&a, |struct S(|mod m {|}",
    "tsx": f"{ECMASCRIPT}|{TYPES}",
    "typescript": f"{ECMASCRIPT}|{TYPES}",
}
# What one more level of nesting looks like.
DEEP = {
    "go": ("f(", "a.b().", "func() { ", "if x { ", "[]T{"),
    "java": ("f(", "a.b().", "() -> ", "class A { ", "new A("),
    "javascript": ("f(", "a.b().", "() => ", "function f() { ", "[a, {b: "),
    "rust": ("f(", "a.b().", "|x| ", "mod m { ", "f!(", "impl A { fn f() { "),
    "tsx": ("<A>{", "f(", "class A { m() { "),
    "typescript": ("f(", "namespace N { ", "type A = { b: ", "() => ", "class A { m() { "),
}


def sources(language: str) -> list[str]:
    files = [path.read_text() for path in sorted(CORPUS.glob(f"{language}/*/*.{EXTENSIONS[language]}"))]
    cases = [case.source for case in summarised_cases() if case.language == language]
    crossings = (case for name, case in crossing_cases() if name == language)
    return [*files, *cases, *chain.from_iterable((*case.before.values(), *case.after.values()) for case in crossings)]


SOURCES = {language: sources(language) for language in LANGUAGES}


def is_sound(summary: Summary) -> bool:
    """Whether whoever ties a summary can rely on its form."""
    shapes = [offer.shape for offer in summary.offers if offer.shape is not None]
    return (
        all(offer.qualname and 1 <= offer.line <= offer.end_line for offer in summary.offers)
        and len({offer.qualname for offer in summary.offers}) == len(summary.offers)
        and all(len(shape.bases) == len(shape.texts) for shape in shapes)
        and all(use.line >= 1 for use in summary.uses)
        and (not summary.problem or not (summary.offers or summary.uses or summary.imports))
    )


def summarised(language: str, source: bytes) -> Summary:
    entry = LINKED.get(language)
    assert entry is not None
    return entry.summarise(source)


@pytest.mark.parametrize("language", LANGUAGES)
@given(st.data())
def test_any_bytes_have_a_summary(language: str, data: st.DataObject) -> None:
    words = st.sampled_from(PIECES[language].split("|")) | st.text(max_size=4)
    text = data.draw(st.lists(words, max_size=12).map(" ".join).map(str.encode) | st.binary(max_size=40))
    assert is_sound(summarised(language, text))


@pytest.mark.parametrize("language", LANGUAGES)
@given(st.data())
def test_what_is_cut_off_or_cut_out_has_a_summary(language: str, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(SOURCES[language])).encode()
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, len(source)))
    piece = data.draw(st.sampled_from(PIECES[language].split("|"))).encode()
    assert is_sound(summarised(language, source[:start] + piece + source[end:]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_bytes_that_are_no_text_are_a_problem(language: str) -> None:
    found = summarised(language, b"class A { \xff }")
    assert found.problem.startswith("the file is not valid utf-8")
    assert is_sound(found)


@pytest.mark.parametrize(("language", "piece"), [(name, piece) for name in LANGUAGES for piece in DEEP[name]])
def test_no_depth_exhausts_the_stack(language: str, piece: str) -> None:
    assert is_sound(summary_of(language, piece * 2_000))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_offered_is_called_as_its_region_is(language: str) -> None:
    for source in SOURCES[language]:
        summary = summary_of(language, source)
        found = discover(source.encode(), f"file.{EXTENSIONS[language]}")
        if found.problems:
            continue
        names = {plain_name(region.key.names) for region in found.regions if region.is_definition}
        assert {name for name in names if "impl " not in name} <= {offer.qualname for offer in summary.offers}


@pytest.mark.parametrize("language", LANGUAGES)
def test_equal_bytes_have_equal_summaries(language: str) -> None:
    again = map(partial(summary_of, language), SOURCES[language])
    assert [*map(partial(summary_of, language), SOURCES[language])] == [*again]


def test_a_file_of_no_language_that_can_be_tied_has_none() -> None:
    assert summarise("notes.md", b"# A") is None
    assert summarise("run.sh", b"f() { :; }") is None
