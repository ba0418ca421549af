"""When shells of Codex can be let become the launcher, and when its settings are left as their user has them."""

import tomllib
from pathlib import Path

import pytest

from commonhold.agents.codex_shell import SETTINGS, is_in_force, obstacle
from commonhold.agents.file_pieces import Obstacle, Piece
from commonhold.agents.hook_commands import Ways
from commonhold.agents.project_files import codex, codex_server

BASH = "/bin/bash"
OWN = '[shell_environment_policy]\ninherit = "core"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "it's work"
    (folder / SETTINGS).parent.mkdir(parents=True)
    return folder


def piece_for(root: Path) -> Piece:
    known = Ways(
        "/python", "/lib/commonhold/client/hook_program.py", "/socket", codex_root=str(root), state_folder="/state"
    )
    _, shells = codex(known)
    return shells


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_is_installed_is_in_force_and_no_obstacle_to_itself(root: Path, tmp_path: Path) -> None:
    assert not is_in_force(str(root))
    for own in (None, OWN):
        made = piece_for(root).put(own)
        assert made is not None
        write(root / SETTINGS, made)
        assert is_in_force(str(root))
        assert obstacle(str(root), str(tmp_path), BASH, "") == ""
    assert not is_in_force("/elsewhere")


def test_it_goes_in_and_out_beside_the_server(root: Path) -> None:
    shells, (server,) = piece_for(root), codex_server(Ways("/python", "/hook_program.py", "/socket"))
    for own in (None, OWN, OWN.rstrip()):
        made = server.put(shells.put(own))
        assert made is not None
        policy = tomllib.loads(made)["shell_environment_policy"]
        assert policy["set"]["SHLVL"] == "1"
        assert (shells.trouble(made), server.trouble(made)) == ("", "")
        assert shells.take(server.take(made)) == own


@pytest.mark.parametrize("shell", ["/usr/bin/zsh", "/bin/sh", ""])
def test_only_bash_reads_what_is_set(shell: str, root: Path, tmp_path: Path) -> None:
    assert "only bash" in obstacle(str(root), str(tmp_path), shell, "")


def test_what_bash_would_read_without_us_stays(root: Path, tmp_path: Path) -> None:
    assert "/own/file" in obstacle(str(root), str(tmp_path), BASH, "/own/file")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('shell_environment_policy.include_only = ["PATH"]\n', "include_only"),
        ('[shell_environment_policy.set]\nBASH_ENV = "/own"\n', "BASH_ENV"),
        ('[shell_environment_policy]\nset = { SHLVL = "5" }\n', "SHLVL"),
    ],
)
def test_what_the_user_has_set_stays(text: str, what: str, root: Path, tmp_path: Path) -> None:
    for place in (root / SETTINGS, tmp_path / "home" / "config.toml"):
        write(place, text)
        found = obstacle(str(root), str(tmp_path / "home"), BASH, "")
        assert what in found or "a set in its" in found
        place.unlink()


def test_variables_of_the_user_for_all_projects_are_in_nobodys_way(root: Path, tmp_path: Path) -> None:
    text = '[shell_environment_policy]\nexclude = ["A*"]\nset = { MINE = "1" }\n'
    write(tmp_path / SETTINGS, text)
    assert obstacle(str(root), str(tmp_path / ".codex"), BASH, "") == ""
    write(root / SETTINGS, text)
    assert "a set in its" in obstacle(str(root), str(tmp_path), BASH, "")


@pytest.mark.parametrize(
    "text", [OWN, 'model = "x"\n[shell_environment_policy.more]\n', "shell_environment_policy = {}\n"]
)
def test_what_ours_cannot_be_added_to_is_told_before_it_is_tried(text: str, root: Path, tmp_path: Path) -> None:
    write(root / SETTINGS, text)
    if obstacle(str(root), str(tmp_path), BASH, "") == "":
        assert piece_for(root).put(text) is not None
    else:
        with pytest.raises(Obstacle):
            piece_for(root).put(text)


@pytest.mark.parametrize(
    "text",
    [
        "no toml",
        "shell_environment_policy = 1\n",
        "[shell_environment_policy]\nset = []\n",
        "# commonhold: begin (shell)\n",
    ],
)
def test_settings_that_say_nothing_are_not_in_force(text: str, root: Path) -> None:
    write(root / SETTINGS, text)
    assert not is_in_force(str(root))
