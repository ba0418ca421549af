"""Real agents, whose model plays a script, in a repository where `commonhold install` was run: `make test-agents`."""

import json
import os
import signal
import subprocess
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.agents.acting import is_refused
from tests.agents.cli import Cli, Place, outcome, run
from tests.agents.clis import CLAUDE, CODEX, COPILOT, GEMINI, HOOKLESS, OPENCODE
from tests.agents.site import APP, Site, coordinated, once
from tests.e2e.scripted.conversation import Results, Script, Turn, do, in_turn, say
from tests.e2e.scripted.server import ScriptedModel
from tests.patience import until

SESSIONS, EDITS = 20, 10
FORBIDDEN = ("--deny-tool", "shell(touch)")
BYPASS = "bypassPermissions"
UNBOUND = "--dangerously-bypass-approvals-and-sandbox"
HIDDEN = "python3 -c \"open('app' + '.py', 'a').write('x')\" || exit 3"


def swapped(site: Site, old: str, new: str, file: str = "app.py") -> Script:
    return in_turn(site.acts.read(site.root, file), site.acts.swap(site.root, file, old, new))


def test_an_edit_that_nobody_minds_is_granted_and_recorded(site: Site) -> None:
    ended = site.play(swapped(site, "    return 1", "    return 11"))
    assert ended.status == 0, ended.complaint
    assert site.text("app.py") == APP.replace("return 1", "return 11")
    (holder,) = site.holders()
    assert holder.startswith(f"{site.cli.name}:")
    assert site.leases() == []


def test_a_denied_edit_tells_the_model_who_holds_it_and_what_to_do(site: Site) -> None:
    site.commonhold("acquire", "app.py#two", "--task", "rework two")
    site.play(swapped(site, "    return 2", "    return 22"))
    assert site.text("app.py") == APP
    told = site.told()[-1]
    assert "ann" in told
    assert "rework two" in told
    assert "next: " in told


def test_another_function_of_a_file_in_use_is_free(site: Site) -> None:
    site.commonhold("acquire", "app.py#two", "--task", "rework two")
    site.play(swapped(site, "    return 1", "    return 11"))
    assert site.text("app.py") == APP.replace("return 1", "return 11")


def test_what_was_changed_since_it_was_read_is_not_overwritten(site: Site) -> None:
    """The model writes what it made of the old text; told that it is old, it reads again and makes it again."""
    changed = once(lambda: _changed_by_ann(site))

    def script() -> Generator[Turn, Results, str]:
        yield site.acts.read(site.root, "app.py")
        changed()
        yield site.acts.swap(site.root, "app.py", "    return 2", "    return 222")
        yield site.acts.read(site.root, "app.py")
        yield site.acts.swap(site.root, "app.py", "    return 22", "    return 2222")
        return "Done."

    site.play(script)
    assert any(map(is_refused, site.model.told("main"))), site.told()
    assert site.text("app.py") == APP.replace("return 2", "return 2222")


@pytest.mark.parametrize("site", [CLAUDE, GEMINI, OPENCODE], ids=lambda cli: cli.name, indirect=True)
def test_what_was_changed_beside_the_part_that_was_read_again_is_not_overwritten(site: Site) -> None:
    """The model has read the whole file, and after another's change its first lines. Copilot overwrites no file."""
    changed = once(lambda: _changed_by_ann(site))

    def script() -> Generator[Turn, Results, str]:
        assert site.acts.glance is not None
        yield site.acts.read(site.root, "app.py")
        changed()
        yield site.acts.glance(site.root, "app.py")
        yield site.acts.overwrite(site.root, "app.py", APP.replace("return 1", "return 11"))
        yield site.acts.overwrite(site.root, "app.py", APP.replace("return", "return 1 +"))
        return "Done."

    site.play(script)
    told = site.told()
    assert "app.py#two changed since this session read it" in told[2], told
    assert "return 22" in told[2]
    assert site.text("app.py") == APP.replace("return", "return 1 +"), "it was shown what is there now"


def _changed_by_ann(site: Site) -> None:
    base = site.commonhold("show", "app.py#two", "--to", "/dev/null").strip()
    site.commonhold("commit", "--key", "app.py#two", "--base", base, text="def two():\n    return 22\n")


