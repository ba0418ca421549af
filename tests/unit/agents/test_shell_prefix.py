"""When Claude Code can be let start our program in place of a shell, and when it is left as its user has it."""

import json
from pathlib import Path

import pytest
from tests.hooked import git

from commonhold.agents.shell_prefix import SETTINGS, VARIABLE, WRAPPER, is_in_force, obstacle
from commonhold.workspace.git.worktrees import main_of


def write(place: Path, program: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"env": {VARIABLE: program}}), encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "work"


def test_nothing_is_in_its_way_where_nothing_is(root: Path, tmp_path: Path) -> None:
    assert obstacle(str(root), str(tmp_path)) == ""
    assert not is_in_force(str(root))


@pytest.mark.parametrize("where", ["work/.claude/settings.local.json", "work/.claude/settings.json"])
def test_the_users_own_stays(where: str, root: Path, tmp_path: Path) -> None:
    write(tmp_path / where, "/usr/bin/nice")
    assert where.removeprefix("work/") in obstacle(str(root), str(tmp_path))
    assert not is_in_force(str(root))


def test_the_users_own_for_all_projects_stays(root: Path, tmp_path: Path) -> None:
    write(tmp_path / ".claude/settings.json", "/usr/bin/nice")
    assert "~/.claude/settings.json" in obstacle(str(root), str(tmp_path))


def test_ours_is_no_obstacle_and_in_force_where_it_names_this_place(root: Path, tmp_path: Path) -> None:
    write(root / SETTINGS, f"{root}/{WRAPPER}")
    assert obstacle(str(root), str(tmp_path)) == ""
    assert is_in_force(str(root))
    write(root / SETTINGS, f"/elsewhere/{WRAPPER}")
    assert not is_in_force(str(root))


def test_ours_in_the_main_working_tree_is_in_force_in_linked_ones(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", str(root))
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    for name in ("beside", "work/.claude/worktrees/inside"):
        git(root, "worktree", "add", "-q", str(tmp_path / name))
        assert main_of(str(tmp_path / name)) == str(root)
        assert not is_in_force(str(tmp_path / name))
    write(root / SETTINGS, f"{root}/{WRAPPER}")
    assert is_in_force(str(tmp_path / "beside"))
    assert is_in_force(str(tmp_path / "work/.claude/worktrees/inside"))
    write(tmp_path / "beside" / SETTINGS, "/usr/bin/nice")
    assert not is_in_force(str(tmp_path / "beside"))


@pytest.mark.parametrize("told", ["gitdir: ../.git/modules/lib", "gitdir: /x", "", "gitdir: /srv/repo.git/worktrees/x"])
def test_what_is_no_linked_working_tree_has_no_main_one(told: str, root: Path) -> None:
    root.mkdir()
    (root / ".git").write_text(told, encoding="utf-8")
    assert main_of(str(root)) is None


def test_a_path_that_claude_code_would_cut_cannot_be_named(tmp_path: Path) -> None:
    assert '" -"' in obstacle(str(tmp_path / "my -work"), str(tmp_path))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"env": []}', '{"env": {"A": 1}}', "\udcff"])
def test_settings_that_say_nothing_are_in_nobodys_way(text: str, root: Path, tmp_path: Path) -> None:
    (root / SETTINGS).parent.mkdir(parents=True)
    (root / SETTINGS).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert obstacle(str(root), str(tmp_path)) == ""
    assert not is_in_force(str(root))
