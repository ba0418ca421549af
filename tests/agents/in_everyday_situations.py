"""An agent's everyday life with Commonhold, played by the agents' own programs: `make test-agents`."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from tests.agents import file_server
from tests.agents.cli import Cli, Place, outcome
from tests.agents.clis import CLAUDE, CODEX, GEMINI, OPENCODE
from tests.agents.site import APP, Site, coordinated, installed, once
from tests.e2e.scripted.conversation import Results, Turn, do, in_turn
from tests.e2e.scripted.server import ScriptedModel
from tests.habits import project
from tests.habits.lives import PROGRAMS, Life
from tests.habits.table import TABLE
from tests.patience import until

HOUR: Final = (
    *("a new file by a here-document", "python by a here-document", "a here-document for bash", "sed in a loop"),
    *("make runs a formatter", "ruff checks", "ruff fixes", "ruff formats all", "mypy", "pytest", "make installs"),
    *("npm run", "npm test", "npm pkg", "npm install", "node writes", "python writes and renames", "in the background"),
    *("git add and commit", "git switch -c", "git stash", "git merge", "git tag", "coverage", "compileall", "venv"),
    *("tar to a new one", "zip", "sqlite makes one"),
)
"""Rows of the table of habits that can follow one another."""
VARYING: Final = re.compile(
    r"\b\d+(?:\.\d+)?(?: ?m?s\b| seconds\b)|Chunk ID: \w+|(?<=duration_ms )[\d.]+|\b[0-9a-f]{7,40}\b"
)
OLD, NEW = "    return  total([1, 2])", "    return  total([1, 2, 3])"
HOOK: Final = """\
#!/bin/sh
for each in $(git diff --cached --name-only); do sed -i 's/return  /return /' "$each" && git add "$each"; done
"""
KEPT: Final = re.compile(r"commonhold show ([0-9a-f]{16,64})\b")


def hour(folder: Path, cli: Cli, model: ScriptedModel) -> tuple[Site, Life, dict[str, str]]:
    """The project of the habits, an agent that works there, and what its commands find in their environment."""
    life = Life(folder, (), folder.with_name("pristine"))
    place = Place(life.root, folder.with_name(f"{folder.name}-home") / "home", model.url)
    place.home.mkdir(parents=True)
    return Site(cli, place, model), life, {key: text for key, text in life.environment.items() if key != "HOME"}


def spent(site: Site, variables: dict[str, str]) -> list[str]:
    """What the model was told in an hour of ordinary commands, and all else that it was told."""
    lines = {row.name: row.line for row in TABLE}
    acts, name = site.acts, site.place.root.parent.name
    edits = (acts.read(site.root, "src/use.py"), acts.swap(site.root, "src/use.py", OLD, NEW))
    ended = outcome(site.begin(name, in_turn(*edits, *(acts.run(lines[each]) for each in HOUR)), **variables), 600)
    assert ended.status == 0, ended.complaint
    plain = [each.replace(str(site.place.root.parent), "SITE") for each in site.told(name)]
    assert len(plain) == len(HOUR) + len(edits)
    more = [each.replace(name, "") for each in site.model.of(name)[-1].asked.prompts[1:]]
    return [VARYING.sub("", each) for each in (*plain, *more)]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("cli", [CLAUDE, CODEX], ids=lambda cli: cli.name)
def test_who_is_alone_notices_nothing(cli: Cli, tmp_path: Path, model: ScriptedModel) -> None:
    """Formatters, linters, tests, builds, archives, packages, here-documents, git: all is as without Commonhold."""
    project.make(tmp_path / "pristine", PROGRAMS)
    (without, bare, variables), (site, ours, also) = (hour(tmp_path / name, cli, model) for name in ("bare", "ours"))
    wanted = spent(without, variables)
    with installed(site):
        told = spent(site, also)
    for here, there in zip(told, wanted, strict=True):
        # Codex reads standard output and error by two pipes, and tells them as they come.
        assert here == there or (cli is CODEX and sorted(here.splitlines()) == sorted(there.splitlines()))
    assert not any("commonhold" in each.lower() for each in told)
    different = {name for name, _ in bare.look().items() ^ ours.look().items()}
    assert {name for name in different if not name.startswith(("work/.codex", "work/src.tar.gz", "git "))} == set()


def test_a_formatter_in_pre_commit_takes_none_of_anothers_lines(tmp_path: Path, model: ScriptedModel) -> None:
    """It formats and adds the whole file, in which another has lines that are not committed."""
    with coordinated(CLAUDE, tmp_path, model) as site:
        hook = site.place.root / ".git/hooks/pre-commit"
        hook.write_text(HOOK)
        hook.chmod(0o755)
        acts, over = site.acts, tmp_path / "over"
        edit = (acts.read(site.root, "app.py"), acts.swap(site.root, "app.py", "    return 2", "    return  22"))
        waits = acts.run(f"until [ -e {over} ]; do sleep 0.2; done")
        other = site.begin("other", in_turn(*edit, waits), home="other")
        until(lambda: "22" in site.text("app.py"))
        commit = acts.run("git -c user.name=b -c user.email=b@example.invalid commit -qam One && git status --short")
        mine = (acts.read(site.root, "app.py"), acts.swap(site.root, "app.py", "    return 1", "    return  11"))
        site.play(in_turn(*mine, commit))
        over.touch()
        assert outcome(other).status == 0
        shown = subprocess.run(
            ["git", "show", "HEAD:app.py"], cwd=site.root, capture_output=True, text=True, check=True
        )
        assert shown.stdout == APP.replace("return 1", "return 11"), site.told()
        assert "    return  22\n" in site.text("app.py"), "what was not committed is as its author wrote it"


def served(cli: Cli, site: Site) -> Site:
    """The same with a server of file tools, as a user of this agent adds one."""
    command = [sys.executable, file_server.__file__]
    server = {"command": command[0], "args": command[1:]}
    if cli is CLAUDE:
        added = ("--mcp-config", json.dumps({"mcpServers": {"files": server}}), "--strict-mcp-config")
        return replace(site, cli=replace(cli, command=lambda *what: [*cli.command(*what), *added]))
    more: tuple[str, dict[str, Any]] = {
        GEMINI: (".gemini/settings.json", {"mcpServers": {"files": {**server, "trust": True}}}),
        OPENCODE: ("opencode.json", {"mcp": {"files": {"type": "local", "command": command, "enabled": True}}}),
    }[cli]
    path = site.place.root / more[0]
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(settings | more[1]))
    return site


TOOL: Final = {"claude": "mcp__files__", "gemini": "mcp_files_", "opencode": "files_"}


@pytest.mark.parametrize("cli", [CLAUDE, GEMINI, OPENCODE], ids=lambda cli: cli.name)
def test_file_tools_of_an_mcp_server_are_kept_from_what_others_hold(
    cli: Cli, tmp_path: Path, model: ScriptedModel
) -> None:
    """The model is told who holds it, what for and for how long; what is free is written without a word."""
    with coordinated(cli, tmp_path, model) as plain:
        site = served(cli, plain)
        site.commonhold("acquire", "app.py", "--task", "rework two")
        tool, root = TOOL[cli.name], site.root
        held = {"path": f"{root}/app.py", "edits": [{"oldText": "return 2", "newText": "return 22"}]}
        free = {"path": f"{root}/notes.txt", "edits": [{"oldText": "alpha", "newText": "ALPHA"}]}
        site.play(
            in_turn(
                do(f"{tool}write_file", path=f"{root}/app.py", content="gone\n"),
                do(f"{tool}edit_file", held),
                do(f"{tool}write_file", path=f"{root}/new.txt", content="new\n"),
                do(f"{tool}edit_file", free),
            )
        )
        told = site.told()
        assert site.text("app.py") == APP
        assert (site.text("new.txt"), site.text("notes.txt")) == ("new\n", "ALPHA\nbeta\ngamma\n")
        for each in told[:2]:
            assert re.search(r"(?s)ann.*rework two.*\d+ (?:s|min|h)\b.*next: ", each), each
        assert all("Successfully" in each and "ommonhold" not in each for each in told[2:]), told
        (holder,) = site.holders()
        assert holder.startswith(f"{cli.name}:")


def test_two_agents_and_a_persons_editor_lose_nothing(tmp_path: Path, model: ScriptedModel) -> None:
    """A person saves a file that two agents are at, with an old text of what one of them has changed."""
    with coordinated(CLAUDE, tmp_path, model) as site:
        app = site.place.root / "app.py"
        begun = APP + "\n\ndef three():\n    return 3\n"
        app.write_text(begun)
        saved = tmp_path / "saved"

        def save() -> None:
            """As many editors do it: another file of that name, with what was there before the first agent's edit."""
            until(lambda: site.holders() >= {"outside"} or len(site.commits()) > 0)
            new = app.with_name("app.py~")
            new.write_text(begun.replace("return 3", "return 33"))
            new.replace(app)
            until(lambda: "return 33" in str(site.commonhold("log", "--json")) or "outside" in site.holders())
            saved.touch()

        saves = once(save)

        def first() -> Generator[Turn, Results, str]:
            yield site.acts.read(site.root, "app.py")
            yield site.acts.swap(site.root, "app.py", "    return 1", "    return 11")
            saves()
            yield site.acts.read(site.root, "notes.txt")
            yield site.acts.read(site.root, "app.py")
            return "Done."

        def second() -> Generator[Turn, Results, str]:
            yield site.acts.read(site.root, "app.py")
            yield site.acts.run(f"until [ -e {saved} ]; do sleep 0.2; done")
            for _ in range(2):  # Claude Code itself may want it read again, since somebody has saved it
                yield site.acts.swap(site.root, "app.py", "    return 2\n", "    return 22\n")
                yield site.acts.read(site.root, "app.py")
            return "Done."

        running = [site.begin(each.__name__, each, home=each.__name__) for each in (first, second)]
        assert [outcome(each).status for each in running] == [0, 0]
        names = ("first", "second")
        heard = {each: "\n".join((*site.told(each), *site.model.of(each)[-1].asked.prompts)) for each in names}
        assert site.text("app.py") == begun.replace("return 2", "return 22").replace("return 3", "return 33")
        assert "app.py" in heard["second"]
        kept = KEPT.search(heard["first"])
        assert kept, heard["first"]
        assert "return 11" in site.commonhold("show", kept[1], "--to", "/dev/stdout")