def test_what_a_shell_command_writes_is_recorded_as_its_sessions(site: Site) -> None:
    site.play(in_turn(site.acts.run("sed -i s/alpha/ALPHA/ notes.txt && echo x > made.txt")))
    assert (site.text("notes.txt"), site.text("made.txt")) == ("ALPHA\nbeta\ngamma\n", "x\n")
    (holder,) = site.holders()
    assert holder.startswith(f"{site.cli.name}:")


def test_a_shell_command_does_not_write_what_others_hold(site: Site) -> None:
    site.commonhold("acquire", "app.py#two", "--task", "rework two")
    site.play(in_turn(site.acts.run("sed -i s/return/RETURN/ app.py")))
    assert site.text("app.py") == APP
    assert "ann" in site.told()[-1]


def test_a_rule_of_the_user_that_forbids_a_command_holds(site: Site) -> None:
    site = forbidding(site)
    site.play(in_turn(site.acts.run("touch forbidden.txt"), site.acts.run("echo x > made.txt")))
    assert not (site.place.root / "forbidden.txt").exists()
    assert site.text("made.txt") == "x\n"


def forbidding(site: Site) -> Site:
    """The same with `touch` forbidden, as a user of this agent does it."""
    home = site.place.home
    if site.cli.name == "copilot":
        return replace(site, cli=replace(COPILOT, command=lambda *what: [*COPILOT.command(*what), *FORBIDDEN]))
    rules: dict[str, tuple[Path, str]] = {
        "claude": (home / ".claude/settings.json", '{"permissions": {"deny": ["Bash(touch:*)"]}}'),
        "codex": (home / ".codex/rules/default.rules", 'prefix_rule(pattern=["touch"], decision="forbidden")\n'),
        "gemini": (
            home / ".gemini/policies/touch.toml",
            '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 900\n',
        ),
        "opencode": (site.place.root / "opencode.json", '{"permission": {"bash": {"*": "allow", "touch *": "deny"}}}'),
    }
    path, text = rules[site.cli.name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return site


def test_copilot_beside_claude_is_asked_by_its_own_hooks_alone(tmp_path: Path, model: ScriptedModel) -> None:
    """It reads Claude Code's as well; what they are told is data, whatever it says."""
    with coordinated(COPILOT, tmp_path, model, "claude", "copilot") as site:
        acts = site.acts
        turns = (acts.swap(site.root, "app.py", "    return 1", "    return 11"), acts.run("echo '$(touch ran.txt)'"))
        site.play(in_turn(acts.read(site.root, "app.py"), *turns))
        assert site.text("app.py") == APP.replace("return 1", "return 11")
        assert not (site.place.root / "ran.txt").exists()
        (holder,) = site.holders()
        assert holder.startswith("copilot:")


def test_claude_is_coordinated_in_a_linked_working_tree_by_what_the_main_one_has(
    tmp_path: Path, model: ScriptedModel
) -> None:
    with coordinated(CLAUDE, tmp_path, model) as site:
        tree = tmp_path / "tree"
        subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=site.root, check=True)
        inside = replace(site, place=replace(site.place, root=tree))
        acts = inside.acts
        assert acts.delegate
        part = acts.delegate(f"{model.plays('part', in_turn(acts.run('echo x > parts.txt')))} Do it")
        inside.play(in_turn(acts.run("echo x > made.txt"), part))
        made = {file["path"]: str(event["holder"]) for event in site.commits() for file in event["files"]}
        assert made.keys() == {"made.txt", "parts.txt"}
        assert made["parts.txt"].startswith(f"{made['made.txt']}/")


def test_claudes_shell_is_as_without_us(tmp_path: Path, model: ScriptedModel) -> None:
    """`cd` carries over, an exit status is told, what takes too long is ended, and what goes on behind is recorded."""
    with coordinated(CLAUDE, tmp_path, model) as site:
        (site.place.root / "deep").mkdir()
        acts = site.acts
        behind = do("Bash", command="sleep 1; echo bg > behind.txt", run_in_background=True)
        monitor = do("Monitor", command="echo m > seen.txt", description="It", timeout_ms=60_000, persistent=False)
        late = do("Bash", command="sleep 20; touch never.txt", timeout=1000)
        turns = (acts.run("cd deep"), acts.run("pwd; exit 3"), acts.run("cd .."), behind, monitor, late, acts.run("ls"))
        site.play(in_turn(*turns))
        told = site.told()
        assert "Exit code 3" in told[1]
        assert f"{site.root}/deep" in told[1]
        assert "timed out" in told[5]
        until(lambda: {"behind.txt", "seen.txt"} <= {file["path"] for each in site.commits() for file in each["files"]})
        assert not (site.place.root / "never.txt").exists()


