"""Tasks over the command line and the SDK, in real repositories: done is not landed, and names are no identities."""

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.e2e.cli_driver import Outcome, call, git, make_repository, start

import commonhold

Run = Callable[..., Outcome]
PLAN = """
target: main
tasks:
  - {id: price, title: "a discount on one()", keys: ["a.py#one"]}
  - {id: apply, title: "use it", needs: [price], keys: ["a.py#two"]}
  - {id: docs, title: "say so", keys: [README.md], labels: [docs]}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "work")


@pytest.fixture
def run(root: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(root)
    monkeypatch.setenv("COMMONHOLD_AGENT", "ann")

    def run_here(*words: str, stdin: bytes = b"") -> Outcome:
        return call(capsysbinary, monkeypatch, *words, stdin=stdin)

    return run_here


def planned(run: Run) -> None:
    assert run("task", "import", "-", stdin=PLAN.encode()).status == 0


def conditions(run: Run) -> dict[str, str]:
    listed = run("task", "list", "--all", "--json").json
    return {each["id"]: each["condition"] for each in listed["tasks"]}


def fence(run: Run, task: str, *words: str) -> str:
    return str(run("task", "claim", task, "--json", *words).json["lease"]["fence"])


def head(root: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def committed(root: Path, name: str) -> str:
    (root / name).write_text("x\n", encoding="utf-8")
    git(root, "add", name)
    git(root, "commit", "--quiet", "-m", name)
    return head(root)


def test_a_plan_is_imported_listed_claimed_and_done(run: Run, root: Path) -> None:
    planned(run)
    assert conditions(run) == {"price": "ready", "apply": "blocked", "docs": "ready"}
    claimed = run("task", "claim").text
    assert claimed.startswith("claimed price: a discount on one() (attempt 1, fence 4)")
    assert "next: commonhold task done price --fence 4" in claimed
    assert "  fence: 4, of ann\n" in run("task", "show", "price").text
    done = run("task", "done", "price", "--fence", "4", "--commit", committed(root, "new.txt")[:10])
    assert (done.status, done.text.splitlines()[0]) == (0, 'price is landed: "part of main"')
    assert conditions(run) == {"price": "landed", "apply": "ready", "docs": "ready"}


def test_a_commit_on_a_branch_is_stranded_and_its_needers_do_not_start(run: Run, root: Path) -> None:
    planned(run)
    number = fence(run, "price")
    git(root, "switch", "--quiet", "-c", "feature")
    commit = committed(root, "new.txt")
    run("task", "done", "price", "--fence", number, "--commit", "HEAD")
    assert conditions(run)["price"] == "stranded"
    assert f"{commit[:12]} has been waiting for main for" in run("task", "list").text
    refused = run("task", "claim", "apply", "--json")
    assert (refused.status, refused.json["code"]) == (1, "TASK_NOT_READY")
    assert refused.json["instead"] == "docs"
    git(root, "switch", "--quiet", "main")
    git(root, "merge", "--quiet", "--ff-only", "feature")
    assert run("task", "claim", "apply").status == 0


def test_a_target_that_is_reset_strands_what_had_landed(run: Run, root: Path) -> None:
    planned(run)
    before = head(root)
    number = fence(run, "price")
    committed(root, "new.txt")
    run("task", "done", "price", "--fence", number, "--commit", "HEAD")
    assert conditions(run)["price"] == "landed"
    git(root, "reset", "--quiet", "--hard", before)
    assert conditions(run) == {"price": "stranded", "apply": "blocked", "docs": "ready"}
    assert "no longer part of main" in run("task", "show", "price").text


def test_a_change_refused_at_landing_goes_back_to_its_session_with_commit_and_reason(run: Run, root: Path) -> None:
    planned(run)
    number = fence(run, "price")
    git(root, "switch", "--quiet", "-c", "feature")
    commit = committed(root, "new.txt")
    run("task", "done", "price", "--fence", number, "--commit", "HEAD")
    run("task", "refuse", "price", "--reason", "test_billing fails", "--agent", "queue")
    other = run("task", "claim", "price", "--agent", "ben", "--json").json
    assert (other["code"], other["waiting"][0]["why"]) == (
        "TASK_NOT_READY",
        "it was refused at landing and is reserved for ann",
    )
    again = run("task", "claim", "--json").json["tasks"][0]
    assert (again["id"], again["result"]["commit"]) == ("price", commit)
    assert (again["attempts"][0]["end"], again["attempts"][0]["note"]) == ("refuse", "test_billing fails")
    assert "  attempt 1 by ann: refused " in run("task", "show", "price").text


def test_three_processes_of_one_name_get_one_claim(run: Run, root: Path) -> None:
    run("task", "add", "append one line", "--id", "line", "--for", "writer")
    command = [sys.executable, "-m", "commonhold", "task", "claim", "line", "--agent", "writer", "--json"]
    writers = [warm.Warm(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    answers = [json.loads(each.communicate(timeout=120)[0]) for each in writers]
    assert sorted(each["outcome"] for each in answers) == ["claimed", "none", "none"]
    (number,) = [each["tasks"][0]["fence"] for each in answers if each["outcome"] == "claimed"]
    taken = [each for each in answers if each["outcome"] == "none"]
    assert {(each["code"], each["why"]) for each in taken} == {
        ("TASK_TAKEN", f"line cannot be claimed: it is claimed by writer (attempt 1) under the fence {number}")
    }


def test_two_processes_that_add_at_once_get_a_number_for_each_task(root: Path) -> None:
    code = (
        "import sys, commonhold\n"
        "from commonhold import Task\n"
        "with commonhold.open('.', agent=sys.argv[1]) as hold:\n"
        "    for n in range(50):\n"
        "        hold.add_tasks(Task('', f'{sys.argv[1]} {n}'))\n"
    )
    makers = [subprocess.Popen([sys.executable, "-c", code, name], cwd=root) for name in ("one", "two")]
    assert [each.wait(timeout=240) for each in makers] == [0, 0]
    with commonhold.open(str(root), agent="ann") as hold:
        tasks = [each.record.task for each in hold.tasks().tasks]
    assert (len(tasks), len({each.id for each in tasks})) == (100, 100)
    assert {each.title for each in tasks} == {f"{name} {n}" for name in ("one", "two") for n in range(50)}


def test_commits_through_commonhold_land_in_a_working_tree_of_the_target(run: Run) -> None:
    planned(run)
    number = fence(run, "price")
    nothing = run("task", "done", "price", "--fence", number)
    assert nothing.status == 2
    assert "this session has committed nothing here since its claim" in nothing.err
    shown = run("show", "a.py#one", "--json").json["regions"][0]
    assert run("commit", "--key", "a.py#one", "--base", shown["hash"], stdin=b"def one(): return 2\n").status == 0
    assert run("task", "done", "price", "--fence", number, "--json").json["tasks"][0]["condition"] == "landed"
    assert "commit" in run("task", "show", "price").text
    assert run("task", "show", "price", "--json").json["changes"][0]["keys"]


def test_commits_through_commonhold_on_another_branch_do_not_count(run: Run, root: Path) -> None:
    planned(run)
    number = fence(run, "price")
    git(root, "switch", "--quiet", "-c", "feature")
    shown = run("show", "a.py#one", "--json").json["regions"][0]
    run("commit", "--key", "a.py#one", "--base", shown["hash"], stdin=b"def one(): return 2\n")
    refused = run("task", "done", "price", "--fence", number)
    assert (refused.status, "this working tree is not on main" in refused.err) == (2, True)


def test_a_task_may_end_without_a_change_or_without_success(run: Run) -> None:
    planned(run)
    done = run("task", "done", "docs", "--fence", fence(run, "docs"), "--unchanged", "--note", "it said so already")
    assert done.text.startswith('docs is landed: "it said so already"')
    failed = run("task", "fail", "price", "--fence", fence(run, "price"), "--reason", "could not")
    assert failed.text.startswith('price is ready: "could not"')
    assert run("task", "cancel", "price", "--reason", "not needed").status == 0
    assert run("task", "reopen", "price", "--reason", "needed after all").text.startswith("price is ready")
    again = run("task", "cancel", "docs", "--reason", "x")
    assert (again.status, again.text.splitlines()[0]) == (
        1,
        "refused [TASK_CHANGED]: docs is landed, so there is nothing to cancel",
    )
    other = run("task", "add", "another title", "--id", "docs").text.splitlines()
    assert (other[0].partition(":")[0], other[-1].partition(",")[0]) == (
        "refused [TASK_EXISTS]",
        "hint: Give the new task another name",
    )


def test_a_stale_fence_is_refused(run: Run) -> None:
    planned(run)
    number = int(fence(run, "docs"))
    refused = run("task", "done", "docs", "--fence", str(number + 1), "--unchanged", "--note", "x", "--json")
    assert (refused.status, refused.json["code"]) == (1, "TASK_TAKEN")


def test_a_list_shows_that_a_claim_has_ended(run: Run) -> None:
    planned(run)
    run("task", "claim", "docs", "--ttl", "0.000001")
    assert conditions(run)["docs"] == "ready"
    assert "its lease ended before it was done" in run("task", "show", "docs").text


def test_a_circle_is_refused_and_shown(run: Run) -> None:
    plan = b"[{id: a, title: a, needs: [b]}, {id: b, title: b, needs: [a]}]"
    refused = run("task", "import", "-", "--json", stdin=plan)
    assert (refused.status, refused.json["code"], refused.json["circle"]) == (1, "TASK_IN_CIRCLE", ["a", "b", "a"])
    assert conditions(run) == {}


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("show", "nope"), 3, "TASK_UNKNOWN"),
        (("claim", "nope"), 3, "TASK_UNKNOWN"),
        (("done", "nope", "--fence", "1", "--commit", "HEAD"), 3, "TASK_UNKNOWN"),
        (("done", "docs", "--fence", "1", "--commit", "nope"), 3, "REVISION_UNKNOWN"),
        (("done", "docs", "--fence", "1", "--commit", "HEAD", "--unchanged"), 2, "USAGE"),
        (("done", "docs", "--fence", "1", "--unchanged"), 2, "USAGE"),
        (("add", "x", "--need", "nope"), 3, "TASK_UNKNOWN"),
        (("add", "x", "--estimate", "soon"), 2, "USAGE"),
        (("add", "x", "--deadline", "soon"), 2, "USAGE"),
        (("add", " "), 3, "PLAN_INVALID"),
        (("add", "x", "--id", "t1"), 3, "PLAN_INVALID"),
        (("add", "x", "--key", "/etc/passwd"), 3, "PATH_OUTSIDE"),
        (("import", "nope.yaml"), 3, "FILE_NOT_FOUND"),
        (("import", "."), 3, "NOT_A_FILE"),
        (("claim", "--ttl", "-1"), 2, "TTL_INVALID"),
    ],
)
def test_wrong_calls_are_errors(run: Run, words: tuple[str, ...], status: int, code: str) -> None:
    planned(run)
    found = run("task", *words, "--json")
    assert (found.status, found.json["code"] if found.out else json.loads(found.err)["code"]) == (status, code)


def test_a_repeated_request_gets_the_first_answer(run: Run) -> None:
    planned(run)
    first, second = (run("task", "claim", "--request-id", "r1", "--json").json for _ in range(2))
    assert first["lease"]["id"] == second["lease"]["id"]
    other = run("task", "claim", "docs", "--request-id", "r1", "--json")
    assert (other.status, json.loads(other.err or other.out)["code"]) == (2, "REQUEST_ID_REUSED")


def test_a_plan_can_be_imported_again_and_a_changed_one_cannot(run: Run) -> None:
    planned(run)
    again = run("task", "import", "-", "--json", stdin=PLAN.encode()).json
    assert (again["tasks"], again["unchanged"]) == ([], ["price", "apply", "docs"])
    changed = run("task", "import", "-", "--json", stdin=PLAN.replace("say so", "say more").encode()).json
    assert changed["code"] == "TASK_EXISTS"


def test_a_blocked_acquire_names_a_task_that_is_free(run: Run) -> None:
    planned(run)
    run("acquire", "a.py", "--agent", "ben")
    refused = run("acquire", "a.py", "--json").json
    assert refused["outcome"] == "denied"
    assert "meanwhile the task docs is free: commonhold task claim docs" in refused["notices"]
    run("acquire", "README.md", "--agent", "ben")
    assert "notices" not in run("acquire", "a.py", "--json").json or not any(
        "meanwhile" in each for each in run("acquire", "a.py", "--json").json["notices"]
    )


def test_eight_sessions_that_claim_at_once_get_eight_tasks(root: Path) -> None:
    with commonhold.open(str(root), agent="ann") as hold:
        hold.add_tasks(*(commonhold.Task(f"p{n}", f"task {n}") for n in range(8)))

    def claim(number: int) -> Any:
        with commonhold.open(str(root), agent=f"agent-{number}") as hold:
            return hold.claim_task().tasks[0].record.id

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(claim, range(8))) == [f"p{n}" for n in range(8)]


def test_tasks_work_in_a_folder_without_git(tmp_path: Path) -> None:
    with commonhold.open(str(tmp_path), agent="ann") as hold:
        hold.add_tasks(commonhold.Task("a", "title"))
        claimed = hold.claim_task().tasks[0].record
        with pytest.raises(commonhold.InputError) as raised:
            hold.change_task("a", commonhold.TaskAction.DONE, fence=claimed.fence, commit="HEAD")
        assert raised.value.code is commonhold.Code.REPOSITORY_PLAIN
        hold.commit(commonhold.Changeset((commonhold.Edit(commonhold.Op.CREATE_FILE, "file:b.txt", text="x"),), "new"))
        done = hold.change_task("a", commonhold.TaskAction.DONE, fence=claimed.fence)
        assert done.tasks[0].condition == "landed"


def test_texts_of_others_cannot_steer_a_terminal(run: Run) -> None:
    run("task", "add", "title \u202e reversed", "--id", "a")
    assert "\u202e" not in run("task", "list").text


UNDECLARED = """
tasks:
  - {id: first, title: "one() returns a text"}
  - {id: second, title: "document one()", estimate: 20m}
  - {id: other, title: "two() returns a text"}
