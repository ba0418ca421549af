"""A parse has a budget: what would take more is text, and ordinary files are what they were."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NoReturn

import pytest
from tests.unit.code.regions.checks import check_map
from tests.unit.code.regions.hostile import KNOWN, repeated, units
from tree_sitter import Node

from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.regions import budget
from commonhold.code.regions import language as language_module
from commonhold.code.regions.budget import TRIALS, BudgetExceededError, parsed
from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.incremental_parse import Change, edited
from commonhold.code.regions.language import Language, parse, parser_of
from commonhold.code.regions.languages import LANGUAGES, language_for, language_named
from commonhold.code.regions.region import PARSE_BUDGET
from commonhold.code.regions.syntax import problem_in
from commonhold.commits.apply_edits import Content, flaw_in
from commonhold.kernel.refusals import Refusal
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Reason, Unproven

_CORPUS: Final = Path(__file__).parents[3] / "corpus"
_WITH_GRAMMAR: Final = [each for each in LANGUAGES if each.grammar]
_DENSE: Final = b"[" + b"0," * 4_000 + b"0]\n"
_HOSTILE: Final = repeated("***a", 10_000)
_ORDINARY: Final = b"export function f(a: number) {\n  return a + 1\n}\n\n" * 60


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRIALS, "is_quick", None)
    monkeypatch.setattr(budget, "_verdicts", {})
    language_module._kept.cache_clear()


def _never(*_arguments: object, **_named: object) -> NoReturn:
    raise AssertionError("it is parsed")


@pytest.mark.parametrize(("path", "unit"), KNOWN)
def test_what_takes_too_much_work_is_one_region_and_says_so(path: str, unit: str) -> None:
    found = discover(repeated(unit, 25_000), path)
    assert [each.kind.value for each in found.regions] == ["file"]
    assert [each.code for each in found.problems] == [PARSE_BUDGET]
    assert "more work than any ordinary file" in found.problems[0].message
    assert found.exceeds_budget


def test_what_took_too_much_work_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = discover(_HOSTILE, "a.ts")
    monkeypatch.setattr(budget, "Reading", _never)
    assert discover(_HOSTILE, "a.ts") == first
    with pytest.raises(AssertionError, match="it is parsed"):
        discover(_HOSTILE, "a.js")


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_MOST_REMEMBERED", 3)
    for size in range(10_000, 10_007):
        discover(repeated("***a", size), "a.ts")
    assert len(budget._verdicts) <= 3


@pytest.mark.parametrize("language", _WITH_GRAMMAR, ids=lambda language: language.name)
def test_repetitions_in_any_grammar_come_to_an_end(language: Language) -> None:
    path = f"module{min(language.extensions)}"
    for unit in units(language, seed=1, count=25):
        check_map(discover(repeated(unit, 4_000), path))


@pytest.mark.parametrize("language", _WITH_GRAMMAR, ids=lambda language: language.name)
def test_ordinary_files_have_the_same_trees_as_without_a_budget(language: Language) -> None:
    sources = [each.read_bytes() for each in sorted((_CORPUS / language.name).glob("*/module.*"))]
    assert sources
    for source in [*sources, b"\n".join(sources)]:
        plain = parser_of(language).parse(source)
        counted = parsed(parser_of(language), source, language.name)
        assert str(counted.root_node) == str(plain.root_node)
        assert [each.text for each in counted.root_node.children] == [each.text for each in plain.root_node.children]


def test_a_tree_is_reused_within_the_budget() -> None:
    changed = _ORDINARY.replace(b"+ 1", b"+ 22", 30)
    language = language_for("a.ts", changed)
    assert language is not None
    old = edited(parse(_ORDINARY, language), _ORDINARY, changed, Change.between(_ORDINARY, changed))
    assert str(parse(changed, language, old).root_node) == str(parser_of(language).parse(changed).root_node)
    assert rediscover(discover(_ORDINARY, "a.ts"), changed) == discover(changed, "a.ts")


def test_long_texts_of_nodes_are_whole() -> None:
    source = b"x = '" + b"long " * 3_000 + b"'\n"
    assert parse(source, LANGUAGES[0]).root_node.text == source


def test_lists_of_single_digits_are_within_the_budget() -> None:
    for path, before, unit, after in (
        ("a.json", "[", "0,", "0]"),
        ("a.rb", "a=[", "0,", "0]"),
        ("a.rs", "fn f(){m!(", "a,", "a)}"),
        ("a.js", "", ";", ""),
        ("a.cs", "class A{void f(){", "a();", "}}"),
        ("a.sh", "", "a|", "a"),
    ):
        found = discover(before.encode() + repeated(unit, 20_000) + after.encode(), path)
        assert not found.exceeds_budget, path


def test_only_dense_files_are_tried_and_each_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def is_quick(_source: bytes, language: str) -> bool:
        tried.append(language)
        return True

    monkeypatch.setattr(TRIALS, "is_quick", is_quick)
    assert not discover(_ORDINARY, "a.ts").problems
    assert tried == []
    assert not discover(_DENSE, "a.json").problems
    assert not discover(_DENSE, "a.json").problems
    assert tried == ["json"]


def test_what_a_trial_finds_slow_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRIALS, "is_quick", lambda _source, _language: False)
    assert discover(_DENSE, "a.json").exceeds_budget
    monkeypatch.setattr(TRIALS, "is_quick", _never)
    assert discover(_DENSE, "a.json").exceeds_budget


def test_an_edit_that_takes_a_files_regions_away_is_refused() -> None:
    before = discover(_ORDINARY, "a.ts")
    after = Content(_HOSTILE, discover(_HOSTILE, "a.ts"))
    flaw = flaw_in(before, after, (before.file.key,))
    assert flaw is not None
    assert flaw.code is Refusal.PARSE_INVALID
    assert "more work than any ordinary file" in flaw.why


def test_an_edit_that_compiles_but_takes_a_files_regions_away_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRIALS, "is_quick", lambda _source, _language: False)
    before = discover(b"[1]\n", "a.json")
    flaw = flaw_in(before, Content(_DENSE, discover(_DENSE, "a.json")), (before.file.key,))
    assert flaw is not None
    assert flaw.code is Refusal.PARSE_INVALID
    assert "would have no regions any more" in flaw.why


def test_a_file_that_was_text_already_may_be_edited() -> None:
    before = discover(_HOSTILE, "a.ts")
    other = _HOSTILE + b"\n***b"
    assert flaw_in(before, Content(other, discover(other, "a.ts")), (before.file.key,)) is None
    assert flaw_in(before, Content(_ORDINARY, discover(_ORDINARY, "a.ts")), (before.file.key,)) is None


def test_errors_beside_a_version_without_a_tree_may_be_old() -> None:
    assert problem_in(b"function f( {}\n", "a.ts", _HOSTILE) is None


def test_the_summary_of_such_a_file_is_a_problem() -> None:
    summary = summarise("a.ts", _HOSTILE)
    assert summary is not None
    assert "more work than any ordinary file" in summary.problem
    assert not summary.offers


def test_such_a_file_is_merged_by_lines_and_never_proven() -> None:
    base = _HOSTILE + b"\nx\ny\nz\n"
    answer = merge(base, base.replace(b"x", b"xx"), base.replace(b"z", b"zz"), "a.ts")
    assert isinstance(answer, Unproven)
    assert [each.reason for each in answer.spots] == [Reason.TOO_LARGE]
    assert "more work than any ordinary file" in answer.spots[0].why


def test_small_files_are_not_counted() -> None:
    language = language_for("a.ts", b"")
    assert language is not None
    parse(repeated("***a", budget.MOST_UNCOUNTED_BYTES), language)
    with pytest.raises(BudgetExceededError):
        parse(_HOSTILE, language)


def test_a_long_chain_of_calls_is_walked_through_once() -> None:
    check_map(discover(repeated("::rand", 20_000), "a.rb"))


def test_an_edit_is_within_the_budget_if_the_whole_file_is() -> None:
    for stars in (1_000, 3_000, 30_000):
        changed = _ORDINARY + repeated("***a", stars) + b"\n" + _ORDINARY
        assert rediscover(discover(_ORDINARY * 2, "a.ts"), changed) == discover(changed, "a.ts")


def test_a_dense_file_that_was_tried_has_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRIALS, "is_quick", lambda _source, _language: True)
    language = language_for("a.json", _DENSE)
    assert language is not None
    assert str(parse(_DENSE, language).root_node) == str(parser_of(language).parse(_DENSE).root_node)


def _growth(work: Callable[[], object]) -> int:
    """How many bytes more are in use after doing the same again and again."""
    work()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def _names(node: Node) -> Iterator[bytes | None]:
    if not node.children:
        yield node.text
    for child in node.children:
        yield from _names(child)


def test_nothing_is_left_of_what_a_parser_has_read() -> None:
    """The binding keeps a reference to each object that it was given: that must be one of a few."""
    language = language_named("typescript")
    assert _growth(lambda: parse(_ORDINARY, language)) < len(_ORDINARY)
    assert _growth(lambda: list(_names(parse(_ORDINARY, language).root_node))) < len(_ORDINARY)


def test_so_many_words_are_known_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_WORDS", {})
    monkeypatch.setattr(budget, "_MOST_WORDS_KNOWN", 3)
    language = language_named("typescript")
    assert b"".join(each or b"" for each in _names(parse(_ORDINARY, language).root_node)).startswith(
        b"exportfunctionf("
    )
    assert len(budget._WORDS) <= 3


def test_the_text_of_any_node_is_what_stands_there() -> None:
    language = language_named("typescript")
    source = _ORDINARY + b"// " + b"a long comment, " * 100 + b"\n"
    root = parse(source, language).root_node
    assert (root.text, root.children[-1].text) == (source, source[root.children[-1].start_byte : -1])


def test_parses_at_once_do_not_disturb_each_other() -> None:
    language = language_named("python")
    sources = [f"def f{number}(value):\n    return value + {number}\n\n\n".encode() * 400 for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda source: str(parse(source, language).root_node), sources * 4))
    assert found == [str(parser_of(language).parse(source).root_node) for source in sources * 4]
