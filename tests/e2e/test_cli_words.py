"""What the command line says when something stands in the way: words that lead on, and no line that does harm."""

import io
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.e2e.cli_driver import Call, Outcome, git, process, snapshot

from commonhold.cli import output, program, region_words
from commonhold.cli.command import Command, Group
from commonhold.cli.commands import COMMANDS
from commonhold.cli.program import cli
from commonhold.kernel.files import Write
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

NEW_ONE = b"def one():\n    return os.linesep\n"


def base_of(run: Call, key: str) -> str:
    found: str = run("show", key, "--json").json["regions"][0]["hash"]
    return found


def next_of(text: str, label: str = "next") -> str:
    return text[text.index(f"\n{label}: ") + len(label) + 3 :].removesuffix("\n")


def pasted(line: str, root: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a line of output in a shell, as somebody does who does not read it."""
    script = root.parent / "commonhold"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m commonhold "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    env = {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", line], cwd=root, env=env, check=False, capture_output=True, stdin=0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("task", "claim", "--wait=60"),
            "interrupted; you wait no longer; `commonhold task list` shows how things stand",
        ),
        (("acquire", "a.py"), "interrupted; `commonhold leases` shows how things stand"),
        (("log",), "interrupted"),
        (("merge", "HEAD"), "interrupted; if a commit had begun, the next command finishes or undoes it"),
    ],
)
@pytest.mark.usefixtures("root")
def test_ctrl_c_is_answered_by_what_the_command_may_have_done(
    words: tuple[str, ...], said: str, run: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "_invoke", interrupt)
    assert (run(*words).err, run(*words).status) == (f"{said}\n", 130)


@pytest.mark.parametrize("names", [("one",), ("one", "two")])
def test_a_refused_commit_cannot_do_harm_when_its_next_line_is_pasted(
    names: tuple[str, ...], root: Path, run: Call
) -> None:
    edits = [
        {"op": "replace", "key": f"a.py#{name}", "base": base_of(run, f"a.py#{name}"), "text": f"def {name}(): pass\n"}
        for name in names
    ]
    (root / "a.py").write_text((root / "a.py").read_text().replace("os.sep", "os.linesep"), encoding="utf-8")
    refused = run("commit", "--changeset", "-", stdin=json.dumps({"edits": edits}).encode())
    assert refused.status == 1
    before = snapshot(root)
    assert pasted(next_of(refused.text), root).returncode != 0
    assert snapshot(root) == before


@pytest.mark.parametrize("option", [("--base", "0" * 16), ("--insert",), ("--create",)])
def test_nothing_on_standard_input_is_no_text(option: tuple[str, ...], root: Path, run: Call) -> None:
    before = snapshot(root)
    done = run("commit", "--key", "new.py" if option == ("--create",) else "a.py#one", *option)
    assert done.status == 2
    assert '"text": ""' in done.err
    assert snapshot(root) == before


def test_a_file_can_be_emptied_on_purpose(root: Path, run: Call) -> None:
    edit = {"op": "replace", "key": "a.py", "base": base_of(run, "a.py"), "text": ""}
    assert run("commit", "--changeset", "-", stdin=json.dumps({"edits": [edit]}).encode()).status == 0
    assert (root / "a.py").read_bytes() == b""


@pytest.mark.parametrize(
    ("held", "wanted", "words"),
    [
        ("a.py#one", "a.py", "file:a.py: file:a.py#one, inside it, is held by ann"),
        ("./", "a.py#one", "file:a.py#one: file:./, which contains it, is held by ann"),
        ("a.py#one", "a.py#@header", "file:a.py#@header: file:a.py#one, which overlaps it, is held by ann"),
        ("a.py#one", "a.py#one", "file:a.py#one is held by ann"),
    ],
)
def test_who_stands_in_the_way_of_what(held: str, wanted: str, words: str, run: Call) -> None:
    run("acquire", held)
    assert f"  {words}, exclusive" in run("acquire", wanted, "--agent", "ben").text


def test_what_the_output_says_is_in_the_output(run: Call) -> None:
    base = base_of(run, "a.py#one")
    run("commit", "--key", "a.py#one", "--base", base, stdin=NEW_ONE)
    refused = run("commit", "--key", "a.py#one", "--base", base, stdin=b"def one():\n    return 1\n").text
    assert "redo your intent on the text above (do not resend the old text), then commit with this base" in refused
    assert "in repair" not in refused


@pytest.mark.parametrize(("key", "command"), [("nope.py", "who"), ("nope.py#f", "who"), ("a.py#nope", "regions")])
def test_what_never_was_there_leads_on(key: str, command: str, root: Path, run: Call) -> None:
    refused = run("commit", "--key", key, "--base", base_of(run, "a.py#one"), stdin=NEW_ONE)
    assert refused.status == 1
    line = next_of(refused.text)
    assert line.startswith(f"commonhold {command} ")
    assert pasted(line, root).returncode == 0


def test_a_change_that_breaks_others_shows_both_ways(root: Path, run: Call) -> None:
    options = ("--key", "a.py#one", "--base", base_of(run, "a.py#one"), "--intent", "more")
    refused = run("commit", *options, stdin=b"def one(more):\n    return more\n").text
    assert "[REQUIRE_ADDITIONAL_LOCKS]" in refused
    assert "lines are counted in the file as your change would make it" in refused
    mend, _, lease = next_of(refused).partition("\nor ")
    skeleton = json.loads(mend.partition("\n")[2].removesuffix("\nEND"))
    assert [edit["key"] for edit in skeleton["edits"]] == ["file:a.py#one", "file:a.py#two"]
    skeleton["edits"][0]["text"] = "def one(more):\n    return more\n"
    skeleton["edits"][1]["text"] = "def two(value):\n    return one(1) * value\n"
    assert "\nor: commonhold acquire 'file:a.py#two' --task more" in "\nor " + lease
    assert pasted(next_of(refused).partition("\nor ")[0], root).returncode == 3
    assert run("commit", "--changeset", "-", stdin=json.dumps(skeleton).encode()).status == 0


def test_a_change_that_breaks_what_another_holds_says_who_does(run: Call) -> None:
    run("acquire", "a.py#two", "--task", "rework it", "--agent", "ben")
    options = ("--key", "a.py#one", "--base", base_of(run, "a.py#one"), "--intent", "more")
    refused = run("commit", *options, stdin=b"def one(more):\n    return more\n").text
    assert "file:a.py#two is held by ben, exclusive" in refused
    assert "fix these regions in the same changeset" not in refused
    assert next_of(refused) == "commonhold acquire 'file:a.py#two' --task more"


def test_a_text_with_the_wrong_indentation(run: Call) -> None:
    text = b"def grow(self):\n    self.size += 2\n"
    refused = run("commit", "--key", "a.py#Box.grow", "--base", base_of(run, "a.py#Box.grow"), stdin=text).text
    assert refused.count("would not compile") <= 1
    assert "as `show` printed it: its first line begins with 4 spaces" in refused


def test_nobody_types_a_text_that_cannot_be_committed(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT")
    done = run("commit", "--key", "a.py", "--create")
    assert (done.status, done.err.splitlines()[0]) == (
        2,
        "error: this needs a session name, so that others see whose change it is [HOLDER_MISSING]",
    )


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_what_is_waited_for(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.e2e.cli_driver.io.TextIOWrapper", Terminal)
    done = run("commit", "--key", "new.py", "--create", stdin=b"x = 1\n")
    assert done.err == "reading the new text from standard input; end with Ctrl-D\n"
    assert "reading the changeset from" in run("commit", "--changeset", "-", stdin=b"{").err


def test_bytes_do_not_go_to_a_terminal(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "logo.bin").write_bytes(b"\xff\x00\xfe")
    base = base_of(run, "logo.bin")
    for module in (output, region_words, sys.modules["commonhold.cli.show"]):
        monkeypatch.setattr(module, "is_terminal", lambda: True)
    assert "commonhold show logo.bin > FILE" in run("show", "logo.bin").text
    assert f"commonhold show {base} > FILE" in run("show", base).text


def test_text_and_hash_come_in_one_call(root: Path, run: Call) -> None:
    assert run("show", "a.py#one", "--to", "one.py").text == base_of(run, "a.py#one") + "\n"
    assert (root / "one.py").read_bytes() == b"def one():\n    return os.sep\n"
    base = base_of(run, "a.py")
    assert run("show", base, "--to", "kept.py").status == 0
    assert (root / "kept.py").read_bytes() == (root / "a.py").read_bytes()
    assert run("show", "ab" * 32, "--to", "kept.py").status == 3
    assert (root / "kept.py").read_bytes() == (root / "a.py").read_bytes()
    assert run("show", "a.py#@header", "--to", "one.py").status == 2
    assert run("show", "a.py#one", "a.py#two", "--to", "one.py").status == 2


def test_a_name_that_looks_like_something_else(root: Path, run: Call) -> None:
    (root / "we#ird").mkdir()
    for name in ("we#ird/c.py", "-dash.py", "#hash.py"):
        (root / name).write_text("x = 1\n", encoding="utf-8")
    assert "write file:we%23ird/c.py" in run("regions", "we#ird/c.py").err
    assert run("regions", "file:we%23ird/c.py").status == 0
    for name in ("#hash.py", "./#hash.py"):
        assert run("regions", run("regions", name).err.rpartition("write ")[2].strip()).status == 0
    refused = run("commit", "--key", "a b.py#f", stdin=NEW_ONE).err
    assert "`commonhold show 'a b.py#f'` gives text and hash" in refused
    assert "write ./-dash.py" in run("regions", "-dash.py").err
    assert run("regions", "./-dash.py").status == 0
    assert "'a.py' is a file" in run("-C", "a.py", "status").err
    assert "'a.py' is a file" in run("-C", "a.py", "doctor").text
    assert run("log", "--after", "9" * 20).status == 2


def test_lists_are_short(root: Path, run: Call) -> None:
    edits = [{"op": "create_file", "key": f"n{number}.py", "text": "x = 1\n"} for number in range(8)]
    run("commit", "--changeset", "-", stdin=json.dumps({"edits": edits}).encode())
    assert " and 3 more" in run("log").text
    store = SqliteStore(str(root / ".git" / "commonhold"))
    with store.write() as writer:
        writes = [Write(f"m{number}.py", None, "0" * 64, None, 0o644) for number in range(8)]
        writer.begin(str(root), "ann", "half done", writes)
    store.close()
    told = run("doctor").text
    assert "m4.py and 3 more" in told
    assert told.endswith("it works, but look at: journal\n")


def test_the_log_and_who_name_regions(run: Call) -> None:
    run("commit", "--key", "a.py#one", "--base", base_of(run, "a.py#one"), stdin=NEW_ONE)
    run("acquire", "a.py#one")
    run("acquire", "a.py#two")
    assert "file:a.py#one " in run("log").text
    told = run("who", "a.py").text
    assert "    file:a.py\n" not in told
    assert told.index("file:a.py#two") < told.index("file:a.py#one")


def test_many_regions_are_listed_in_no_time(root: Path, run: Call) -> None:
    (root / "big.py").write_text("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(10_000)), encoding="utf-8")
    before = time.process_time()
    assert run("regions", "big.py").text.endswith("file:big.py#f9999  lines 39997-39998\n")
    assert time.process_time() - before < 10


@pytest.mark.parametrize("words", ["regions a", "show a", "commit --key a", "commit --changeset a"])
def test_the_shell_completes_file_names(words: str, root: Path) -> None:
    line = f"commonhold {words}"
    env = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_COMMONHOLD_COMPLETE": "bash_complete"}
    assert process(cwd=root, env=env).stdout == b"file,a\n"


NOT_RUN = ("mcp", "demo", "daemon", "serve", "worker")
NOT_PASTED = (
    *("--follow", "--watch", "claim keep", "planner |", "token revoke"),
    *("notify test", "notify remove", "restore", "--from 100"),
    *(
        "task accept",
        "task decline",
        "task done",
        "task fail",
        "task refuse",
        "task cancel",
        "task reopen",
        "task unchanged",
    ),
    *("run --resume", "run show", "run cancel", "--editor claude"),
    *("queue run", "queue watch", "queue show", "queue remove", "feature --task"),
    *(f"session {each} s12" for each in ("review", "show", "pause", "resume", "cancel", "discard", "retry", "diff")),
    *("session logs", "session approve", "session pull-request", "session start", "session attach"),
)
"""Examples that go on, or need a program, a terminal, a host, a fence, a run, a session or a state that is absent."""
LEASE = "lease-b57a98944c10b25e"
SHELL = frozenset("|<>&;$`")
"""What a shell alone understands."""


def examples_of(command: click.Command | None) -> Iterator[str]:
    assert isinstance(command, Command | Group)
    yield from command.examples
    if isinstance(command, Group):
        for each in command.commands.values():
            yield from examples_of(each)


def share_tasks(root: Path) -> None:
    """Give the repository a remote with the tasks that the examples name."""
    bare = root.parent / "origin.git"
    git(root, "init", "--quiet", "--bare", "-b", "main", str(bare))
    git(root, "remote", "add", "origin", str(bare))
    (root / "tasks" / "pending").mkdir(parents=True)
    (root / "tasks" / "pending" / "write-docs.yml").write_text("priority: 1\n", encoding="utf-8")
    (root / "tasks" / "pending" / "fix-parser.yml").touch()
    git(root, "add", "tasks")
    git(root, "commit", "--quiet", "--message", "tasks")
    git(root, "push", "--quiet", "origin", "HEAD:main")


def write_notes(root: Path) -> None:
    """Write the notes that the examples name, and the code that these mention."""
    (root / "docs").mkdir()
    login = "# Access\n\n## Login\n\nSee `src/auth.py`.\n"
    note = f"{login}\n## Tokens\n\n### Token expiry\n\nAfter an hour; see `src/billing.py`.\n"
    (root / "docs" / "auth.md").write_text(note, encoding="utf-8")
    (root / "src" / "auth.py").write_text("def login():\n    pass\n", encoding="utf-8")
    (root / "src" / "billing.py").write_text("def charge():\n    pass\n", encoding="utf-8")
    (root / "lesson.txt").write_text("Migrations wait for locks.\n", encoding="utf-8")


def write_plan(root: Path) -> None:
    """Write a plan with the tasks that the examples name, and enough others to be claimed."""
    tasks = [{"id": f"first-{number}", "title": "first", "priority": 9} for number in range(2)]
    tasks += [{"id": "price", "title": "price"}, {"id": "docs", "title": "docs", "labels": ["docs"]}]
    (root / "plan.yaml").write_text(json.dumps(tasks), encoding="utf-8")


def write_work(root: Path, run: Call) -> None:
    """Commit as a session, for a task, and as the event 12."""
    total = ("--key", "src/prices.py#total")
    ended = ("--agent", "claude:8c1f7a2e-1111-4111-8111-111111111111")
    run("commit", *total, "--base", base_of(run, total[1]), *ended, stdin=b"def total(items):\n    return 0\n")
    write_plan(root)
    run("task", "import", "plan.yaml")
    run("task", "claim", "price", "--agent", "bob")
    run("commit", "--key", "src/new.py", "--create", "--agent", "bob", stdin=b"x = 1\n")
    while run("log", "--limit", "1", "--json").json["events"][0]["sequence"] < 11:
        version = run("version-of", "account:1", "--json").json["version"]
        run("put", "account:1", "1", "--expect", str(version))
    add = ("--key", "src/prices.py#Cart.add")
    run("commit", *add, "--base", base_of(run, add[1]), stdin=b"    def add(self, item):\n        return item\n")
    assert run("log", "--limit", "1", "--json").json["events"][0]["sequence"] == 12


def write_roles(root: Path) -> None:
    """Write the plan, the editor and the planner that the examples of runs name."""
    (root / "plan.yaml").write_text('[{"id": "price", "title": "price"}]', encoding="utf-8")
    answers = {"editor.py": '{"unchanged": "it is so"}', "planner.py": '{"tasks": [{"id": "docs", "title": "docs"}]}'}
    for file, answer in answers.items():
        (root / file).write_text(f"#!/bin/sh\necho '{answer}'\n", encoding="utf-8")
        (root / file).chmod(0o755)


def prepare(name: str, root: Path, run: Call, lease: str) -> None:
    """Prepare what the examples of one command need beside the rest; `lease` is on `src/prices.py`."""
    if name == "review":
        (root / "src" / "prices.py").write_text(
            "def total(items):\n    return 0\n\n\ndef report(items):\n    return total(items)\n", encoding="utf-8"
        )
        total = ("--key", "src/prices.py#total", "--base", base_of(run, "src/prices.py#total"))
        assert "owed by you" in run("commit", *total, stdin=b"def total(items, tax):\n    return tax\n").text
        run("break", lease, "--reason", "its machine is gone")
    if name in {"exec", "adopt", "undo", "explain"}:
        run("release", lease)
    if name == "log":
        (root / "commonhold.toml").write_text("retention_days = 0\n", encoding="utf-8")
        run("release", lease)
        run("doctor", "--compact", "--before", "0s", "--export", str(root / "old-events.jsonl"))
    if name == "claim":
        share_tasks(root)
    if name == "archive":
        (root / "src" / "billing").rmdir()
        write_notes(root)
    if name in {"plan", "task"}:
        write_plan(root)
    if name in ("undo", "explain"):
        write_work(root, run)
    if name == "run":
        write_roles(root)
    if name == "adopt":
        total = ("--key", "src/prices.py#total", "--base", base_of(run, "src/prices.py#total"))
        ended = ("--agent", "claude:8c1f7a2e-1111-4111-8111-111111111111")
        assert run("commit", *total, *ended, stdin=b"def total(items):\n    return 0\n").status == 0


def typed(line: str, root: Path, run: Call) -> Outcome:
    """Do an example in this process; in a shell if only a shell understands it, or if it starts programs."""
    if line.startswith("commonhold ") and " -- " not in line and not SHELL.intersection(line):
        return run(*shlex.split(line)[1:])
    base = run("show", "src/prices.py#total", "--json").json["regions"][0]["hash"]
    done = pasted(f"base={base}\n{line}".replace('eval "$(', "( ").replace(')"', ")"), root)
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NOT_RUN])
def test_the_examples_of_the_help_work(name: str, root: Path, run: Call) -> None:
    (root / "src" / "billing").mkdir(parents=True)
    prices = "def total(items):\n    return sum(items)\n\n\nclass Cart:\n    def add(self, item):\n        pass\n"
    (root / "src" / "prices.py").write_text(prices, encoding="utf-8")
    lease = run("acquire", "src/prices.py", "--json").json["lease"]["id"]
    kept = base_of(run, "src/prices.py")
    (root / "total.py").write_text("def total(items):\n    return 0\n", encoding="utf-8")
    (root / "migrate.py").touch()
    (root / "train.py").touch()
    for version, source in (("base", "x = 1\n"), ("ours", "x = 2\n"), ("theirs", "x = 1\n")):
        (root / f"{version}.py").write_text(source, encoding="utf-8")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    branches = ("checkout -b feature", "commit --allow-empty --message feature", "checkout -", "branch hotfix")
    for words in (*branches, "branch release"):
        git(root, *words.split())
    (root / "order.json").write_text("{}", encoding="utf-8")
    (root / "Makefile").write_text("test:\n\ttrue\n", encoding="utf-8")
    payload = {"session_id": "s", "cwd": str(root), "hook_event_name": "Stop"}
    (root / "payload.json").write_text(json.dumps(payload), encoding="utf-8")
    changeset = {"edits": [{"op": "create_file", "key": "b.py", "text": "x = 1\n"}]}
    (root / "change.json").write_text(json.dumps(changeset), encoding="utf-8")
    prepare(name, root, run, lease)
    for example in examples_of(cli.get_command(cli.make_context("commonhold", ["status"]), name)):
        if example == "commonhold top" or any(each in example for each in NOT_PASTED):
            continue
        if "--result" in example:
            lease = run("acquire", "report:1", "--once", "--json").json["lease"]["id"]
        line = example.replace(LEASE, lease).replace("7c0e4f92d1a85b36", kept)
        done = typed(line, root, run)
        assert done.status == 0, (line, done)
    if name in ("exec", "hook"):  # a daemon has answered them
        run("daemon", "stop")


def test_asking_again_is_asking_for_the_same(run: Call) -> None:
    run("acquire", "a.py")
    asked = ("acquire", "file:a.py", "--task", "look", "--mode", "shared", "--ttl", "600", "--agent", "ben")
    assert next_of(run(*asked).text) == f"commonhold {' '.join(asked)}"


def test_a_debt_is_told_with_the_call_to_look_at_it(root: Path, run: Call) -> None:
    run("acquire", "a.py#two")
    options = ("--key", "a.py#one", "--base", base_of(run, "a.py#one"))
    done = run("commit", *options, stdin=b"def one(more):\n    return more\n")
    assert "owed by you: file:a.py#two" in done.text
    assert pasted(next_of(done.text), root).stdout.startswith(b"def two")


def test_a_debt_is_listed_with_the_call_that_waives_it(root: Path, run: Call) -> None:
    assert run("review").text == "nothing waits for review\n"
    run("acquire", "a.py#two")
    run("commit", "--key", "a.py#one", "--base", base_of(run, "a.py#one"), stdin=b"def one(more):\n    return more\n")
    listed = run("review").text
    assert listed.startswith("debts (to fix):\n  file:a.py#two  owed by ann: ")
    assert next_of(listed) == next_of(run("status").text) == "commonhold review waive 'file:a.py#two'"
    assert "owed by ann" in run("who", "a.py#two").text
    assert pasted(next_of(listed), root).returncode == 2, "it asks for the note"
    waive = ("review", "waive", "a.py#two", "--note", "nobody calls it")
    assert run(*waive).text == "waived: file:a.py#two, owed by ann\n"
    again = run(*waive)
    assert again.status == 1
    assert pasted(next_of(again.text), root).returncode == 0
    assert run(*waive, "--json").json["next"]["call"] == "review"
    assert "debt_waived        ann" in run("log").text
    assert run("review", "--json").json == {"works": [], "debts": [], "lost": []}
