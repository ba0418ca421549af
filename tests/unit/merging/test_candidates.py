"""What may be tried where nothing shows what both sides mean."""

import pytest
from tests.unit.merging.cases import NAMES, load
from tests.unit.merging.laws import check_candidates

from commonhold.merging import candidates
from commonhold.merging.candidates import MAX_CANDIDATES, combined, union
from commonhold.merging.merge import merge
from commonhold.merging.pieces import Clash
from commonhold.merging.verdict import Reason, Unproven
from commonhold.merging.versions import higher_version


def clash(base: bytes, ours: bytes, theirs: bytes, *joined: bytes) -> Clash:
    return Clash(base, ours, theirs, Reason.BOTH_CHANGED, "", joined=joined)


def candidates_for(base: str, ours: str, theirs: str) -> list[bytes]:
    answer = merge(base.encode(), ours.encode(), theirs.encode(), "a.py")
    assert isinstance(answer, Unproven)
    return [each.source for each in answer.candidates()]


@pytest.mark.parametrize("name", NAMES)
def test_candidates_of_a_case_are_few_and_past_the_gate(name: str) -> None:
    case = load(name)
    for each in (case, case.exchanged()):
        answer = merge(*each.versions, each.path)
        if isinstance(answer, Unproven):
            check_candidates(answer, *each.versions, each.path)


def test_the_candidates_do_not_depend_on_who_asks() -> None:
    versions = "a()\n", "a()\nb()\n", "a()\nc()\n"
    assert candidates_for(*versions) == candidates_for(versions[0], versions[2], versions[1])


def test_both_orders_are_tried_of_what_both_added() -> None:
    found = candidates_for("a()\n", "a()\nb()\n", "a()\nc()\n")
    assert {b"a()\nb()\nc()\n", b"a()\nc()\nb()\n"} <= set(found)


def test_parameters_of_both_are_tried_in_both_orders() -> None:
    found = candidates_for("def f(a):\n    pass\n", "def f(a, b):\n    pass\n", "def f(a, c):\n    pass\n")
    assert {b"def f(a, b, c):\n    pass\n", b"def f(a, c, b):\n    pass\n"} <= set(found)


def test_both_edits_of_one_statement_are_tried_together() -> None:
    found = candidates_for("x = f(a) + g(b)\n", "x = f(a, 1) + g(b)\n", "x = f(a) + g(b, 2)\n")
    assert found[0] == b"x = f(a, 1) + g(b, 2)\n"


def test_what_is_only_doubted_is_tried_as_it_is() -> None:
    found = candidates_for("a = 1\nb = 1\nc = 1\n", "a = 2\nb = 1\nc = 1\n", "a = 1\nb = 1\nc = a\n")
    assert found == [b"a = 2\nb = 1\nc = a\n"]


def test_the_same_choice_everywhere_comes_first_then_mixtures() -> None:
    texts = [text for text, _ in combined([clash(b"", b"1", b"2"), b"-", clash(b"", b"3", b"4")])]
    assert texts[:4] == [b"12-34", b"21-43", b"12-43", b"21-34"]


def test_so_many_clashes_are_not_mixed() -> None:
    pieces = [clash(b"", b"1", b"2")] * 25
    assert [text for text, _ in combined(pieces)] == [b"12" * 25, b"21" * 25]


