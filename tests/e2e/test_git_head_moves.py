"""Whoever takes HEAD to another branch tells those who work in the same tree, once."""

from pathlib import Path

import pytest
from tests.e2e.git_sessions import Checkout, make_checkout

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "work", {"a.txt": "a\n"})
    for holder, intent in ((ANN, "try another way"), (BOB, "mend it")):
        with made.log_of(str(made.root), holder) as log:
            log.set_intent(intent)
    return made


def told(checkout: Checkout, holder: str) -> list[str]:
    with checkout.log_of(str(checkout.root), holder) as log:
        return [each.notice for each in log.news()]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("switch", "-c", "feat"), "branch feat"),
        (("checkout", "-qb", "feat"), "branch feat"),
        (("checkout", "-q", "same"), "branch same"),
        (("switch", "-q", "--detach"), "on no branch"),
        (("symbolic-ref", "HEAD", "refs/heads/same"), "branch same"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_others_are_told_once_that_head_moved(checkout: Checkout, words: tuple[str, ...], where: str) -> None:
    checkout.person("branch", "same")
    checkout.git(ANN, *words, ok=True)
    (said,) = told(checkout, BOB)
    assert f'{ANN} ("try another way") switched it from branch main to ' in said
    assert where in said
    assert "no file changed" in said
    assert (told(checkout, BOB), told(checkout, ANN)) == ([], [])
    # The next step can be taken as it stands.
    checkout.git(BOB, *said.partition("use a working tree of your own: git ")[2].split(), ok=True)
    assert (checkout.root.parent / "work-2" / "a.txt").exists()
    checkout.git(BOB, "status", ok=True)
    assert told(checkout, ANN) == []


def test_a_switch_to_another_commit_says_so(checkout: Checkout) -> None:
    checkout.git(ANN, "switch", "-qc", "feat", ok=True)
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.git(ANN, "commit", "-qam", "x", ok=True)
    assert len(told(checkout, BOB)) == 1
    checkout.git(ANN, "switch", "-q", "main", ok=True)
    assert "your files changed, so read them again" in told(checkout, BOB)[0]
    checkout.git(ANN, "switch", "-q", "--detach", "feat", ok=True)
    checkout.git(ANN, "switch", "-q", "main", ok=True)
    assert ", on no branch to branch main" in told(checkout, BOB)[-1]


def test_a_branch_that_is_renamed_is_told_and_what_moves_no_branch_is_not(checkout: Checkout) -> None:
    for words in (
        ("switch", "main"),
        ("checkout", "a.txt"),
        ("branch", "new"),
        ("commit", "-qm", "x", "--allow-empty"),
    ):
        checkout.git(ANN, *words, ok=True)
    checkout.git(ANN, "switch", "nowhere", ok=False)
    assert told(checkout, BOB) == []
    checkout.git(ANN, "branch", "-m", "trunk", ok=True)
    assert told(checkout, BOB) == [
        f'{ANN} ("try another way") has renamed the branch of this working tree, main, to trunk'
    ]