@pytest.mark.parametrize("cli", [OPENCODE, GEMINI], ids=lambda cli: cli.name)
def test_its_shell_is_kept_from_what_others_hold(cli: Cli, tmp_path: Path, model: ScriptedModel) -> None:
    """Git is the session's own, and what was put into the environment is out of it again."""
    with coordinated(cli, tmp_path, model) as site:
        site.commonhold("acquire", "app.py", "--task", "rework it")
        acts = site.acts
        commit = (
            'echo it > "it\'s new.txt" && git add . && git -c user.name=o -c user.email=o@example.invalid commit -qm I'
        )
        turns = (acts.run(HIDDEN), acts.run("command -v git; exit 4"), acts.run(commit), acts.run("env"))
        site.play(in_turn(*turns))
        told = site.told()
        assert site.text("app.py") == APP
        assert "Read-only file system" in told[0]
        assert "ann holds app.py for" in told[0]
        assert ".git/commonhold" in told[1]
        assert not any(f"{name}=" in told[3] for name in ("_GUARD", "_GUARDED", "_CALL", "BASH_ENV"))
        shown = subprocess.run(["git", "show", "--stat"], cwd=site.root, capture_output=True, text=True, check=True)
        assert "it's new.txt" in shown.stdout
        assert [file["path"] for each in site.commits() for file in each["files"]] == ["it's new.txt"]


def test_geminis_shell_is_as_without_us(tmp_path: Path, model: ScriptedModel) -> None:
    """An exit status is told, what goes on behind is recorded, and what its user starts is none of its model's."""
    with coordinated(GEMINI, tmp_path, model) as site:
        hook = {"type": "command", "command": "command -v git >hook.txt"}
        settings = site.place.root / ".gemini/settings.json"
        told = json.loads(settings.read_text())
        told["hooks"]["BeforeTool"].append({"matcher": "run_shell_command", "hooks": [hook]})
        told["mcpServers"] = {"mine": {"command": "bash", "args": ["-c", "command -v git >server.txt; cat"]}}
        settings.write_text(json.dumps(told))
        behind = do("run_shell_command", command="sleep 1; echo x > behind.txt", is_background=True)
        wrapped = site.acts.run("bash -c 'echo x > wrapped.txt; exit 3'")
        site.play(in_turn(wrapped, behind, site.acts.run("sleep 2; kill -TERM $$")))
        assert "Exit Code: 3" in site.told()[0]
        assert "Signal" in site.told()[2] or "Exit Code: 143" in site.told()[2]
        until(
            lambda: {"behind.txt", "wrapped.txt"} <= {file["path"] for each in site.commits() for file in each["files"]}
        )
        assert [name for name in ("hook.txt", "server.txt") if ".git/commonhold" in site.text(name)] == []


