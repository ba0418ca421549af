"""What each command does when all goes well, and what it says when it is refused."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call, process, snapshot

from commonhold.cli.commands import COMMANDS
from commonhold.cli.program import cli
from commonhold.demo import DemoOptions

pytestmark = pytest.mark.slow

NEW_ONE = b"def one():\n    return os.linesep\n"


def hash_of(run: Call, key: str) -> str:
    found: str = run("show", key, "--json").json["regions"][0]["hash"]
    return found


def next_words(text: str) -> list[str]:
    """Read the `next:` line of an answer as a shell would."""
    line = next(line for line in text.splitlines() if line.startswith("next: "))
    return shlex.split(line.removeprefix("next: ").removesuffix(" < NEW_TEXT"))[1:]


def test_regions_name_kind_lines_and_hash(run: Call) -> None:
    text = run("regions", "a.py").text
    assert "file:a.py#Box.grow" in text
    assert "lines 6-7" in text
    shape = run("regions", "a.py", "--json").json
    assert [each["key"] for each in shape["regions"]][:2] == ["file:a.py", "file:a.py#@header"]
    assert shape["language"] == "python"


def test_regions_tell_a_problem_and_go_on(root: Path, run: Call) -> None:
    (root / "broken.py").write_text("def f(:\n    pass\n", encoding="utf-8")
    done = run("regions", "broken.py")
    assert done.status == 0
    assert "problem:" in done.text


def test_the_text_of_one_region_can_be_piped(run: Call) -> None:
    done = run("show", "a.py#one")
    assert done.out == b"def one():\n    return os.sep\n"
    assert "hash " in done.err


def test_several_regions_get_headings(run: Call) -> None:
    text = run("show", "a.py#one", "a.py#@header").text
    assert text.count("==> ") == 2
    assert text.count("--> span") > 1


def test_bytes_that_are_no_text_are_shown_as_they_are(root: Path, run: Call) -> None:
    (root / "logo.bin").write_bytes(b"\xff\x00\xfe")
    assert run("show", "logo.bin").out == b"\xff\x00\xfe"
    assert "base64" in run("show", "logo.bin", "a.py#one").text


def test_what_was_overwritten_can_be_restored(root: Path, run: Call) -> None:
    before = (root / "a.py").read_bytes()
    base = hash_of(run, "a.py")
    run("commit", "--key", "a.py", "--base", base, stdin=b"x = 1\n")
    assert (root / "a.py").read_bytes() == b"x = 1\n"
    assert run("show", base[:20]).out == before
    assert run("show", base, "--json").json["hash"] == base
    assert run("show", base, "a.py").status == 2


def test_the_version_of_a_key_or_region_is_printed_alone(root: Path, run: Call) -> None:
    run("put", "x:1", "y", "--expect", "0")
    assert run("version-of", "x:1").text == "x:1  version 1\n"
    hashes = {key: hash_of(run, key) for key in ("a.py", "a.py#one")}
    assert run("version-of", "a.py").text == f"file:a.py  hash {hashes['a.py']}\n"
    first, second = run("version-of", "a.py#one").text.splitlines()
    assert first == f"file:a.py#one  hash {hashes['a.py#one']}"
    assert second == f"its file       hash {hashes['a.py']}"
    (root / "a.py").unlink()
    assert run("version-of", "a.py#one").status == 3


def test_a_lease_from_grant_to_release(run: Call) -> None:
    granted = run("acquire", "a.py#one", "account:12345", "--task", "round to cents")
    assert granted.status == 0
    assert "fence 1" in granted.text
    assert run("leases").text.count("round to cents") == 1
    assert run("leases", "--holder", "ben").text == "no live leases\n"
    (lease,) = run("leases", "--json").json["leases"]
    assert lease["keys"] == ["account:12345", "file:a.py#one"]
    assert run("renew", lease["id"], "--ttl", "60").text.startswith("renewed: ")
    assert run("release", lease["id"], "--json").json["outcome"] == "released"
    assert run("leases", "--json").json == {"leases": [], "waiters": []}


def test_the_next_call_of_a_grant_is_its_release(run: Call) -> None:
    assert run(*next_words(run("acquire", "a.py").text)).text.startswith("released: ")


def test_a_denial_says_who_and_what_for_and_what_to_do(run: Call) -> None:
    run("acquire", "a.py", "--task", "rewrite it all")
    denied = run("acquire", "a.py#one", "--task", "it's mine", "--agent", "ben")
    assert denied.status == 1
    assert "ann, exclusive, ends in" in denied.text
    assert '"rewrite it all"' in denied.text
    assert next_words(denied.text) == ["acquire", "file:a.py#one", "--task", "it's mine", "--agent", "ben"]
    assert run("acquire", "a.py#one", "--agent", "ben", "--json").json["outcome"] == "denied"


def test_shared_leases_are_held_together(run: Call) -> None:
    assert run("acquire", "a.py", "--mode", "shared").status == 0
    assert run("acquire", "a.py", "--mode", "shared", "--agent", "ben").status == 0


def test_paths_are_relative_to_where_one_is(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "in#side").mkdir()
    (root / "in#side" / "b.py").write_text("def f(): pass\n", encoding="utf-8")
    assert run("-C", "in#side", "regions", "b.py", "--json").json["path"] == "in#side/b.py"
    monkeypatch.chdir(root / "in#side")
    assert run("regions", "b.py", "--json").json["path"] == "in#side/b.py"
    assert run("regions", "../a.py", "--json").json["path"] == "a.py"
    assert run("regions", "file:a.py", "--json").json["path"] == "a.py"
    assert run("regions", str(root / "a.py"), "--json").json["path"] == "a.py"
    assert run("who", ".", "--json").json["key"] == "file:in%23side/"


def test_common_options_may_stand_anywhere_and_the_nearer_wins(run: Call) -> None:
    assert run("--json", "--agent", "ben", "acquire", "a.py").json["lease"]["holder"] == "ben"
    assert run("--agent", "ben", "acquire", "x:1", "--agent", "cat", "--json").json["lease"]["holder"] == "cat"


def test_a_commit_from_standard_input(root: Path, run: Call) -> None:
    done = run("commit", "--key", "a.py#one", "--base", hash_of(run, "a.py#one"), "--intent", "lines", stdin=NEW_ONE)
    assert done.status == 0, done
    assert b"os.linesep" in (root / "a.py").read_bytes()
    assert "lines" in run("log").text
    assert "ann" in run("who", "a.py").text
    assert run("status", "--json").json["changes"][0]["intent"] == "lines"


def test_inserting_creating_and_deleting(root: Path, run: Call) -> None:
    three = b"def three():\n    return 3\n"
    assert run("commit", "--key", "a.py#three", "--insert", "--after", "a.py#one", stdin=three).status == 0
    assert run("commit", "--key", "new/b.py", "--create", stdin=b"x = 1\n").status == 0
    assert (root / "new" / "b.py").read_bytes() == b"x = 1\n"
    assert run("commit", "--key", "a.py#three", "--delete", "--base", hash_of(run, "a.py#three")).status == 0
    assert run("commit", "--key", "new/b.py", "--delete", "--base", hash_of(run, "new/b.py")).status == 0
    assert not (root / "new" / "b.py").exists()


def test_a_file_that_is_no_text_is_committed_as_bytes(root: Path, run: Call) -> None:
    assert run("commit", "--key", "logo.bin", "--create", stdin=b"\xff\x00").status == 0
    assert (root / "logo.bin").read_bytes() == b"\xff\x00"


def test_a_dry_run_writes_nothing(root: Path, run: Call) -> None:
    before = (root / "a.py").read_bytes()
    base = hash_of(run, "a.py#one")
    done = run("commit", "--dry-run", "--key", "a.py#one", "--base", base, stdin=NEW_ONE)
    assert "dry run" in done.text
    assert (root / "a.py").read_bytes() == before


def test_a_stale_commit_gets_a_repair_packet_and_the_next_call(root: Path, run: Call) -> None:
    base = hash_of(run, "a.py#one")
    run("commit", "--key", "a.py#one", "--base", base, "--intent", "lines", stdin=NEW_ONE)
    stale = b"def one():\n    return os.curdir\n"
    refused = run("commit", "--key", "a.py#one", "--base", base, "--agent", "ben", "--intent", "dots", stdin=stale)
    assert refused.status == 1
    for part in ("[REGION_CHANGED]", "changed by ann", '"lines"', "-    return os.sep", "+    return os.linesep"):
        assert part in refused.text
    assert run(*next_words(refused.text), stdin=stale).status == 0
    assert b"os.curdir" in (root / "a.py").read_bytes()


def test_a_late_commit_is_merged_and_says_with_whom(root: Path, run: Call) -> None:
    base = hash_of(run, "a.py#two")
    two = ("commit", "--key", "a.py#two", "--base", base)
    run(*two, "--intent", "doubled", stdin=b"def two(value):\n    return 2 * one() * value\n")
    late = b'def two(value):\n    """Two."""\n    return one() * value\n'
    trial = run(*two, "--agent", "ben", "--dry-run", stdin=late)
    assert (trial.status, trial.text.splitlines()[0]) == (0, "merged (dry run: nothing is written)")
    merged = run(*two, "--agent", "ben", "--intent", "say what", stdin=late)
    assert merged.status == 0
    assert merged.text.startswith("merged: event 2\n")
    for part in ("-    return one() * value", "+    return 2 * one() * value", 'what ann changed ("doubled")'):
        assert part in merged.text
    assert b'    """Two."""\n    return 2 * one() * value\n' in (root / "a.py").read_bytes()
    assert "(merged: file:a.py#two with " in run("log").text


def test_who_wants_no_merge_is_refused_and_so_is_the_next_call(root: Path, run: Call) -> None:
    base = hash_of(run, "a.py#two")
    two = ("commit", "--key", "a.py#two", "--base", base)
    run(*two, stdin=b"def two(value):\n    return 2 * one() * value\n")
    before = snapshot(root)
    refused = run(*two, "--no-merge", stdin=b'def two(value):\n    """Two."""\n    return one() * value\n')
    assert (refused.status, snapshot(root)) == (1, before)
    assert "--no-merge" in next_words(refused.text)
    edits = [{"op": "replace", "key": "a.py#two", "base": base, "text": "def two(value): ...\n"}]
    shape = {"intent": "i", "edits": edits, "merge": False}
    again = run("commit", "--changeset", "-", "--json", stdin=json.dumps(shape).encode())
    assert again.json["next"]["arguments"]["merge"] is False
    assert again.json["repair"]["unmerged"] == []


def test_what_could_not_be_merged_is_shown_with_both_intents(run: Call) -> None:
    base = hash_of(run, "a.py#two")
    two = ("commit", "--key", "a.py#two", "--base", base)
    run(*two, "--intent", "doubled", stdin=b"def two(value):\n    return 2 * one() * value\n")
    refused = run(*two, "--agent", "ben", "--intent", "thrice", stdin=b"def two(value):\n    return 3 * value\n")
    marked = refused.text.partition("both changes, as far as they go together:\n")[2]
    for part in ("<<<<<<< yours: thrice", "    return 3 * value", ">>>>>>> ann: doubled"):
        assert part in marked
    assert "not merged [BOTH_CHANGED]: " in refused.text


def test_several_stale_edits_get_a_changeset_to_fill_in(root: Path, run: Call) -> None:
    edits = [
        {"op": "replace", "key": f"a.py#{name}", "base": hash_of(run, f"a.py#{name}"), "text": f"def {name}(): pass\n"}
        for name in ("one", "two")
    ]
    (root / "a.py").write_text((root / "a.py").read_text().replace("os.sep", "os.linesep"), encoding="utf-8")
    refused = run("commit", "--changeset", "-", stdin=json.dumps({"intent": "it's", "edits": edits}).encode())
    assert refused.status == 1
    command = refused.text[refused.text.index("next: ") + len("next: ") :]
    head, _, rest = command.partition("\n")
    assert head == "commonhold commit --changeset - <<'END'"
    skeleton = json.loads(rest.removesuffix("END\n"))
    assert ["text" in edit for edit in skeleton["edits"]] == [False, False]
    assert skeleton["edits"][0]["base"] != edits[0]["base"]
    before = snapshot(root)
    pasted = run("commit", "--changeset", "-", stdin=rest.removesuffix("END\n").encode())
    assert (pasted.status, snapshot(root)) == (3, before)
    assert "[CHANGESET_INVALID]" in pasted.err


def test_a_next_line_is_pasted_into_a_real_shell(root: Path, run: Call, tmp_path: Path) -> None:
    script = tmp_path / "commonhold"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m commonhold "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    done = run("acquire", "a.py#one", "--agent", "o'brien; exit 7", "--task", "$(exit 7)")
    line = next(line for line in done.text.splitlines() if line.startswith("next: ")).removeprefix("next: ")
    shell = subprocess.run(
        ["sh", "-c", line], cwd=root, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False, capture_output=True
    )
    assert shell.returncode == 0, shell


def test_a_commit_under_a_lease_that_was_lost(run: Call) -> None:
    lease = run("acquire", "a.py#one", "--json").json["lease"]
    run("release", lease["id"])
    options = ("--key", "a.py#one", "--base", hash_of(run, "a.py#one"), "--lease", f"{lease['id']}:{lease['fence']}")
    refused = run("commit", *options, stdin=NEW_ONE)
    assert refused.status == 1
    assert "[LEASE_LOST]" in refused.text
    assert next_words(refused.text)[:2] == ["acquire", "file:a.py#one"]


def test_a_repeated_request_acts_once(run: Call) -> None:
    options = ("--key", "a.py#one", "--base", hash_of(run, "a.py#one"), "--request-id", "r1", "--json")
    first = run("commit", *options, stdin=NEW_ONE)
    assert run("commit", *options, stdin=NEW_ONE).json == first.json
    assert run("commit", *options, stdin=b"def one(): pass\n").json["code"] == "REQUEST_ID_REUSED"


def test_changeset_and_options_are_joined(root: Path, run: Call) -> None:
    edit = {"op": "create_file", "key": "b.py", "text": "x = 1\n"}
    (root / "change.json").write_text(json.dumps({"edits": [edit]}), encoding="utf-8")
    assert run("commit", "--changeset", "change.json", "--intent", "begin b").status == 0
    assert "begin b" in run("log", "--limit", "1").text
    assert run("commit", "--changeset", "change.json", "--insert").status == 2
    assert run("commit").status == 2
    assert run("commit", "--changeset", "change.json", "--key", "b.py").status == 2
    assert run("commit", "--key", "b.py").status == 2
    assert run("commit", "--key", "b.py", "--insert", "--create").status == 2
    assert run("commit", "--key", "b.py", "--lease", "nonsense").status == 2


def test_the_log_tells_every_kind_of_story(run: Call) -> None:
    lease = run("acquire", "a.py", "--json").json["lease"]
    run("acquire", "a.py", "--agent", "ben")
    run("commit", "--key", "b.py", "--create", stdin=b"def (")
    run("commit", "--key", "b.py", "--create", stdin=b"x = 1\n")
    run("renew", lease["id"])
    run("release", lease["id"])
    text = run("log").text
    for kind in ("granted", "denied", "refused", "committed", "renewed", "released"):
        assert kind in text
    assert "held by ann" in text
    assert len(run("log", "--lease", lease["id"], "--json").json["events"]) == 3
    assert [event["sequence"] for event in run("log", "--after", "4", "--json").json["events"]] == [5, 6]


def test_what_others_wrote_cannot_steer_a_terminal(root: Path, run: Call) -> None:
    (root / "a.py").write_text('def one():\n    return "\x1b[2J\x9b"\n', encoding="utf-8")
    refused = run("commit", "--key", "a.py#one", "--base", "0" * 16, stdin=b"def one(): pass\n")
    assert refused.status == 1
    assert "\\x1b[2J\\x9b" in refused.text
    assert "\x1b" not in refused.text


def test_codes_and_exit_codes_are_explained(run: Call) -> None:
    assert "what to do:" in run("explain", "region-changed").text
    assert run("explain", "REGION_CHANGED", "--json").json["codes"][0]["code"] == "REGION_CHANGED"
    assert "STORE_BUSY" in run("explain").text
    assert "did you mean LEASE_LOST?" in run("explain", "LEASE_LOOST").err
    assert run("explain", "NO_SUCH_CODE").status == 2
    assert run("explain", "42").status == 3
    assert "refused" in run("exit-codes").text
    assert run("exit-codes", "--json").json["exit_codes"][0] == {"code": 0, "meaning": "done"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion_script(shell: str, run: Call) -> None:
    assert "_COMMONHOLD_COMPLETE" in run("completion", shell).text


def test_the_shell_completes_a_command(root: Path) -> None:
    env = {"COMP_WORDS": "commonhold acq", "COMP_CWORD": "1", "_COMMONHOLD_COMPLETE": "bash_complete"}
    assert process(cwd=root, env=env).stdout == b"plain,acquire\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, run: Call) -> None:
    done = run(name, "--help")
    assert done.status == 0
    assert f"commonhold {name}" in done.text[done.text.index("Example") :]


def test_help_and_version_load_nothing_heavy(root: Path) -> None:
    code = (
        "import sys; from commonhold.cli.program import main; main(['--help']); main(['--version']); main([]);"
        "sys.exit(bool({'apsw', 'tree_sitter', 'msgspec', 'rich', 'mcp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False, capture_output=True)
    assert done.returncode == 0, done


def test_explaining_does_not_load_the_service(root: Path) -> None:
    code = (
        "import sys; from commonhold.cli.program import main; main(['explain']); main(['explain', 'USAGE', '--json']);"
        "main(['exit-codes', '--json']); "
        "sys.exit(bool({'apsw', 'tree_sitter', 'commonhold.commits'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False, capture_output=True)
    assert done.returncode == 0, done


@pytest.mark.parametrize("option", [("--span", "0"), ("--after", ""), ("--base", ""), ("--insert",)])
def test_what_goes_with_a_key_is_refused_beside_a_changeset(option: tuple[str, ...], root: Path, run: Call) -> None:
    (root / "c.json").write_text('{"edits": []}', encoding="utf-8")
    refused = run("commit", "--changeset", "c.json", *option)
    assert refused.status == 2
    assert f"{option[0]} goes with --key" in refused.err


def test_every_command_is_in_the_group() -> None:
    context = cli.make_context("commonhold", ["status"])
    assert all(cli.get_command(context, name) for name in COMMANDS)
    assert cli.get_command(context, "nonsense") is None


def test_following_the_log_goes_on_with_what_comes(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = iter(range(2))

    def pause(_seconds: float) -> None:
        if next(pauses, None) is None:
            raise KeyboardInterrupt
        process("acquire", "x:1", "--agent", "ben", cwd=root)

    monkeypatch.setattr("commonhold.cli.log.sleep", pause)
    done = run("log", "--follow", "--json")
    assert done.status == 130
    assert [json.loads(line)["sequence"] for line in done.text.splitlines()] == [1, 2]


def test_the_demo_gets_what_was_chosen(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[DemoOptions] = []

    def show(options: DemoOptions) -> int:
        chosen.append(options)
        return 1

    monkeypatch.setattr("commonhold.cli.demo.run", show)
    assert run("demo", "--agents", "3", "--quick", "--report", "r.json").status == 1
    assert chosen == [DemoOptions(agents=3, quick=True, report="r.json")]


def test_serving_ends_with_standard_input(root: Path) -> None:
    assert process("mcp", cwd=root, stdin=subprocess.DEVNULL).returncode == 0


def test_a_stale_edit_of_one_span_names_the_span_again(root: Path, run: Call) -> None:
    (root / "s.py").write_text("import os\n\n\ndef f():\n    pass\n\n\nX = 1\n", encoding="utf-8")
    base = run("show", "s.py#@header", "--json").json["regions"][0]["pieces"][1]["hash"]
    (root / "s.py").write_text("import os\n\n\ndef f():\n    pass\n\n\nX = 2\n", encoding="utf-8")
    refused = run("commit", "--key", "s.py#@header", "--base", base, "--span", "1", stdin=b"\n\nX = 3\n")
    assert refused.status == 1
    assert run(*next_words(refused.text), stdin=b"\n\nX = 3\n").status == 0
    assert (root / "s.py").read_text(encoding="utf-8").endswith("X = 3\n")


def test_help_shows_commands_and_pages(run: Call) -> None:
    assert run("help", "task", "claim").text == run("task", "claim", "--help").text
    assert run("help", "runs").text == (Path(__file__).parents[2] / "docs" / "runs.md").read_text(encoding="utf-8")
    assert run("help", "archive").text.endswith("More:\n  commonhold help docs/archive.md\n")
    assert run("help", "docs/archive.md", "--json").json["text"].startswith("# The context archive")
    assert "quick-start, recipes" in run("help").text
    unknown = run("help", "tsk")
    assert (unknown.status, "did you mean `commonhold help task`" in unknown.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("queue",), "needs the name of a command: add, check, list,"),
        (("acquire",), "KEY is missing"),
        (("task", "fail", "a"), "--fence is missing"),
        (("acquire", "a", "--ttl", "abc"), "--ttl takes a number, not 'abc'"),
        (("acquire", "a", "--wait", "-1"), "--wait takes a number from 0 up to 2,592,000, not -1.0"),
        (("token", "issue", "--days", "0"), "--days takes a number above 0 up to 3,650, not 0.0"),
        (("plan", "check", "x", "--agents", "0"), "--agents takes a whole number from 1 up to 1,000, not 0"),
        (("install", "claud"), "did you mean claude?"),
        (("archive", "add"), "KIND is missing: decision, lesson or note"),
        (("commit", "--key"), "--key needs a value"),
        (("renew", "a", "b", "c"), "too many arguments: b c"),
        (("check",), "hint: commonhold check BRANCH"),
    ],
)
def test_a_call_of_the_wrong_form_is_told_what_is_wrong(words: tuple[str, ...], said: str, run: Call) -> None:
    done = run(*words)
    assert done.status == 2
    assert said in done.err
    assert "Invalid value" not in done.err


@pytest.mark.parametrize("spelling", ["--note", "--reason", "--why"])
def test_each_command_takes_its_reason_by_any_name(spelling: str, run: Call) -> None:
    lease = run("acquire", "a.py", "--json").json["lease"]["id"]
    assert run("ask", lease, spelling, "mine is small", "--agent", "ben").status == 0
    assert run("break", lease, spelling, "it is gone", "--agent", "ben").status == 0
    assert "--reason" not in run("break", "--help").text
