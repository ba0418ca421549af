"""Uncommitted work of a session that has ended: another can make it its own, and so go on, without a person."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.git_sessions import IDENTITY, Checkout, make_checkout

from commonhold.kernel.events import Committed

pytestmark = pytest.mark.slow

ANN, BOB, CAT = "claude:ann", "codex:bob", "gemini:cat"
CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
BOBS = CODE.replace("return 2", "return 22")
ANNS = CODE.replace("return 2", "return 0")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Bob changes `two` and ends; Ann changes it again, with a shell command, say."""
    made = make_checkout(tmp_path / "work", {"app.py": CODE, "b.txt": "b\n"})
    with made.log_of(str(made.root), BOB) as bob:
        bob.start_session()
        made.edit(BOB, "app.py", BOBS)
        made.edit(f"{BOB}/part", "b.txt", "bob\n")
    made.edit(ANN, "app.py", ANNS)
    return made


def ended(checkout: Checkout, holder: str) -> None:
    with checkout.log_of(str(checkout.root), holder) as log:
        log.end_session()


def pasted(checkout: Checkout, said: str) -> str:
    """Run the call that was told."""
    step = said.partition("make it yours: ")[2].partition(", then")[0].partition(", or ")[0]
    assert step.startswith("commonhold adopt ")
    environment = os.environ | IDENTITY | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", step.rstrip(")")], cwd=checkout.root, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_who_builds_on_what_is_left_can_adopt_it_and_commit(checkout: Checkout) -> None:
    said = checkout.git(ANN, "add", "-A", ok=True).said
    assert f"app.py (it changes lines that they wrote and have not committed: {BOB}. Next: wait until they have" in said
    ended(checkout, BOB)
    said = checkout.git(ANN, "add", "-A", ok=True).said
    assert (
        f"none of them is known to be at work any more, so make it yours: commonhold adopt file:app.py --from {BOB}"
        in said
    )
    assert pasted(checkout, said) == f"adopted: app.py, from {BOB}\n"
    checkout.git(ANN, "add", "app.py", ok=True)
    checkout.git(ANN, "commit", "-qm", "x", ok=True)
    assert checkout.committed("app.py") == ANNS
    assert checkout.changed_in() == {"app.py"}, "b.txt was not adopted"
    with checkout.log_of(str(checkout.root), BOB) as bob:
        (event,) = [each.event for each in bob.log() if isinstance(each.event, Committed) and each.event.adopts]
        assert (event.holder, event.adopts, event.intent) == (ANN, BOB, f"adopted what {BOB} had not committed")
        assert bob.news()[0].notice == f"{ANN} adopted what you had not committed in app.py"


def test_the_short_name_in_messages_is_enough(checkout: Checkout) -> None:
    whole = "codex:26baef9a-1111-4111-8111-111111111111"
    checkout.edit(whole, "b.txt", "its\n")
    ended(checkout, whole)
    step = f"make it yours: commonhold adopt b.txt --from codex:26baef9a --agent {ANN}"
    assert pasted(checkout, step) == f"adopted: b.txt, from {whole}\n"


def test_a_pull_is_not_kept_back_by_those_who_have_ended(checkout: Checkout) -> None:
    tree = checkout.root.parent / "tree"
    checkout.person("worktree", "add", "-q", "-b", "other", str(tree))
    (tree / "b.txt").write_text("other\n")
    checkout.person("-C", str(tree), "commit", "-qam", "other")
    checkout.edit(ANN, "app.py", CODE)
    ended(checkout, BOB)
    said = checkout.refused(ANN, "merge", "other")
    assert f"b.txt ({BOB}/part)" in said
    assert pasted(checkout, said) == f"adopted: b.txt, from {BOB}/part\n"
    checkout.git(ANN, "checkout", "b.txt", ok=True)
    checkout.git(ANN, "merge", "-q", "other", ok=True)
    assert checkout.committed("b.txt") == "other\n"


def test_who_is_at_work_keeps_its_work(checkout: Checkout) -> None:
    with checkout.log_of(str(checkout.root), ANN) as ann:
        for owner in (BOB, f"{BOB}/part"):
            answer = ann.adopt("app.py", owner=owner)
            assert (answer.outcome, answer.why) == ("refused", f"{owner} is still at work, and commits its work itself")
    ended(checkout, BOB)
    with checkout.log_of(str(checkout.root), BOB) as bob:
        lease = bob.acquire("b.txt").lease
        assert lease is not None
        with checkout.log_of(str(checkout.root), ANN) as ann:
            assert ann.adopt("app.py", owner=BOB).outcome == "refused"
        bob.release(lease.id)
    assert checkout.git(ANN, "diff", "--cached", "--name-only", ok=True).out == ""


def test_it_is_all_or_nothing_and_of_one_alone(checkout: Checkout) -> None:
    ended(checkout, BOB)
    checkout.edit(CAT, "c.txt", "cat\n")
    with checkout.log_of(str(checkout.root), ANN) as ann:
        answer = ann.adopt("app.py", "c.txt", owner=BOB)
        assert answer.why == f"Commonhold knows of no change of c.txt by {BOB} in this working tree"
        assert ann.adopt("app.py", "b.txt", owner=BOB).paths == ("app.py", "b.txt"), "its subagents' work is its own"
    checkout.git(ANN, "add", "-A", ok=True)
    checkout.git(ANN, "commit", "-qm", "x", ok=True)
    assert checkout.changed_in() == {"app.py", "b.txt"}


def test_what_was_deleted_and_what_it_does_later(checkout: Checkout) -> None:
    checkout.edit(BOB, "b.txt", None)
    ended(checkout, BOB)
    with checkout.log_of(str(checkout.root), ANN) as ann:
        assert ann.adopt("b.txt", owner=BOB).outcome == "adopted"
    checkout.git(ANN, "rm", "-q", "--cached", "b.txt", ok=True)
    checkout.git(ANN, "commit", "-qm", "x", ok=True)
    assert checkout.committed("b.txt") is None
    checkout.edit(BOB, "b.txt", "again\n")
    assert BOB in checkout.git(ANN, "add", "b.txt", ok=True).said, "what it does afterwards is its own"


@pytest.mark.parametrize("words", [("app.py", "--from", ANN), ("app.py", "--from", "outside"), ("--from", BOB)])
def test_nobody_adopts_its_own_or_a_persons(checkout: Checkout, words: tuple[str, ...]) -> None:
    line = shlex.join(("commonhold", "adopt", *words, "--agent", ANN))
    environment = os.environ | IDENTITY | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", line], cwd=checkout.root, env=environment, capture_output=True, check=False)
    assert done.returncode in {2, 3}, "a mistake in the call, or in a name"