@pytest.mark.parametrize("mode", ["danger-full-access", "workspace-write"])
def test_codexs_shell_is_kept_from_what_others_hold(mode: str, tmp_path: Path, model: ScriptedModel) -> None:
    """With this shell or that, in a terminal, behind, or of a subagent. In Codex's own sandbox that is only told."""
    bound = replace(CODEX, command=lambda *what: _instead(CODEX.command(*what), UNBOUND, "--sandbox", mode))
    with coordinated(bound, tmp_path, model) as site:
        forbidding(site)
        site.commonhold("acquire", "app.py", "--task", "rework it")
        part = site.model.plays("part", in_turn(site.acts.run(HIDDEN), site.acts.run("echo x > deep/parts.txt")))
        ran = [
            do("exec_command", cmd=HIDDEN),
            do("exec_command", {"cmd": HIDDEN, "shell": "sh"}),
            do("exec_command", cmd=HIDDEN, tty=True),
            do("exec_command", cmd="sleep 1; echo x > behind.txt", yield_time_ms=250),
            do("exec_command", cmd='mkdir deep && cd deep && echo "it\'s" | tee new.txt; env; exit 4'),
            do("exec_command", cmd="touch forbidden.txt"),
        ]

        def script() -> Generator[Turn, Results, str]:
            for each in ran:
                _ = yield each
            assert site.acts.delegate
            assert site.acts.awaits
            begun = yield site.acts.delegate(f"{part} Do it")
            yield site.acts.awaits(begun)
            return "Done."

        site.play(script)
        told = site.told()
        if mode == "danger-full-access":
            assert all("ann holds app.py" in each and "code 3" in each for each in (*told[:3], site.told("part")[0]))
            assert site.text("app.py") == APP
        else:
            assert site.text("app.py") == f"{APP}xxxx"
        assert "it's\n" in told[4]
        assert "code 4" in told[4]
        assert "BASH_ENV" not in told[4]
        assert not (site.place.root / "forbidden.txt").exists()
        written = {file["path"]: str(event["holder"]) for event in site.commits() for file in event["files"]}
        assert {*written} - {"app.py"} == {"behind.txt", "deep/new.txt", "deep/parts.txt"}
        assert written["deep/parts.txt"].startswith(f"{written['deep/new.txt']}/")


def test_what_codex_is_let_run_outside_of_its_sandbox_has_a_git_of_its_own(
    tmp_path: Path, model: ScriptedModel
) -> None:
    with coordinated(CODEX, tmp_path, model) as site:
        commit = "echo x > new.txt && git add . && git -c user.name=c -c user.email=c@example.invalid commit -qm I"
        (site.place.root / "others.txt").write_text("mine\n")
        site.play(in_turn(site.acts.run("command -v git"), site.acts.run(commit)))
        assert ".git/commonhold" in site.told()[0]
        shown = subprocess.run(["git", "show", "--stat"], cwd=site.root, capture_output=True, text=True, check=True)
        assert "new.txt" in shown.stdout
        assert "others.txt" not in shown.stdout


def _instead(words: list[str], word: str, *others: str) -> list[str]:
    place = words.index(word)
    return [*words[:place], *others, *words[place + 1 :]]


def test_a_rule_of_claudes_user_that_allows_a_command_holds(tmp_path: Path, model: ScriptedModel) -> None:
    """Without a rule it would have to ask, and there is nobody to be asked."""
    asking = replace(
        CLAUDE, command=lambda *what: ["default" if word == BYPASS else word for word in CLAUDE.command(*what)]
    )
    with coordinated(asking, tmp_path, model) as site:
        settings = site.place.home / ".claude/settings.json"
        settings.parent.mkdir()
        settings.write_text('{"permissions": {"allow": ["Bash(touch:*)"]}}')
        site.play(in_turn(site.acts.run("touch allowed.txt"), site.acts.run("mkdir asked")))
        assert (site.place.root / "allowed.txt").exists()
        assert not (site.place.root / "asked").exists()


def test_a_subagent_is_known_from_its_session(site: Site) -> None:
    acts = site.acts
    assert acts.delegate
    delegated = acts.delegate(site.model.plays("sub", swapped(site, "beta", "BETA", "notes.txt")) + " Change beta")

    def script() -> Generator[Turn, Results, str]:
        yield acts.read(site.root, "app.py")
        yield acts.swap(site.root, "app.py", "    return 1", "    return 11")
        begun = yield delegated
        if acts.awaits:
            yield acts.awaits(begun)
        return "Done."

    site.play(script)
    assert site.text("notes.txt") == "alpha\nBETA\ngamma\n"
    session, *parts = sorted(site.holders(), key=len)
    # Gemini tells nothing by which a subagent could be known.
    assert [part.startswith(f"{session}/") for part in parts] == ([] if site.cli.name == "gemini" else [True])


def appending(site: Site, file: str, words: list[str]) -> Script:
    """Adds each word behind a list's first; refused, it reads again and tries again."""

    def script() -> Generator[Turn, Results, str]:
        yield site.acts.read(site.root, file)
        for word in words:
            for _ in range(30):
                told = yield site.acts.swap(site.root, file, '    "begin",', f'    "begin",\n    "{word}",')
                if f'"{word}"' in site.text(file):
                    break
                assert told, "a tool answers"
                yield site.acts.read(site.root, file)
        return "Done."

    return script