@pytest.mark.parametrize("cli", [CLAUDE, CODEX], ids=lambda cli: cli.name)
def test_a_daemon_that_is_killed_in_a_shell_command_costs_nothing(
    cli: Cli, tmp_path: Path, model: ScriptedModel
) -> None:
    """The command ends as it does without us, what it wrote is there, and the session's work goes on."""
    with coordinated(cli, tmp_path, model) as site:
        acts = site.acts
        begun, killed = tmp_path / "begun", tmp_path / "killed"

        def kill() -> None:
            until(begun.exists)
            os.kill(site.daemon(), signal.SIGKILL)
            killed.touch()

        command = (
            f"echo x > before.txt; touch {begun}; until [ -e {killed} ]; do sleep 0.1; done; echo x > after.txt; exit 3"
        )
        swap = (acts.read(site.root, "app.py"), acts.swap(site.root, "app.py", "    return 1", "    return 11"))
        killing = threading.Thread(target=kill)
        killing.start()
        ended = site.play(in_turn(acts.run(command), *swap))
        killing.join()
        assert ended.status == 0, ended.complaint
        told = site.told()
        assert re.search(r"(?i)(?:exit )?code:? 3", told[0]), told
        assert site.text("app.py") == APP.replace("return 1", "return 11"), told
        assert (site.text("before.txt"), site.text("after.txt")) == ("x\n", "x\n")
        (holder,) = site.holders()
        assert holder.startswith(f"{cli.name}:")
        assert site.leases() == []
