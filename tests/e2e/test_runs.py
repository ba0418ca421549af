"""Runs over the command line, in real repositories with real commands as roles: stopped, killed, and resumed."""

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.e2e.cli_driver import Call, git, start

import commonhold
from commonhold import ItemState, ItemStep
from commonhold.api.wire.changesets import parse_changeset
from commonhold.coordinator.checks import CheckValidator
from commonhold.coordinator.driver import Coordinator
from commonhold.coordinator.roles import Edited, ItemRequest, RecoveryByRules, Roles, Stop
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.projection import State, fold
from commonhold.kernel.run import CandidateOutcome, EditCandidate, ItemMoved, ItemRecord, Role, RunState
from commonhold.kernel.task import Move, Task, TaskMoved
from commonhold.runs.answers import RunAnswer
from commonhold.runs.commands import Post

pytestmark = pytest.mark.slow

LONG = 300.0
MOST_KILLS = 5
EDITOR = f"{sys.executable} {Path(__file__).with_name('run_roles.py')}"
BILLING = '''"""Prices."""


def charge(amount):
    return amount


def apply_discount(order):
    return charge(order["amount"])
'''
STORY = """
goal: "discounts in checkout"
tasks:
  - id: price
    title: "discount parameter on charge()"
    intent: "charge() takes a discount in percent"
    keys: [billing.py#charge]
    checks: ["python3 -c 'import billing; assert billing.apply_discount(dict(amount=100, discount=10)) == 90'"]
"""
RULES_OF_STORY = {
    "price": {
        "replace": [
            ["def charge(amount):", "def charge(amount, discount):"],
            ["return amount\n", "return amount * (100 - discount) // 100\n"],
            ['charge(order["amount"])', 'charge(order["amount"], order["discount"])'],
        ]
    }
}