def test_two_sessions_that_race_on_one_file_lose_nothing(site: Site) -> None:
    (site.place.root / "words.py").write_text('WORDS = [\n    "begin",\n]\n')
    wanted = {name: [f"{name}{number}" for number in range(3)] for name in ("first", "second")}
    running = [site.begin(name, appending(site, "words.py", words), home=name) for name, words in wanted.items()]
    for each in running:
        assert outcome(each).status == 0
    text = site.text("words.py")
    assert [text.count(f'"{word}"') for words in wanted.values() for word in words] == [1] * 6


def test_where_nobody_can_be_asked_nothing_is_written(site: Site) -> None:
    state = site.place.root / ".git" / "commonhold" / "state.db"
    state.parent.mkdir(exist_ok=True)
    state.write_bytes(b"no database at all" * 100)
    site.play(swapped(site, "    return 1", "    return 11"))
    assert site.text("app.py") == APP
    assert "commonhold" in site.told()[-1].lower()


def test_a_hook_that_gets_no_answer_in_time_blocks(site: Site) -> None:
    pid = site.daemon()
    os.kill(pid, signal.SIGSTOP)
    try:
        site.play(swapped(site, "    return 1", "    return 11"))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert site.text("app.py") == APP
    assert "did not answer" in site.told()[-1]


def test_twenty_sessions_of_claude_lose_nothing(tmp_path: Path, model: ScriptedModel) -> None:
    """Each adds ten lines to lists that all of them change."""
    with coordinated(CLAUDE, tmp_path, model) as site:
        files = [f"words{number}.py" for number in range(4)]
        for file in files:
            (site.place.root / file).write_text('WORDS = [\n    "begin",\n]\n')
        wanted = {f"s{one}": [f"s{one}w{number}" for number in range(EDITS)] for one in range(SESSIONS)}
        running = [
            site.begin(name, appending(site, files[index % len(files)], words), home=name)
            for index, (name, words) in enumerate(wanted.items())
        ]
        for each in running:
            assert outcome(each, 500).status == 0
        text = "".join(map(site.text, files))
        lost = [word for words in wanted.values() for word in words if text.count(f'"{word}"') != 1]
        assert lost == []
        assert len(site.commits()) >= SESSIONS * EDITS


SEARCH_AND_REPLACE = "app.py\n```python\n<<<<<<< SEARCH\n    return 2\n=======\n    return 22\n>>>>>>> REPLACE\n```\n"


@pytest.mark.parametrize("cli", HOOKLESS, ids=lambda cli: cli.name)
def test_what_an_agent_without_hooks_writes_is_seen_and_told(cli: Cli, tmp_path: Path, model: ScriptedModel) -> None:
    """Nothing gates it. One who has read what it changes is told, before an edit of that is lost on either side."""
    with coordinated(CLAUDE, tmp_path, model, "claude", "agents-md") as site:
        assert "commonhold" in site.text("AGENTS.md")
        command = do("bash", command="sed -i 's/return 2/return 22/' app.py")
        finish = do("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
        model.plays("mini-swe-agent", in_turn(command, finish))
        model.plays_without_tools("aider", in_turn(say(SEARCH_AND_REPLACE)))
        place = Place(site.place.root, site.place.home.with_name("another"), model.url)

        def change() -> None:
            run(cli, place, f"[script:{cli.name}] Make two larger")
            until(lambda: site.holders() == {"outside"})

        changed = once(change)

        def script() -> Generator[Turn, Results, str]:
            yield site.acts.read(site.root, "app.py")
            changed()
            yield site.acts.swap(site.root, "app.py", "    return 1", "    return 11")
            return "Done."

        site.play(script)
        assert site.text("app.py") == APP.replace("1", "11").replace("2", "22")
        (told,) = [each for each in model.of("main")[-1].asked.prompts if "`two` in app.py" in each]
        assert "outside" in told


def test_a_prompt_of_a_person_is_what_others_see_as_its_intent(site: Site) -> None:
    site.play(swapped(site, "    return 1", "    return 11"))
    assert any("Improve the code" in str(event) for event in site.commits())


def test_a_text_alone_takes_nothing(site: Site) -> None:
    site.play(in_turn(say("Nothing to do.")))
    assert site.commits() == []