def test_what_has_too_many_words_is_not_woven(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [clash(b"a b c\n", b"a 1 b c\n", b"a b 2 c\n")]
    assert b"a 1 b 2 c\n" in [text for text, _ in combined(pieces)]
    monkeypatch.setattr(candidates, "_MAX_TOKENS", 4)
    assert b"a 1 b 2 c\n" not in [text for text, _ in combined(pieces)]


def test_what_the_structure_joined_is_tried_first() -> None:
    assert next(combined([clash(b"a", b"b", b"c", b"joined")])) == (b"joined", "both edits of one statement")


@pytest.mark.parametrize(
    ("base", "first", "second", "merged"),
    [
        ("abc", "xabc", "abcy", "xabcy"),
        ("abc", "axbc", "aybc", "axybc"),
        ("abc", "ac", "abc", "ac"),
        ("abc", "abc", "ac", "ac"),
        ("abc", "ac", "ac", "ac"),
        ("abc", "axc", "ayc", "axyc"),
    ],
)
def test_the_union_has_what_either_put_in(base: str, first: str, second: str, merged: str) -> None:
    base_, first_, second_ = ([letter.encode() for letter in text] for text in (base, first, second))
    assert union(base_, first_, second_) == merged.encode()


def test_however_many_there_are_few_are_given() -> None:
    names = range(20)
    base, ours, theirs = ("".join(f"x{n}()\n{text}y{n} = {n}\n" for n in names) for text in ("", "a()\n", "b()\n"))
    assert len(candidates_for(base, ours, theirs)) == MAX_CANDIDATES


@pytest.mark.parametrize(
    ("base", "lower", "higher"),
    [
        ("2.2.2.dev", "2.2.2", "2.3.0.dev"),
        ("2.3.3.dev", "2.3.3", "3.0.0.dev"),
        ("1.9", "1.9.1", "1.10"),
    ],
)
def test_the_higher_of_two_versions_is_tried_first(base: str, lower: str, higher: str) -> None:
    texts = [f'__version__ = "{each}"\n' for each in (base, lower, higher)]
    assert candidates_for(*texts)[0] == texts[2].encode()
    assert candidates_for(texts[0], texts[2], texts[1])[0] == texts[2].encode()


@pytest.mark.parametrize(
    ("lower", "higher"), [("v1.0-rc.2", "v1.0"), ("1.0.1a2", "1.0.1b1"), ("1.0.dev3", "1.0a1"), ("1.2", "1.10")]
)
def test_a_stage_of_a_release_is_lower_than_the_release(lower: str, higher: str) -> None:
    assert higher_version(b"0.9", lower.encode(), higher.encode()) == higher.encode()


@pytest.mark.parametrize("texts", [("1.0", "1.1", "1.1.0"), ("1.0", "one", "1.1"), ("1", "2", "3")])
def test_texts_of_which_none_is_the_higher_version_are_no_versions(texts: tuple[str, str, str]) -> None:
    base, ours, theirs = (each.encode() for each in texts)
    assert higher_version(base, ours, theirs) is None


def test_lines_of_which_one_side_has_all_are_tried_once() -> None:
    answer = merge(b"a\nz\n", b"a\nb\nc\nz\n", b"a\nc\nz\n", "a.txt")
    assert isinstance(answer, Unproven)
    assert next(answer.candidates()).source == b"a\nb\nc\nz\n"


def test_edits_of_a_block_are_tried_under_the_indentation_that_the_other_side_gave_it() -> None:
    base = "def f(x):\n    a = g(x)\n    b = h(a)\n    return b\n"
    ours = "def f(x):\n    with lock(x):\n        a = g(x)\n        b = h(a)\n        return b\n"
    theirs = "def f(x):\n    a = g(x)\n    if a is None:\n        return x\n    b = h(a)\n    return b\n"
    wrapped = "def f(x):\n    with lock(x):\n        a = g(x)\n        if a is None:\n            return x\n"
    assert f"{wrapped}        b = h(a)\n        return b\n".encode() in candidates_for(base, ours, theirs)
    assert candidates_for(base, ours, theirs) == candidates_for(base, theirs, ours)


def test_edits_of_a_block_are_tried_where_the_other_side_moved_it_out() -> None:
    base = "def f(x):\n\tif x:\n\t\ta = g(x)\n\t\tb = h(a)\n"
    ours = "def f(x):\n\ta = g(x)\n\tb = h(a)\n"
    theirs = "def f(x):\n\tif x:\n\t\ta = g(x)\n\t\tfor c in a:\n\t\t\th(c)\n\t\tb = h(a)\n"
    assert b"def f(x):\n\ta = g(x)\n\tfor c in a:\n\t\th(c)\n\tb = h(a)\n" in candidates_for(base, ours, theirs)