def add_file(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", f"add {name}")


def obey(root: Path, tasks: dict[str, Any], **more: Any) -> None:
    (root.parent / "rules.json").write_text(json.dumps({"tasks": tasks, **more}), encoding="utf-8")


def calls(root: Path) -> list[dict[str, Any]]:
    log = root.parent / "calls.log"
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def lines(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def folded(root: Path) -> State:
    """The state that the whole log explains, which must be what the store has."""
    with commonhold.open(str(root)) as hold:
        log = hold.log(after=0, limit=100_000)
        shown = hold.runs(*[each.run.id for each in hold.runs(all_states=True).runs])
    state = fold(log)
    assert [each.run for each in shown.runs] == list(state.runs.values())
    assert [item.item for run in shown.runs for item in run.items] == list(state.run_items.values())
    return state


def moves(root: Path) -> list[ItemMoved]:
    with commonhold.open(str(root)) as hold:
        return [each.event for each in hold.log(after=0, limit=100_000) if isinstance(each.event, ItemMoved)]


def test_the_story_of_a_parameter_and_an_additional_lock(root: Path, run: Call) -> None:
    add_file(root, "billing.py", BILLING)
    obey(root, RULES_OF_STORY)
    (root.parent / "plan.yaml").write_text(STORY, encoding="utf-8")
    found = run("run", "../plan.yaml", "--editor", EDITOR, "--json")
    assert found.status == 0, found.err
    *events, answer = lines(found.out)
    assert answer["runs"][0]["state"] == "completed"
    steps = [each["event"]["step"] for each in events if each["kind"] == "item_moved"]
    assert steps == ["take", "propose", "refuse", "replan", "propose", "write", "accept"]
    refused = next(each["event"]["outcome"] for each in events if each["event"].get("step") == "refuse")
    assert (refused["code"], refused["keys"]) == ("REQUIRE_ADDITIONAL_LOCKS", ["file:billing.py#apply_discount"])
    replanned = next(each["event"]["locks"] for each in events if each["event"].get("step") == "replan")
    assert replanned["locking"] == "leased"
    assert replanned["keys"] == ["file:billing.py#charge", "file:billing.py#apply_discount"]
    first, second = calls(root)
    assert (first["refusal"], second["refusal"]["code"]) == (None, "REQUIRE_ADDITIONAL_LOCKS")
    assert 'charge(order["amount"], order["discount"])' in (root / "billing.py").read_text(encoding="utf-8")
    state = folded(root)
    assert {each.state.value for each in state.tasks.values()} == {"landed"}
    assert state.leases == {}
    (item,) = state.run_items.values()
    assert (item.usage.tokens_in, item.repair_usage.tokens_in) == (200, 100)
    assert run("run", "list").text.startswith("no run is open")
    assert "completed" in run("run", "list", "--all").text
    assert "used: 200 tokens in, 20 out, $0.0200" in run("run", "show", answer["runs"][0]["id"]).text


def test_a_changed_region_gets_a_new_candidate_and_the_old_one_is_never_sent_again(root: Path, run: Call) -> None:
    meanwhile = (root / "a.py").read_text(encoding="utf-8").replace("one() * value", "one() * value * 2")
    obey(root, {"grow": {"replace": [["one() * value", "one() + value"]]}}, meanwhile=["a.py", meanwhile])
    plan = b'[{"id": "grow", "title": "plus", "keys": ["a.py#two"]}]'
    found = run("run", "-", "--editor", EDITOR, "--json", stdin=plan)
    assert found.status == 0, found.err
    assert "one() + value * 2" in (root / "a.py").read_text(encoding="utf-8")
    proposed = [each.candidate.changeset for each in moves(root) if each.candidate is not None]
    assert len(proposed) == len(set(proposed)) == 2
    refused = [each.outcome.code for each in moves(root) if each.step is ItemStep.REFUSE and each.outcome]
    assert refused == ["REGION_CHANGED"]


def test_a_failed_check_reopens_the_item_and_the_next_editor_is_given_the_failure(root: Path, run: Call) -> None:
    obey(root, {"grow": {"replace": [["return os.sep", "return 'wrong'"]], "until_failure": ["wrong", "right"]}})
    plan = b'[{"id": "grow", "title": "right", "keys": ["a.py#one"], "checks": ["grep -q right a.py"]}]'
    rules = json.loads((root.parent / "rules.json").read_text(encoding="utf-8"))
    rules["tasks"]["grow"]["replace"].append(["return 'wrong'", "return 'wrong' "])
    (root.parent / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    found = run("run", "-", "--editor", EDITOR, "--json", stdin=plan)
    assert found.status == 0, found.err
    assert [each["failure"][:34] for each in calls(root)] == ["", "the check `grep -q right a.py` fai"]
    assert "return 'right'" in (root / "a.py").read_text(encoding="utf-8")
    assert [each.event.move for each in _task_moves(root)] == [
        Move.CLAIM,
        Move.RETURN,
        Move.CLAIM,
        Move.FINISH,
        Move.LAND,
    ]


def _task_moves(root: Path) -> list[Any]:
    with commonhold.open(str(root)) as hold:
        return [each for each in hold.log(after=0, limit=100_000) if isinstance(each.event, TaskMoved)]


def test_an_editor_that_cannot_fails_the_item_at_its_cap_and_those_that_need_it(root: Path, run: Call) -> None:
    obey(root, {"a": {"fail": "too hard"}, "b": {"unchanged": "-"}, "c": {"create": [["new.py", "x = 1\n"]]}})
    plan = b"""[{"id": "a", "title": "a", "attempts": 2}, {"id": "b", "title": "b", "needs": ["a"]},
                {"id": "c", "title": "c", "keys": ["new.py"]}]"""
    found = run("run", "-", "--editor", EDITOR, "--editors", "2", stdin=plan)
    assert found.status == 1
    assert "too hard (attempt 2 of 2)" in found.text
    assert "next: commonhold task reopen a --note WHY; commonhold run --resume r" in found.text
    assert (root / "new.py").read_text(encoding="utf-8") == "x = 1\n"
    state = folded(root)
    assert {each.task_id: each.state for each in state.run_items.values()} == {
        "a": ItemState.FAILED,
        "b": ItemState.OPEN,
        "c": ItemState.ACCEPTED,
    }
    (name,) = state.runs
    assert run("task", "reopen", "a", "--reason", "it is easy now").status == 0
    obey(root, {"a": {"unchanged": "nothing to do"}, "b": {"unchanged": "-"}})
    resumed = run("run", "--resume", name, "--editor", EDITOR)
    assert resumed.status == 0
    assert "too hard" not in resumed.text, "that is of the time before"
    assert folded(root).runs[name].state is RunState.COMPLETED


@dataclass
class _Interrupted:
    """An editor whose first call meets an error of the store."""

    calls: int = 0

    def edit(self, _request: ItemRequest, _stop: Stop) -> Edited:
        self.calls += 1
        if self.calls == 1:
            raise StoreError(Code.STORE_BUSY, "the disk is full", hint="make room")
        return Edited(None, "it is so already")


def test_an_item_goes_on_after_an_error_of_the_store(root: Path) -> None:
    roles = Roles(_Interrupted(), CheckValidator(10), RecoveryByRules())
    with commonhold.open(str(root), agent="boss") as hold:
        (run,) = hold.start_run(Task("one", "a title")).runs
        coordinator = Coordinator(hold, lambda name: commonhold.open(str(root), agent=name), roles)
        (ended,) = coordinator.carry_out(run.run).runs
    assert ended.run.state is RunState.COMPLETED
    assert ended.items[0].item.round == 1


def item_of(answer: RunAnswer) -> ItemRecord:
    assert answer.item is not None, answer.why
    return answer.item.item


def test_a_candidate_is_known_as_written_when_its_answer_is_forgotten(root: Path) -> None:
    with commonhold.open(str(root), agent="boss") as hold:
        (run,) = hold.start_run(Task("one", "a title")).runs
        item = item_of(hold.take_item(run.run.id, fence=run.run.fence))
        candidate = EditCandidate(item.round, "{}")
        post = Post("one", ItemStep.PROPOSE, item.last, Role.EDITOR, candidate=candidate)
        item = item_of(hold.post(run.run.id, post, fence=run.run.fence))
        with commonhold.open(str(root), agent=item.session) as session:
            (region,) = session.read("a.py#one")
            edit = {
                "op": "replace",
                "key": "a.py#one",
                "base": region.hash,
                "text": str(region.text).replace("os.sep", "'/'"),
            }
            made = session.commit(parse_changeset(json.dumps({"edits": [edit], "request_id": "by hand"})))
        refused = CandidateOutcome("REGION_CHANGED", "its base has changed")
        post = Post("one", ItemStep.REFUSE, item.last, Role.EDITOR, outcome=refused)
        item = item_of(hold.post(run.run.id, post, fence=run.run.fence))
        assert (item.state, item.admitted) == (ItemState.WRITTEN, (made.sequence,))


def test_an_item_names_the_lease_that_its_editor_waits_for(root: Path) -> None:
    with commonhold.open(str(root), agent="boss") as hold, commonhold.open(str(root), agent="ben") as ben:
        held = ben.acquire("a.py#one").lease
        assert held is not None
        (run,) = hold.start_run(Task("one", "a title")).runs
        item = item_of(hold.take_item(run.run.id, fence=run.run.fence))
        with commonhold.open(str(root), agent=item.session) as editor:
            editor.acquire("a.py#one", patience_seconds=LONG, ticket="a-place")
            (found,) = hold.runs(run.run.id).runs[0].items
            assert found.why == "it waits for ben's lease on file:a.py#one"
            ben.release(held.id)
            (found,) = hold.runs(run.run.id).runs[0].items
            assert found.why == ""


def test_a_planner_makes_the_items_of_a_goal(root: Path, run: Call) -> None:
    (root.parent / "planned.json").write_text("nonsense", encoding="utf-8")
    obey(root, {"a": {"unchanged": "it is so already"}})
    wanted = ("run", "--goal", "all is well", "--planner", EDITOR, "--editor", EDITOR)
    failed = run(*wanted)
    assert failed.status == 3
    assert "ROLE_FAILED" in failed.err
    assert "commonhold run --resume" in failed.err
    planned = {"tasks": [{"id": "a", "title": "a"}], "usage": {"tokens_in": 7, "tokens_out": 3, "cost": 0.5}}
    (root.parent / "planned.json").write_text(json.dumps(planned), encoding="utf-8")
    (name,) = folded(root).runs
    assert run("run", "--resume", name, "--planner", EDITOR, "--editor", EDITOR).status == 0
    assert folded(root).runs[name].usage == commonhold.TokenUsage(7, 3, 0.5)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("run", "start"), 2, "a run needs a plan"),
        (("run", "-"), 2, "no editor was named"),
        (("run", "nowhere.yaml", "--editor", "true"), 3, "there is no file 'nowhere.yaml'"),
        (("run", "--resume", "r99", "--editor", "true"), 3, "there is no run 'r99'"),
        (("run", "shw"), 2, "did you mean `commonhold run show`"),
        (("run", "--json", "lits"), 2, ""),
        (("run", "show", "r99"), 3, "there is no run 'r99'"),
        (("run", "cancel", "r99", "--note", "x"), 3, "there is no run 'r99'"),
        (("run", "-", "--editor", "true", "--deadline", "soon"), 2, "--deadline takes a time above zero, not 'soon'"),
        (
            ("run", "-", "--editor", "true", "--editors", "0"),
            2,
            "--editors takes a whole number from 1 up to 200, not 0",
        ),
        (("run", "-", "--editor", "true", "--as", "a b"), 2, "cannot name the editors"),
        (("run", "-", "--editor", " "), 2, "the command of --editor is empty"),
        (("run", "-", "--editor", "true", "--validator", ""), 2, "the command of --validator is empty"),
        (("run", "-", "--editor", "true", "--check", ""), 2, "the command of --check is empty"),
    ],
)
def test_bad_input_begins_nothing(root: Path, run: Call, words: tuple[str, ...], status: int, said: str) -> None:
    found = run(*words, stdin=b'[{"id": "a", "title": "a"}]')
    assert found.status == status
    assert said in found.err
    assert folded(root).runs == {}


