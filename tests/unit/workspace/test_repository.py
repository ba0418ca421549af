"""Which repository a path is in, and whether it may be trusted."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commonhold.kernel.errors import Code, InputError
from commonhold.workspace.repository import Repository, find_repository

Git = Callable[..., None]


@pytest.fixture
def work(tmp_path: Path, git: Git) -> Path:
    git("init", "-q", "work")
    git("-C", "work", "commit", "-q", "--allow-empty", "-m", "first")
    return tmp_path / "work"


def code_of(path: Path) -> Code:
    with pytest.raises(InputError) as caught:
        find_repository(str(path))
    assert caught.value.hint
    return caught.value.code


def test_a_git_repository_is_found_from_below(work: Path) -> None:
    work.joinpath("src/deep").mkdir(parents=True)
    expected = Repository(str(work), str(work / ".git/commonhold"), str(work / ".git"))
    assert find_repository(str(work / "src/deep")) == find_repository(str(work)) == expected
    assert not work.joinpath(".git/commonhold").exists()


def test_worktrees_share_the_state(work: Path, git: Git, tmp_path: Path) -> None:
    git("-C", "work", "worktree", "add", "-q", "../other")
    found = find_repository(str(tmp_path / "other"))
    assert found.root == str(tmp_path / "other")
    assert found.state_folder == find_repository(str(work)).state_folder
    assert found.git_dir == str(work / ".git/worktrees/other")


def test_a_submodule_has_a_state_of_its_own(work: Path, git: Git) -> None:
    git("clone", "-q", "work", "inner")
    git("-C", "work", "submodule", "--quiet", "add", "../inner", "inner")
    found = find_repository(str(work / "inner"))
    assert found.root == str(work / "inner")
    assert found.state_folder == str(work / ".git/modules/inner/commonhold")


def test_a_nested_repository_is_the_nearest(work: Path, git: Git) -> None:
    git("init", "-q", "work/nested")
    assert find_repository(str(work / "nested")).root == str(work / "nested")


def test_a_git_file_may_be_relative_or_absolute(work: Path, tmp_path: Path) -> None:
    for name, text in (("relative", "gitdir: ../work/.git\n"), ("absolute", f"gitdir: {work}/.git\n")):
        tmp_path.joinpath(name).mkdir()
        tmp_path.joinpath(name, ".git").write_text(text)
        assert find_repository(str(tmp_path / name)).git_dir == str(work / ".git")


def test_a_plain_folder_has_its_state_inside(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.joinpath("sub").mkdir(parents=True)
    assert find_repository(str(plain)) == Repository(str(plain), str(plain / ".commonhold"))
    plain.joinpath(".commonhold").mkdir()
    assert find_repository(str(plain / "sub")).root == str(plain)


def test_a_link_to_a_repository_is_the_repository(work: Path, tmp_path: Path) -> None:
    tmp_path.joinpath("link").symlink_to(work)
    assert find_repository(str(tmp_path / "link")).root == str(work)


def test_a_bare_repository_has_nothing_to_edit(git: Git, tmp_path: Path) -> None:
    git("init", "-q", "--bare", "bare.git")
    assert code_of(tmp_path / "bare.git") is Code.REPOSITORY_BARE
    assert code_of(tmp_path / "bare.git/refs") is Code.REPOSITORY_BARE


def test_the_hint_about_a_bare_repository_can_be_followed(git: Git, work: Path, tmp_path: Path) -> None:
    def hint(place: Path) -> str:
        with pytest.raises(InputError) as fault:
            find_repository(str(place))
        return fault.value.hint

    git("init", "-q", "--bare", "new.git")
    assert "git clone . ../work" in hint(tmp_path / "new.git")
    git("clone", "-q", "--bare", str(work), "full.git")
    tmp_path.joinpath("full.git/packed-refs").write_text(f"{'1' * 40} refs/heads/main\n")
    assert "git worktree add ../work" in hint(tmp_path / "full.git")
    assert hint(work / ".git/refs") == f"run this in the working tree: cd {work}"


def test_the_inside_of_git_has_nothing_to_edit(work: Path) -> None:
    assert code_of(work / ".git/refs") is Code.REPOSITORY_BARE


def test_what_leads_nowhere_is_refused(tmp_path: Path) -> None:
    assert code_of(tmp_path / "nothing") is Code.FILE_NOT_FOUND
    for name, text in (("broken", "gitdir: nowhere\n"), ("strange", "\xff\0"), ("empty", "")):
        tmp_path.joinpath(name).mkdir()
        tmp_path.joinpath(name, ".git").write_text(text)
        assert code_of(tmp_path / name) is Code.REPOSITORY_UNTRUSTED


def test_a_git_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("half/.git").mkdir(parents=True)
    assert code_of(tmp_path / "half") is Code.REPOSITORY_UNTRUSTED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("place", [".", ".git"])
def test_a_repository_of_another_user_needs_gits_trust(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    settings = tmp_path / "gitconfig"
    settings.touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    os.chown(work / place, 1234, 1234)
    assert code_of(work) is Code.REPOSITORY_UNTRUSTED
    tmp_path.joinpath(".gitconfig").write_text(f"[safe]\n\tdirectory = {work}\n")
    assert find_repository(str(work)).root == str(work)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_of(work) is Code.REPOSITORY_UNTRUSTED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_state_that_another_user_put_above_is_not_used(tmp_path: Path) -> None:
    tmp_path.joinpath("mine").mkdir()
    tmp_path.joinpath(".commonhold").mkdir()
    assert find_repository(str(tmp_path / "mine")).root == str(tmp_path)
    os.chown(tmp_path / ".commonhold", 12345, 12345)
    assert code_of(tmp_path / "mine") is Code.REPOSITORY_UNTRUSTED


def test_a_state_behind_a_link_is_not_used(tmp_path: Path) -> None:
    tmp_path.joinpath("elsewhere").mkdir()
    tmp_path.joinpath(".commonhold").symlink_to("elsewhere")
    assert code_of(tmp_path) is Code.REPOSITORY_UNTRUSTED
