"""Past commits, with the paths that they changed."""

from pathlib import Path

from tests.e2e.cli_driver import git

from commonhold.workspace.git.past_commits import past_commits
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.tracked_files import all_files


def commit(root: Path, message: str, *names: str) -> None:
    for name in names:
        place = root / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{message}\n", encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)


def test_the_newest_comes_first_with_its_whole_message_and_all_its_paths(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "-b", "main")
    assert past_commits(Git(str(tmp_path)), 10) == ()
    commit(tmp_path, "first", "a.py")
    commit(tmp_path, "second\n\nwith a body", "a.py", "ö/b c.py")
    commit(tmp_path, "nothing")
    found = past_commits(Git(str(tmp_path)), 10)
    assert found == (("nothing", ()), ("second\n\nwith a body", ("a.py", "ö/b c.py")), ("first", ("a.py",)))
    assert past_commits(Git(str(tmp_path)), 1) == (("nothing", ()),)
    assert past_commits(Git(str(tmp_path)), 10, "HEAD~2") == (("first", ("a.py",)),)


def test_all_files_are_those_that_git_does_not_ignore(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "-b", "main")
    commit(tmp_path, "first", "a.py")
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (tmp_path / "x.log").touch()
    (tmp_path / "new.py").touch()
    assert all_files(Git(str(tmp_path))) == {"a.py", ".gitignore", "new.py"}