def _wait_for(process: subprocess.Popen[bytes], is_so: Callable[[], object]) -> None:
    """Wait until something is so, or until the process has ended."""
    end = time.monotonic() + LONG
    while process.poll() is None and not is_so():
        assert time.monotonic() < end, "the run does not go on"
        time.sleep(0.05)


def test_a_plan_is_not_begun_twice_and_a_run_can_be_given_up(root: Path, run: Call) -> None:
    obey(root, {"a": {"unchanged": "-"}})
    (root / "plan.json").write_text('[{"id": "a", "title": "a"}]', encoding="utf-8")
    go, answer = root.parent / "go", root.parent / "answer"
    waiting = f"{EDITOR} > {answer}; until [ -e {go} ]; do sleep 0.05; done; cat {answer}"
    first = start("run", "plan.json", "--editor", waiting, cwd=root)
    _wait_for(first, lambda: calls(root))
    (name,) = folded(root).runs
    refused = run("run", "plan.json", "--editor", EDITOR)
    assert refused.status == 1
    assert name in refused.text
    assert run("run", "cancel", name, "--note", "wrong plan").status == 0
    go.touch()
    first.communicate(timeout=LONG)
    assert first.returncode == 1
    state = folded(root)
    assert state.runs[name].state is RunState.CANCELLED
    assert (state.leases, state.tasks["a"].tries) == ({}, 0)


