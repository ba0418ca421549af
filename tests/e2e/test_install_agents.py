"""`commonhold install` and `uninstall` for agents, and what `doctor` says of them: real files, real git, real hooks."""

import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import GIT, Call, git, only_root, snapshot
from tests.patience import PATIENCE_SECONDS

from commonhold.agents.hook_commands import ways_in
from commonhold.agents.setups import SETUPS
from commonhold.cli.agent_changes import hook_program
from commonhold.diagnostics import agent_programs, calls, http
from commonhold.workspace.daemon_files import http_address

pytestmark = pytest.mark.slow

AGENTS = [name for name in SETUPS if name != "agents-md"]
CLAUDE, CODEX = ".claude/settings.local.json", ".codex/config.toml"
Program = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def bin_folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - before it
    """A PATH with git and shells on it, and none of the agents that this machine may have."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "bash"):
        found = subprocess.run(["/bin/sh", "-c", f"command -v {name}"], check=True, capture_output=True, text=True)
        (folder / name).symlink_to(found.stdout.strip())
    monkeypatch.setenv("PATH", str(folder))
    for probing in (agent_programs, calls, http):  # a machine that stands still for a while is no finding
        monkeypatch.setattr(probing, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    for name in ("BASH_ENV", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def program(bin_folder: Path) -> Program:
    """Puts a program on the PATH."""

    def put(name: str, body: str) -> None:
        (bin_folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (bin_folder / name).chmod(0o755)

    return put


def socket(root: Path) -> str:
    return http_address(str(root / ".git" / "commonhold"))


def seen_by_git(root: Path) -> str:
    done = subprocess.run([*GIT, "status", "--short", "-uall"], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def found(run: Call, name: str, status: int = 0) -> Any:
    done = run("doctor", "--json")
    assert done.status == status, done.text
    (finding,) = (each for each in done.json["findings"] if each["check"] == name)
    return finding


@pytest.mark.parametrize("name", AGENTS)
def test_installing_and_taking_out_leaves_all_as_it_was(name: str, run: Call, root: Path) -> None:
    before, excluded = snapshot(root), (root / ".git/info/exclude").read_bytes()
    done = run("install", name, "--yes", "--json")
    assert (done.status, done.json["outcome"]) == (0, "changed")
    assert [each["name"] for each in done.json["agents"]] == [name]
    assert seen_by_git(root) == ""
    after = snapshot(root)
    assert len(after) > len(before)
    assert run("install", name, "--yes", "--json").json["outcome"] == "unchanged"
    assert snapshot(root) == after
    assert run("uninstall", name, "--yes").status == 0
    assert snapshot(root) == before
    assert (root / ".git/info/exclude").read_bytes() == excluded
    assert not (root / ".git" / "commonhold").exists()


def test_all_of_it_at_once(run: Call, root: Path) -> None:
    before, config = snapshot(root), (root / ".git/config").read_bytes()
    assert run("install", "all", "--mcp", "--yes").status == 0
    assert (root / ".git/config").read_bytes() != config
    assert seen_by_git(root) == "?? AGENTS.md\n"
    assert run("install", "all", "--mcp", "--yes").text.endswith("nothing to change: all is as it should be\n")
    assert run("uninstall", "all", "--yes").status == 0
    assert snapshot(root) == before
    assert (root / ".git/config").read_bytes() == config


def test_settings_that_cannot_be_used_keep_nobody_from_taking_it_out(run: Call, root: Path) -> None:
    before = snapshot(root)
    run("install", "claude", "gemini", "--yes")
    (root / "commonhold.toml").write_text('shell = "sandbx"\n', encoding="utf-8")
    done = run("uninstall", "--yes")
    assert done.status == 0, done.text
    (root / "commonhold.toml").unlink()
    assert snapshot(root) == before


def test_what_the_user_has_is_kept_to_the_byte(run: Call, root: Path) -> None:
    mine = {
        CLAUDE: '{\r\n\t"hooks": {"PreToolUse": [{"hooks": []}]}\r\n}',
        ".gemini/settings.json": "{ // mine\n}",
        ".gemini/.env": "# mine\r\nGEMINI_API_KEY='x'",
        ".codex/config.toml": "# mine\nmodel = 'x' # why",
        "AGENTS.md": "# How we work\n",
        "opencode.jsonc": '{\n  // mine\n  "mcp": {}\n}\n',
    }
    for name, text in mine.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(text.encode())
    before = snapshot(root)
    run("install", "all", "--mcp", "--yes")
    assert not (root / "opencode.json").exists()
    assert {name: (root / name).read_bytes() != text.encode() for name, text in mine.items()} == dict.fromkeys(
        mine, True
    )
    assert (root / ".codex/config.toml").read_text(encoding="utf-8").startswith(mine[".codex/config.toml"])
    run("uninstall", "--yes")
    assert snapshot(root) == before


def test_the_agents_that_are_there_are_found(run: Call, root: Path, tmp_path: Path, program: Program) -> None:
    done = run("install", "--yes")
    assert done.status == 0
    assert list(snapshot(root)) == [str(root / "a.py")]
    assert done.text == "notice: no coding agent was found: name one, as in `commonhold install claude`\n"
    assert "\nok    agents " in run("doctor").text
    program("claude", "exit 1")
    (root / ".gemini").mkdir()
    (tmp_path / ".config/opencode").mkdir(parents=True)
    done = run("install", "--yes", "--json")
    assert [each["name"] for each in done.json["agents"]] == ["claude", "gemini"]
    (notice,) = done.json["notices"]
    assert "~/.config/opencode" in notice
    assert "commonhold install opencode" in notice
    assert not [each for each in run("doctor", "--json").json["findings"] if each["check"] == "opencode"]
    assert not (root / ".mcp.json").exists()


def test_nothing_is_written_without_consent(run: Call, root: Path) -> None:
    before = snapshot(root)
    done = run("install", "claude", "--mcp")
    assert (done.status, "--yes" in done.err) == (2, True)
    short = run("install", "claude", "--mcp", "--dry-run").text
    assert f"  12 hooks, 1 variable  {CLAUDE} (new)\n  1 launcher            .claude/commonhold-shell (new)\n" in short
    assert re.search(r"^  \d lines               .git/info/exclude( .new.)?$", short, re.MULTILINE), short
    assert "+++" not in short
    dry = run("install", "claude", "--mcp", "--dry-run", "--diff")
    assert dry.status == 0
    assert f"+++ {CLAUDE}" in dry.text
    assert "+/.mcp.json" in dry.text
    assert dry.text.endswith("(dry run: nothing is changed)\n")
    assert snapshot(root) == before


@pytest.mark.parametrize(("said", "is_written"), [("y", True), ("n", False)])
@pytest.mark.parametrize(
    ("options", "shown"), [((), f"12 hooks, 1 variable  {CLAUDE} (new)"), (("--diff",), f"+++ {CLAUDE}")]
)
def test_who_is_there_is_shown_the_changes_and_asked(
    options: tuple[str, ...], shown: str, said: str, *, is_written: bool, root: Path
) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "commonhold", "install", "claude", *options]
    with subprocess.Popen(
        command, cwd=root, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        os.write(ours, f"{said}\n".encode())
        out, err = child.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert shown in err
    assert ("+++" in err) is bool(options)
    assert (child.returncode, (root / CLAUDE).exists()) == ((0, True) if is_written else (1, False)), out
    assert ("nothing was changed" in err) is not is_written


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        (CLAUDE, "{", "CONFIG_INVALID"),
        (CLAUDE, "{} // mine", "CONFIG_INVALID"),
        (CLAUDE, '{"hooks": []}', "CONFIG_INVALID"),
        (".mcp.json", "\udcff", "ENCODING_INVALID"),
    ],
)
def test_a_file_that_cannot_be_changed_stops_all(name: str, text: str, code: str, run: Call, root: Path) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    before = snapshot(root)
    done = run("install", "claude", "codex", "--mcp", "--yes", "--json")
    assert (done.status, done.json["code"]) == (3, code)
    assert name in done.json["message"]
    assert snapshot(root) == before


@pytest.mark.parametrize("is_folder", [True, False])
def test_nothing_is_written_through_a_link(run: Call, root: Path, tmp_path: Path, *, is_folder: bool) -> None:
    target = tmp_path / "target"
    link = root / (".claude" if is_folder else ".mcp.json")
    if is_folder:
        target.mkdir()
    else:
        target.write_text("{}", encoding="utf-8")
    link.symlink_to(target)
    done = run("install", "claude", "--mcp", "--yes", "--json")
    assert (done.status, done.json["code"]) == (3, "PATH_OUTSIDE" if is_folder else "NOT_A_FILE")
    assert list(target.iterdir()) == [] if is_folder else target.read_bytes() == b"{}"


def test_another_users_file_is_left_to_them(run: Call, root: Path) -> None:
    only_root("give a file away")
    (root / ".mcp.json").write_text("{}", encoding="utf-8")
    os.chown(root / ".mcp.json", 65534, 65534)
    done = run("install", "claude", "--mcp", "--yes", "--json")
    assert (done.status, done.json["code"]) == (4, "PERMISSION_DENIED")
    assert not (root / ".claude").exists()


def test_a_file_that_git_tracks_is_changed_with_a_warning(run: Call, root: Path) -> None:
    (root / ".mcp.json").write_text("{}\n", encoding="utf-8")
    git(root, "add", ".mcp.json")
    done = run("install", "claude", "--mcp", "--yes", "--json")
    assert [each for each in done.json["notices"] if ".mcp.json is tracked" in each]
    assert seen_by_git(root) == "AM .mcp.json\n"
    assert "/.mcp.json" not in (root / ".git/info/exclude").read_text(encoding="utf-8")


def test_http_hooks_keep_their_token_to_themselves(run: Call, root: Path) -> None:
    done = run("install", "claude", "--http", "--yes")
    chosen = json.loads((root / ".git/commonhold/http.json").read_text(encoding="utf-8"))
    text = (root / CLAUDE).read_text(encoding="utf-8")
    assert f"http://127.0.0.1:{chosen['port']}/hooks/claude" in text
    assert chosen["token"] in text
    assert (root / CLAUDE).stat().st_mode & 0o077 == 0
    assert (
        chosen["token"]
        not in done.text
        + run("uninstall", "--dry-run", "--diff").text
        + run("install", "claude", "--dry-run", "--diff").text
    )
    assert found(run, "claude")["facts"]["level"] == "gated"
    git(root, "add", "--force", CLAUDE)
    run("uninstall", "--yes")
    (root / ".claude").mkdir(exist_ok=True)
    (root / CLAUDE).write_text("{}", encoding="utf-8")
    refused = run("install", "claude", "--http", "--yes", "--json")
    assert (refused.status, refused.json["code"]) == (3, "CONFIG_INVALID")
    assert (root / CLAUDE).read_bytes() == b"{}"


def test_http_is_for_claude(run: Call) -> None:
    assert run("install", "codex", "--http", "--yes").status == 2


def test_a_plain_folder_and_a_second_working_tree(run: Call, root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert run("-C", str(plain), "install", "claude", "codex", "--mcp", "--yes").status == 0
    assert {path.name for path in plain.iterdir()} == {".claude", ".mcp.json", ".codex"}
    git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    assert run("-C", str(tmp_path / "side"), "install", "claude", "--mcp", "--yes").status == 0
    (ways,) = ways_in((tmp_path / "side" / CLAUDE).read_text(encoding="utf-8"))
    assert ways.socket == socket(root)
    assert seen_by_git(tmp_path / "side") == ""


def test_doctor_tells_the_level_from_what_is_really_there(run: Call, root: Path, program: Program) -> None:
    program("claude", "echo 2.1.332 '(Claude Code)'")
    none = found(run, "claude")
    assert (none["level"], none["facts"]["level"]) == ("note", "none")
    assert run("doctor").text.endswith("all is well\n")
    assert none["mend"] == "commonhold install claude"
    run("install", "claude", "--yes")
    assert (found(run, "claude")["level"], found(run, "claude")["facts"]["level"]) == ("ok", "gated")
    program("claude", "echo 2.1.294")
    assert found(run, "claude")["facts"]["level"] == "gated-open"
    text = (root / CLAUDE).read_text(encoding="utf-8")
    # A daemon runs since the hooks were tried, and notices what is written.
    (root / CLAUDE).write_text(text.replace('"timeout": 30', '"timeout": 1'), encoding="utf-8")
    assert found(run, "claude")["facts"]["level"] == "detected"
    (root / CLAUDE).write_text(text.replace(sys.executable, "/nonexistent/python"), encoding="utf-8")
    assert "every edit of its is blocked" in found(run, "claude", status=4)["found"]
    (root / CLAUDE).write_text(text.replace(socket(root), "/moved/http.sock"), encoding="utf-8")
    assert "this repository answers at" in found(run, "claude")["found"]
    (root / CLAUDE).write_text("{", encoding="utf-8")
    assert found(run, "claude")["facts"]["level"] == "none"


def test_doctor_tries_each_hook_as_it_stands(run: Call, root: Path, program: Program) -> None:
    program("claude", "echo 2.1.332 '(Claude Code)'")
    run("install", "claude", "--yes")
    text = (root / CLAUDE).read_text(encoding="utf-8")
    (root / CLAUDE).write_text(text.replace(hook_program(), "/nowhere/commonhold/hook.py"), encoding="utf-8")
    told = found(run, "claude", status=4)
    assert told["mend"] == "commonhold install claude"
    assert "every edit of its is blocked" in told["found"]
    assert "kept from" not in told["found"]
    assert run("install", "claude", "--yes").status == 0
    assert found(run, "claude")["level"] == "ok"


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode"])
def test_doctor_runs_a_shell_command_as_the_agent_would(name: str, run: Call, root: Path, program: Program) -> None:
    versions = {"claude": "2.1.332", "codex": "0.171.0", "gemini": "0.61.0"}
    program(name, f"echo {versions.get(name, '1.18.33')}")
    run("install", name, "--yes")
    assert "cannot write files that others hold, by" in found(run, name)["facts"]["shell"]
    assert ":doctor" not in run("status").text
    launchers = [root / ".claude/commonhold-shell", root / ".gemini/commonhold-shell"]
    plugin = root / ".opencode/plugin/commonhold.js"
    for path in [each for each in (*launchers, root / CODEX, plugin) if each.exists()]:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("/launch.py", "/gone.py"), encoding="utf-8")
    told = found(run, name, status=4)
    assert "kept from" not in told["found"]
    assert "Python that watches over it is gone" in told["found"]


def test_a_launcher_that_may_not_be_run_is_a_failure_and_is_mended(run: Call, root: Path, program: Program) -> None:
    program("claude", "echo 2.1.332 '(Claude Code)'")
    run("install", "claude", "--yes")
    wrapper = root / ".claude/commonhold-shell"
    wrapper.chmod(0o644)
    told = found(run, "claude", status=4)
    assert "commonhold-shell cannot be started" in told["found"]
    assert "kept from" not in told["found"]
    assert run("install", "claude", "--yes", "--json").json["outcome"] == "changed"
    assert os.access(wrapper, os.X_OK)
    assert found(run, "claude")["level"] == "ok"


def test_doctor_and_install_say_that_the_users_settings_turn_all_hooks_off(
    run: Call, root: Path, tmp_path: Path, program: Program
) -> None:
    program("claude", "echo 2.1.332 '(Claude Code)'")
    assert "runs no hooks" not in run("install", "claude", "--yes").text
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text('{"disableAllHooks": true}', encoding="utf-8")
    assert f"disableAllHooks in {tmp_path}/.claude/settings.json" in run("install", "claude", "--yes").text
    off = found(run, "claude")
    assert (off["level"], off["facts"]["level"]) == ("warn", "none")
    assert f"disableAllHooks in {tmp_path}/.claude/settings.json" in off["found"]
    (root / ".claude/settings.json").write_text('{"disableAllHooks": false}', encoding="utf-8")
    assert found(run, "claude")["facts"]["level"] == "gated"


def test_doctor_knows_that_hooks_may_let_pass(run: Call, root: Path, program: Program) -> None:
    (root / "commonhold.toml").write_text('when_down = "allow"\n', encoding="utf-8")
    program("opencode", "exit 1")
    run("install", "opencode", "--yes")
    assert found(run, "opencode")["facts"]["level"] == "gated-open"


SERVER = """\
while read -r line; do
  case $line in
    *hooks/list*) echo '{"id": 2, "result": {"data": [{"hooks": [HOOKS]}]}}';;
    *) echo '{"id": 1, "result": {}}'; echo 'no JSON';;
  esac
