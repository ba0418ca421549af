"""`commonhold install git` and `uninstall git`: what is set, once, and taken out again to the byte."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from tests.e2e.branches import asked
from tests.e2e.cli_driver import Call, git

from commonhold.workspace.git.merge_driver_settings import wanted

pytestmark = pytest.mark.slow

LINE = b"* merge=commonhold\n"


def config(root: Path) -> bytes:
    return (root / ".git" / "config").read_bytes()


def test_what_is_set(run: Call, root: Path) -> None:
    done = run("install", "git")
    assert done.status == 0
    assert done.text.count("added ") == 6
    assert asked(root, "config", "merge.default") == "commonhold"
    assert asked(root, "config", "merge.commonhold.recursive") == "text"
    assert asked(root, "config", "--type=bool", "mergetool.commonhold.trustExitCode") == "true"
    for key in ("merge.commonhold.driver", "mergetool.commonhold.cmd"):
        assert asked(root, "config", key).startswith(f"{shlex.quote(sys.executable)} -P -m commonhold merge-file ")
    assert asked(root, "status", "--porcelain") == ""


def test_a_second_time_changes_nothing(run: Call, root: Path) -> None:
    run("install", "git")
    before = config(root)
    assert run("install", "git").text == "nothing to change: all is as it should be\n"
    assert config(root) == before


def test_a_dry_run_tells_the_same_and_changes_nothing(run: Call, root: Path) -> None:
    before = config(root)
    trial = run("install", "git", "--dry-run", "--json").json
    assert config(root) == before
    real = run("install", "git", "--json").json
    assert trial.pop("dry_run")
    assert not real.pop("dry_run")
    assert trial == real
    assert (real["outcome"], len(real["changes"])) == ("changed", 6)
    assert run("uninstall", "git", "--dry-run", "--diff").text.count("removed ") == 6
    assert asked(root, "config", "merge.default") == "commonhold"


@pytest.mark.parametrize(
    "mine",
    [
        b"",
        b"# a comment of mine\n[user]\n\tname = x   ; why\n[ALIAS]\n co=checkout\n",
        b'[merge]\n\ttool = meld\n\n\n[merge "ours"]\n\tdriver = true\n',
        b"[mergetool]\n\tkeepBackup = false\n# the end without a section\n",
    ],
)
def test_uninstalling_leaves_the_users_settings_to_the_byte(mine: bytes, run: Call, root: Path) -> None:
    with (root / ".git" / "config").open("ab") as file:
        file.write(mine)
    before = config(root)
    run("install", "git")
    assert config(root) != before
    assert run("uninstall", "git").status == 0
    assert config(root) == before
    assert run("uninstall", "git").text == "nothing to change: all is as it should be\n"


def test_another_default_is_left_and_said(run: Call, root: Path) -> None:
    git(root, "config", "merge.default", "union")
    answer = run("install", "git", "--json").json
    assert "merge.default is 'union'" in answer["notices"][0]
    assert asked(root, "config", "merge.default") == "union"
    assert asked(root, "config", "merge.commonhold.name")
    run("uninstall", "git")
    assert asked(root, "config", "merge.default") == "union"


def test_what_another_installation_set_is_replaced(run: Call, root: Path) -> None:
    run("install", "git")
    after = config(root)
    git(root, "config", "merge.commonhold.driver", "/old/python -m commonhold")
    done = run("install", "git")
    assert done.text.startswith("replaced config: merge.commonhold.driver = ")
    assert config(root) == after


@pytest.mark.parametrize(
    "mine", [None, b"", b"*.png binary\n", b"\xef\xbb\xbf*.png binary\n", b"*.png binary", b"a\r\nb\r\n"]
)
def test_shared_attributes_come_first_and_go_again(mine: bytes | None, run: Call, root: Path) -> None:
    place = root / ".gitattributes"
    if mine is not None:
        place.write_bytes(mine)
    run("install", "git", "--shared")
    assert LINE in place.read_bytes()
    assert asked(root, "check-attr", "merge", "a.py").endswith(": commonhold")
    if mine and b"png" in mine:
        assert asked(root, "check-attr", "merge", "a.png").endswith(": unset")
    assert run("install", "git", "--shared").text.startswith("nothing to change")
    run("uninstall", "git")
    assert LINE in place.read_bytes()
    run("uninstall", "git", "--shared")
    assert (place.read_bytes() if place.exists() else None) == (mine or None)
    assert b"commonhold" not in config(root)


def test_attributes_that_are_a_link_are_not_written_through(run: Call, root: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (root / ".gitattributes").symlink_to(target)
    done = run("install", "git", "--shared", "--json")
    assert (done.status, done.json["code"]) == (3, "NOT_A_FILE")
    assert target.read_bytes() == b"precious"
    assert b"commonhold" not in config(root)


@pytest.mark.parametrize("words", [("install", "git"), ("uninstall", "git"), ("merge", "other")])
def test_it_takes_a_git_repository(
    words: tuple[str, ...], run: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    done = run(*words, "--json")
    assert (done.status, done.json["code"]) == (3, "REPOSITORY_PLAIN")


def test_all_working_trees_of_a_repository_have_it(run: Call, root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    assert run("-C", str(tmp_path / "side"), "install", "git").status == 0
    assert asked(root, "config", "merge.default") == "commonhold"


def test_git_that_cannot_write_its_settings(run: Call, root: Path) -> None:
    (root / ".git" / "config.lock").touch()
    done = run("install", "git", "--json")
    assert (done.status, done.json["code"]) == (4, "GIT_FAILED")
    assert "lock" in done.json["message"]


def test_odd_interpreter_names_are_quoted() -> None:
    settings = wanted("/odd path/it's 100%/python")
    assert settings["merge.commonhold.driver"].startswith("""'/odd path/it'"'"'s 100%%/python' -P """)
    assert settings["mergetool.commonhold.cmd"].startswith("""'/odd path/it'"'"'s 100%/python' -P """)


def test_doctor_says_whether_git_merges_with_us(run: Call, root: Path) -> None:
    def told() -> tuple[str, str]:
        findings = json.loads(run("doctor", "--json").out)["findings"]
        (found,) = (each for each in findings if each["check"] == "merge driver")
        return found["level"], found["found"]

    assert told() == ("ok", "not installed: git merges by itself")
    run("install", "git")
    assert told() == ("ok", "git merges with commonhold")
    git(root, "config", "merge.commonhold.driver", "'/nowhere/py thon' -P -m commonhold merge-file")
    assert told()[0] == "warn"