def test_a_run_says_what_it_waits_for_and_with_which_options_it_goes_on(root: Path, run: Call) -> None:
    (root / "plan.json").write_text('[{"id": "a", "title": "a"}]', encoding="utf-8")
    run("task", "import", "plan.json")
    run("task", "claim", "a", "--agent", "ben")
    process = start("run", "plan.json", "--editor", EDITOR, "-n", "2", "--validator", "my check", cwd=root)
    assert process.stderr is not None
    assert process.stderr.readline() == b"waiting: a: it is claimed by ben (attempt 1)\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=LONG)
    (name,) = folded(root).runs
    again = f"next: commonhold run --resume {name} --editor {shlex.quote(EDITOR)} --validator 'my check' -n 2\n"
    assert again in out.decode()


def _plan_of_five(root: Path, seconds: float) -> Path:
    """Five functions in two files; editing one of them twice would show."""
    for name in ("one.py", "two.py"):
        functions = [f"def f{number}():\n    return 0\n" for number in range(3)]
        add_file(root, name, "\n\n".join(functions))
    tasks: list[dict[str, Any]] = [
        {"id": f"t{place}-x", "title": "add", "keys": [key]} for place, key in enumerate(_keys())
    ]
    tasks[-1]["needs"] = ["t0-x"]
    obey(root, {each["id"]: {"replace": [["return 0", "return 0 + 1"]]} for each in tasks}, seconds=seconds)
    plan = root.parent / "plan.json"
    plan.write_text(json.dumps({"tasks": tasks}), encoding="utf-8")
    return plan