done"""


@pytest.mark.parametrize(
    ("trust", "level"), [("trusted", "gated-open"), ("managed", "gated-open"), ("modified", "none"), ("", "none")]
)
def test_doctor_asks_codex_which_hooks_it_trusts(
    trust: str, level: str, run: Call, root: Path, program: Program
) -> None:
    events = ["preToolUse", "postToolUse", "sessionStart", "sessionEnd", "userPromptSubmit", "stop"]
    hooks = [
        {"eventName": event, "sourcePath": str(root / ".codex/hooks.json"), "trustStatus": trust, "enabled": True}
        for event in (*events, "subagentStart", "subagentStop")
    ]
    program("codex", SERVER.replace("HOOKS", json.dumps(hooks)[1:-1] if trust else ""))
    run("install", "codex", "--yes")
    told = found(run, "codex")
    assert told["facts"]["level"] == level
    assert level != "none" or "/hooks" in told["mend"]


def test_shells_of_codex_become_the_launcher_and_doctor_says_how_far(run: Call, root: Path, program: Program) -> None:
    program("codex", "echo codex-cli 0.171.0")
    run("install", "codex", "--mcp", "--yes")
    chosen = tomllib.loads((root / CODEX).read_text(encoding="utf-8"))["shell_environment_policy"]["set"]
    assert (chosen["SHLVL"], chosen["COMMONHOLD_ROOT"]) == ("1", str(root))
    assert Path(chosen["COMMONHOLD_GUARD"]).is_file()
    assert "cannot write files that others hold, by" in found(run, "codex")["facts"]["shell"]
    program("codex", "echo codex-cli 0.99.1")
    assert "was not tried" in found(run, "codex")["facts"]["shell"]
    run("uninstall", "codex", "--yes")
    assert not (root / CODEX).exists()


def test_variables_of_codexs_user_stay_and_the_level_is_told(run: Call, root: Path, program: Program) -> None:
    program("codex", "echo codex-cli 0.171.0")
    own = '[shell_environment_policy]\nset = { BASH_ENV = "/own" }\n'
    (root / ".codex").mkdir()
    (root / CODEX).write_text(own, encoding="utf-8")
    assert "is only detected: .codex/config.toml has a set" in run("install", "codex", "--yes").text
    assert (root / CODEX).read_text(encoding="utf-8") == own
    told = found(run, "codex")["facts"]
    assert (told["level"], "only detected" in told["shell"]) == ("gated-open", True)


def test_codex_that_cannot_be_asked_is_taken_by_what_is_installed(run: Call, program: Program) -> None:
    program("codex", "exit 1")
    run("install", "codex", "--yes")
    told = found(run, "codex")
    assert (told["level"], told["facts"]["level"]) == ("warn", "gated-open")
    assert "could not be asked" in told["found"]
    assert "/hooks" in told["mend"]
    assert "does not say which version it is" in told["facts"]["shell"]


def test_a_hook_that_is_installed_runs_as_it_stands(run: Call, root: Path) -> None:
    run("install", "claude", "--yes")
    settings = json.loads((root / CLAUDE).read_text(encoding="utf-8"))
    group, _ = settings["hooks"]["PreToolUse"]  # the second is for tools of servers
    (hook,) = group["hooks"]
    assert Path(hook_program()).is_file()
    line = hook["command"].replace(socket(root), "/nonexistent/http.sock")
    payload = {"hook_event_name": "PreToolUse", "cwd": "/nonexistent", "tool_name": "Edit"}
    done = subprocess.run(
        ["/bin/sh", "-c", line], check=True, capture_output=True, text=True, input=json.dumps(payload)
    )
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "Commonhold could not be asked" in answer["permissionDecisionReason"]


def test_whoever_else_reads_claudes_settings_runs_no_part_of_what_it_is_told(
    run: Call, root: Path, tmp_path: Path
) -> None:
    """Copilot reads them, and knows of a command no more than its line: the payload must stay what is read."""
    run("install", "claude", "--yes")
    settings = json.loads((root / CLAUDE).read_text(encoding="utf-8"))
    hooks = [hook for groups in settings["hooks"].values() for group in groups for hook in group["hooks"]]
    told = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(root), "timestamp": "now"}
    payload = json.dumps({**told, "prompt": f"$(touch {tmp_path}/ran)"})
    for hook in hooks:
        line = ["/bin/sh", "-c", hook["command"]]
        done = subprocess.run(line, check=False, capture_output=True, text=True, input=payload)
        assert (done.returncode, done.stdout) == (0, "")
    assert not (tmp_path / "ran").exists()


def test_claude_starts_our_program_in_place_of_a_shell(run: Call, root: Path, program: Program) -> None:
    program("claude", "echo 2.1.332")
    run("install", "claude", "--yes")
    wrapper = root / ".claude/commonhold-shell"
    settings = json.loads((root / CLAUDE).read_text(encoding="utf-8"))
    assert settings["env"] == {"CLAUDE_CODE_SHELL_PREFIX": str(wrapper)}
    assert os.access(wrapper, os.X_OK)
    assert seen_by_git(root) == ""
    run("uninstall", "claude", "--yes")
    assert not (root / ".claude").exists()


def test_claude_code_is_kept_to_it_in_linked_working_trees_as_well(
    run: Call, root: Path, tmp_path: Path, program: Program
) -> None:
    program("claude", "echo 2.1.332")
    run("install", "claude", "--yes")
    git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    done = run("-C", str(tmp_path / "side"), "doctor", "--json")
    (told,) = (each["facts"] for each in done.json["findings"] if each["check"] == "claude")
    assert told["level"] == "gated"
    assert "cannot write files that others hold, by" in told["shell"]


def test_taking_it_out_of_one_working_tree_shows_git_nothing_in_another(run: Call, root: Path, tmp_path: Path) -> None:
    excluded, side = (root / ".git/info/exclude").read_bytes(), tmp_path / "side"
    git(root, "worktree", "add", "--quiet", "-b", "side", str(side))
    for tree in (root, side):
        run("-C", str(tree), "install", "claude", "gemini", "--yes")
    assert run("uninstall", "--yes").status == 0
    assert seen_by_git(side) == ""
    assert run("-C", str(side), "uninstall", "--yes").status == 0
    assert (seen_by_git(side), (root / ".git/info/exclude").read_bytes()) == ("", excluded)


def test_the_users_own_program_stays_and_the_level_is_told(run: Call, root: Path, program: Program) -> None:
    program("claude", "echo 2.1.332")
    own = '{"env": {"CLAUDE_CODE_SHELL_PREFIX": "/usr/bin/nice"}}'
    (root / ".claude").mkdir()
    (root / CLAUDE).write_text(own, encoding="utf-8")
    assert "is only detected" in run("install", "claude", "--yes").text
    settings = json.loads((root / CLAUDE).read_text(encoding="utf-8"))
    assert settings["env"] == {"CLAUDE_CODE_SHELL_PREFIX": "/usr/bin/nice"}
    assert found(run, "claude")["facts"]["level"] == "gated"
    assert "only detected" in found(run, "claude")["facts"]["shell"]
    run("uninstall", "claude", "--yes")
    assert (root / CLAUDE).read_text(encoding="utf-8") == own


def test_geminis_shells_read_a_file_of_ours_first_and_what_its_user_has_beside_is_not_shown(
    run: Call, root: Path, program: Program
) -> None:
    program("gemini", "echo 0.61.0")
    env_file = root / ".gemini/.env"
    env_file.parent.mkdir()
    env_file.write_text("GEMINI_API_KEY=hidden\n", encoding="utf-8")
    env_file.chmod(0o600)
    for words in (("--dry-run", "--diff"), ("--yes", "--json")):
        said = run("install", "gemini", *words).text
        assert "BASH_ENV=" in said
        assert "hidden" not in said
    named = subprocess.run(
        ["/bin/bash", "-c", f'. "{env_file}"; echo "$GEMINI_API_KEY $BASH_ENV"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert named.stdout == f"hidden {root}/.gemini/commonhold-shell\n"
    assert env_file.stat().st_mode & 0o777 == 0o600
    facts = found(run, "gemini")["facts"]
    assert (facts["level"], "Gemini" in facts["shell"]) == ("gated-open", False)
    run("uninstall", "gemini", "--yes")
    assert env_file.read_text(encoding="utf-8") == "GEMINI_API_KEY=hidden\n"
    assert list(env_file.parent.iterdir()) == [env_file]


def test_no_file_of_variables_is_made_that_would_hide_another(run: Call, root: Path, program: Program) -> None:
    program("gemini", "exit 1")
    run("install", "gemini", "--yes")
    assert (root / ".gemini/.env").exists()
    (root / ".env").write_text("A=b\n", encoding="utf-8")
    assert f"would hide {root}/.env" in found(run, "gemini")["facts"]["shell"]
    assert f"only detected: .gemini/.env would hide {root}/.env" in run("install", "gemini", "--yes").text
    assert not (root / ".gemini/.env").exists()
    assert found(run, "gemini")["facts"]["level"] == "gated-open"


def test_a_file_of_variables_that_is_a_link_is_left_alone(run: Call, root: Path, tmp_path: Path) -> None:
    (tmp_path / "variables").write_text("A=b\n", encoding="utf-8")
    (root / ".gemini").mkdir()
    (root / ".gemini/.env").symlink_to(tmp_path / "variables")
    assert "is not to be changed here" in run("install", "gemini", "--yes").text
    assert run("uninstall", "--yes").status == 0
    assert list((root / ".gemini").iterdir()) == [root / ".gemini/.env"]
    assert (tmp_path / "variables").read_text(encoding="utf-8") == "A=b\n"
