"""Predictions of the files that a task changes: by names, words, past commits and frequency, each with its reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.code.analysis.repository.shelves import shelf

from commonhold.kernel.task import Task
from commonhold.tasks.prediction import FITTED, PastCommit, Predictor, Project, Signs, Touch, likely_keys

FILES = {
    "src/billing.py": "def charge(amount):\n    return amount\n\n\ndef refund(amount):\n    return -amount\n",
    "src/checkout.py": "from billing import charge\n\n\ndef pay_all(cart):\n    return charge(cart)\n",
    "src/parser.py": "class TokenStream:\n    def advance(self):\n        pass\n",
    "tests/test_parser.py": "from parser import TokenStream\n\n\ndef test_it():\n    TokenStream()\n",
}
OTHERS = ("docs/guide.md", "CHANGES.md", "pyproject.toml")
PAST = (
    PastCommit("Round amounts in invoices", ("src/billing.py", "CHANGES.md")),
    PastCommit("Describe cursor keys", ("docs/guide.md", "CHANGES.md")),
    PastCommit("Let the tokenizer keep blanks", ("src/parser.py", "tests/test_parser.py", "CHANGES.md")),
    PastCommit("Reformat everything", tuple(f"old/{number}.py" for number in range(100))),
)
PREDICTOR = Predictor(Project((*FILES, *OTHERS), shelf(FILES), PAST))


def first(text: str) -> Touch:
    return PREDICTOR.predict(text)[0]


def test_a_named_file_comes_first() -> None:
    found = first("Mend the example in docs/guide.md")
    assert (found.path, found.why) == ("docs/guide.md", "the text names it")
    assert first("guide.md has a broken link").path == "docs/guide.md"


@pytest.mark.parametrize("text", ["charge() takes a discount", "take a discount in `charge`"])
def test_the_file_that_defines_a_named_function_comes_first(text: str) -> None:
    found = first(text)
    assert (found.path, found.named) == ("src/billing.py", ("charge",))
    assert found.regions is not None
    assert found.regions["charge"] > 1.5 * found.regions["refund"]


def test_a_class_is_named_without_code_marks() -> None:
    assert first("TokenStream skips the last token").path == "src/parser.py"


def test_words_of_past_commits_lead_to_the_files_that_they_changed() -> None:
    signs = PREDICTOR.signs("Explain what the cursor does")
    assert signs["docs/guide.md"].similar > signs.get("src/parser.py", Signs()).similar
    assert first("Round down all invoices").path in ("src/billing.py", "CHANGES.md")


def test_a_file_that_changes_together_with_a_named_one_has_a_sign() -> None:
    assert PREDICTOR.signs("TokenStream skips a token")["tests/test_parser.py"].together > 0


def test_a_sweeping_commit_says_nothing() -> None:
    assert not any(path.startswith("old/") for path in PREDICTOR.signs("Reformat everything"))


def test_newer_changes_make_a_file_more_frequent() -> None:
    history = (
        [PastCommit("a", ("new.py",))] * 3 + [PastCommit("b", ("x.py",))] * 500 + [PastCommit("c", ("old.py",))] * 3
    )
    signs = Predictor(Project(("new.py", "old.py"), shelf({}), history)).signs("nothing")
    assert signs["new.py"].frequency > 4 * signs["old.py"].frequency > 0


def test_a_project_without_history_or_definitions_gives_no_more_than_names() -> None:
    predictor = Predictor(Project(("a.css", "b.css"), shelf({}), ()))
    assert predictor.predict("something else") == ()
    found = predictor.predict("brighter colours in a.css")[0]
    assert (found.path, found.regions) == ("a.css", {})


def test_only_probable_files_become_keys_of_a_task() -> None:
    touches = (
        Touch("a.py", 0.9, named=("f", "C.m"), regions={"f": 0.7, "C.m": 0.7}),
        Touch("b.py", 0.6, regions={"g": 0.1}),
        Touch("c.py", 0.1),
    )
    assert likely_keys(touches) == ("file:a.py#f", "file:a.py#C.m", "file:b.py")
    assert likely_keys(()) == ()
    assert Task("t", "title", predicted_keys=likely_keys(touches)).keys == ()


@given(st.text(max_size=200))
def test_any_text_gives_probabilities_in_order(text: str) -> None:
    found = PREDICTOR.predict(text)
    assert all(0.0 < each.probability < 1.0 and each.why for each in found)
    assert [each.probability for each in found] == sorted((each.probability for each in found), reverse=True)
    for signs in PREDICTOR.signs(text).values():
        assert 0.0 <= FITTED.probability(signs) <= 1.0


@given(st.lists(st.sampled_from([*FILES, *OTHERS, "charge", "TokenStream", "tokenizer", "guide"]), max_size=4))
def test_every_sign_lies_between_zero_and_one(parts: list[str]) -> None:
    for signs in PREDICTOR.signs(" ".join(parts)).values():
        assert all(0.0 <= getattr(signs, name) <= 1.0 for name in signs.__slots__)