def _keys() -> list[str]:
    return [*(f"one.py#f{number}" for number in range(3)), *(f"two.py#f{number}" for number in range(2))]


def _is_edited_once(root: Path) -> bool:
    texts = [(root / name).read_text(encoding="utf-8") for name in ("one.py", "two.py")]
    return [text.count("0 + 1") for text in texts] == [3, 2] and not any("1 + 1" in text for text in texts)


def test_ctrl_c_gives_all_back_and_a_resumed_run_goes_on(root: Path) -> None:
    plan = _plan_of_five(root, seconds=1.0)
    first = start("run", str(plan), "--editor", EDITOR, "--editors", "2", "--ttl", "60", cwd=root)
    _wait_for(first, lambda: any(each.step is ItemStep.ACCEPT for each in moves(root)))
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=LONG)
    assert first.returncode == 130, err
    assert b"stopping" in err
    state = folded(root)
    (name,) = state.runs
    assert state.runs[name].state is RunState.STOPPED
    assert state.leases == {}
    assert all(each.tries == 0 for each in state.tasks.values() if each.state.value == "open")
    done = {each.task_id for each in moves(root) if each.step is ItemStep.ACCEPT}
    again = start("run", "--resume", name, "--editor", EDITOR, "--editors", "2", cwd=root)
    again.communicate(timeout=LONG)
    assert again.returncode == 0
    assert _is_edited_once(root)
    state = folded(root)
    assert state.runs[name].state is RunState.COMPLETED
    assert all(each.attempt == 1 for each in state.tasks.values() if each.id in done)


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_killed_again_and_again_loses_nothing_and_does_nothing_twice(root: Path, seed: int) -> None:
    random = Random(seed)
    plan = _plan_of_five(root, seconds=0.2)
    words = [str(plan)]
    kills = 0
    while True:
        process = start("run", *words, "--editor", EDITOR, "--editors", "2", "--ttl", "2", cwd=root)
        steps = len(moves(root)) + random.randint(1, 6)
        if kills < MOST_KILLS:
            _wait_for(process, lambda: len(moves(root)) >= steps)  # noqa: B023 - called at once
            time.sleep(random.uniform(0.0, 0.1))  # between two steps
        if kills == MOST_KILLS or process.poll() is not None:
            said = process.communicate(timeout=LONG)
            # The last kill may have come when the run was completed already.
            assert process.returncode == 0 or b"is completed" in said[0], said
            break
        process.kill()
        process.communicate()
        kills += 1
        words = ["--resume", *folded(root).runs]
    assert kills
    state = folded(root)
    assert [each.state for each in state.runs.values()] == [RunState.COMPLETED]
    assert _is_edited_once(root)
    landed = [each.event.task_id for each in _task_moves(root) if each.event.move is Move.LAND]
    assert sorted(landed) == sorted(state.tasks)
    assert state.leases == {}