"""


def test_a_plan_is_checked_before_it_is_imported(run: Run) -> None:
    found = run("plan", "check", "-", "--agents", "2", "--json", stdin=PLAN.encode()).json
    assert (found["outcome"], found["overlaps"], found["agents"]) == ("checked", [], 2)
    assert [(each["task"], each["begins"]) for each in found["schedule"]] == [("price", 0), ("docs", 0), ("apply", 600)]
    assert found["speed_up"] == 1.5
    assert conditions(run) == {}, "a check adds nothing"


def test_a_task_without_keys_is_checked_by_what_its_text_names(run: Run) -> None:
    found = run("plan", "check", "-", "--json", stdin=UNDECLARED.encode()).json
    overlap = found["overlaps"][0]
    assert {overlap["one"], overlap["other"]} == {"first", "second"}
    assert overlap["key"] == "file:a.py#one"
    assert found["tasks"][0]["predicted"][0]["regions"] == ["one"]
    words = run("plan", "check", "-", stdin=UNDECLARED.encode()).text
    assert "first and second: file:a.py#one, with a probability of" in words
    assert "  agent 1: second (0:00 to 0:20), " in words


def test_a_plan_with_a_circle_is_refused_with_its_path(run: Run) -> None:
    plan = b"[{id: a, title: x, needs: [b]}, {id: b, title: y, needs: [a]}]"
    found = run("plan", "check", "-", "--json", stdin=plan)
    assert (found.status, found.json["code"]) == (1, "TASK_IN_CIRCLE")
    assert found.json["circle"] in (["a", "b", "a"], ["b", "a", "b"])
    assert run("plan", "check", "-", stdin=b"[{title: x, needs: [gone]}]").status == 3
    assert run("plan", "check", "-", stdin=b"[{id: a b, title: x}]").status == 3


def test_a_target_that_does_not_exist_is_refused(run: Run) -> None:
    refused = run("task", "import", "-", "--json", stdin=b"[{title: x, target: nobranch}]")
    assert refused.json["code"] == "REVISION_UNKNOWN"


def test_predicted_keys_are_kept_with_the_task_and_shown_to_the_session_that_claims_it(run: Run) -> None:
    assert run("task", "import", "-", "--predict", stdin=UNDECLARED.encode()).status == 0
    claimed = run("task", "claim", "first")
    assert "  predicted key: file:a.py#one" in claimed.text.splitlines()
    assert run("task", "claim", "second", "--agent", "bob", "--json").json["collisions"][0]["key"] == "file:a.py#one"
    assert run("task", "import", "-", stdin=UNDECLARED.encode()).status == 0, "predictions are no part of a definition"


def test_sessions_are_shown_as_busy_or_idle(run: Run) -> None:
    planned(run)
    run("task", "claim", "price")
    run("acquire", "other:thing", "--agent", "bob")
    listed = run("task", "list")
    assert "  ann  busy with price" in listed.text.splitlines()
    assert "  bob  idle; `commonhold task claim` gives it docs" in listed.text.splitlines()
    agents = {each["holder"]: each for each in run("task", "list", "--json").json["agents"]}
    assert (agents["ann"]["state"], agents["bob"]["best"], agents["bob"]["can_take"]) == ("busy", "docs", 1)


def test_a_task_goes_to_a_session_that_has_what_it_requires_and_others_learn_why(run: Run, root: Path) -> None:
    (root / "commonhold.toml").write_text('capabilities = {"gpu-*" = ["gpu"]}', encoding="utf-8")
    run("task", "add", "train", "--id", "train", "--require", "gpu", "--target", "main")
    run("task", "add", "tidy", "--id", "tidy", "--require", "gup", "--target", "main")
    run("acquire", "other:thing", "--agent", "bob")
    listed = run("task", "list").text.splitlines()
    assert any(line.endswith("tidy  (no session has gup: see the setting `capabilities`)") for line in listed)
    assert any(line.startswith("  bob  idle; train is not for it: it requires gpu") for line in listed)
    refused = run("task", "claim", "train", "--agent", "bob", "--json")
    assert (refused.status, refused.json["code"]) == (1, "TASK_NOT_YOURS")
    claimed = run("task", "claim", "--agent", "gpu-1", "--json").json["tasks"]
    assert [(each["id"], each["requires"]) for each in claimed] == [("train", ["gpu"])]


def test_a_proposal_is_accepted_by_another_session(run: Run) -> None:
    proposed = run("task", "propose", "cache the rates", "--id", "cache", "--target", "main")
    assert proposed.text.splitlines()[0] == "proposed cache: cache the rates"
    assert "cache  proposed   cache the rates  (ann has proposed it" in run("task", "list").text
    own = run("task", "accept", "cache", "--json")
    assert (own.status, own.json["code"]) == (1, "TASK_NOT_YOURS")
    assert run("task", "decline", "cache", "--agent", "bob").status == 2, "it needs a reason"
    accepted = run("task", "accept", "cache", "--note", "fine", "--agent", "bob")
    assert (accepted.status, accepted.text.splitlines()[0]) == (0, 'cache is ready: "fine"')
    assert 'cache proposed "cache the rates"' in run("log").text.replace(":", "")
    assert run("task", "claim").text.startswith("claimed cache")


def test_a_claim_waits_until_a_task_is_ready(run: Run, root: Path) -> None:
    with start("task", "claim", "--wait", "60", "--json", "--agent", "bob", cwd=root) as process:
        planned(run)
        out, _ = process.communicate(timeout=60)
    assert json.loads(out)["outcome"] == "claimed"
    assert run("task", "claim", "--wait", "1", "--request-id", "r").status == 2


def test_statistics_count_what_happened(run: Run) -> None:
    planned(run)
    run("acquire", "a.py#one")
    assert run("acquire", "a.py#one", "--agent", "bob").status == 1
    run("task", "claim", "docs")
    found = run("stats", "--json").json
    assert (found["leases"]["collisions"], found["contended"]) == (1, {"file:a.py#one": 1})
    assert (found["tasks"]["added"], found["tasks"]["claim"]) == (3, 1)
    words = run("stats", "--since", "1d").text
    assert "1 collision caught before a write" in words
    assert run("stats", "--since", "2100-01-01T00:00:00+00:00").text == "nothing happened here in this time\n"
    assert run("stats", "--since", "yesterday").status == 2
