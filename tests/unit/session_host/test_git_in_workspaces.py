"""Git does the same in a workspace, of either kind, as in a plain clone: random operations, compared after each."""

import os
import random
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.effort import is_stress
from tests.unit.session_host.repository import Project, git, projects

from commonhold.config import OverlayUse

# The plain kind is git's own: an example of it shows that the comparison is right.
SEEDS = [*((OverlayUse.ALWAYS, seed) for seed in range(30 if is_stress() else 3)), (OverlayUse.NEVER, 0)]
OPERATIONS = 300 if is_stress() else 75
NAMES = ("a", "b", "dir/a", "dir/b", "dir/deep/a", "other/c", "new/d", "ä ö")
FOLDERS = ("dir", "dir/deep", "other", "new")
BRANCHES = ("agent/s1", "one", "two")
# Commits are equal only if their times are.
WHO = {f"GIT_{each}_{key}": value for each in ("AUTHOR", "COMMITTER") for key, value in (("NAME", "a"), ("EMAIL", "b"))}
TIMES = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}

Step = Callable[[Path], object]


def ran(place: Path, *words: str) -> tuple[int, bytes]:
    """Run git; return how it ended."""
    done = subprocess.run(
        ("git", "-c", "gc.auto=0", "-c", "rerere.enabled=false", *words),
        cwd=place,
        env={**os.environ, **WHO, **TIMES, "GIT_EDITOR": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout


def called(call: Callable[[Path], object]) -> Step:
    """Return a step on the file system; its result is the error, if there is one."""

    def step(place: Path) -> int | None:
        try:
            call(place)
        except OSError as fault:
            return fault.errno
        return None

    return step


def write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def relinked(place: Path) -> None:
    place.unlink(missing_ok=True)
    place.symlink_to("dir/a")


def any_step(chance: random.Random) -> tuple[str, Step]:
    """Return a random operation, and its name."""
    name, other = chance.choice(NAMES), chance.choice(NAMES)
    folder, branch = chance.choice(FOLDERS), chance.choice(BRANCHES)
    content = "".join(f"{chance.randrange(9)}\n" for _ in range(chance.randrange(12))).encode()
    target = chance.choice((*NAMES, *FOLDERS, "moved"))
    on_files: dict[str, Step] = {
        f"write {name}": called(lambda place: write(place / name, content)),
        f"append {name}": called(lambda place: (place / name).write_bytes((place / name).read_bytes() + b"more\n")),
        f"delete {name}": called(lambda place: (place / name).unlink()),
        f"link {name}": called(lambda place: relinked(place / name)),
        f"mode {name}": called(lambda place: (place / name).chmod(0o755)),
        f"rename {name} {other}": called(lambda place: (place / name).rename(place / other)),
        f"rename {folder} {target}": called(lambda place: (place / folder).rename(place / target)),
        f"folder {name}": called(lambda place: (place / name).mkdir()),
    }
    of_git: tuple[tuple[str, ...], ...] = (
        *(("add", "--all"),) * 3,
        *(("commit", "--quiet", "--all", "--message", f"c{chance.random()}"),) * 3,
        ("commit", "--quiet", "--amend", "--no-edit"),
        ("add", name),
        ("rm", "--quiet", "-r", "--cached", name),
        ("rm", "--quiet", "-r", "-f", folder),
        ("mv", name, other),
        ("mv", folder, "moved"),
        ("mv", "moved", folder),
        ("checkout", "--quiet", "-f", "-B", branch),
        ("checkout", "--quiet", branch),
        ("checkout", "--quiet", "HEAD~1", "--", "."),
        ("checkout", "--quiet", "--detach", "HEAD~1"),
        ("switch", "--quiet", "--discard-changes", branch),
        ("restore", "--quiet", "."),
        ("restore", "--quiet", "--staged", "."),
        ("reset", "--quiet", chance.choice(("--soft", "--mixed", "--hard", "--keep")), "HEAD~1"),
        ("reset", "--quiet", "--hard"),
        ("stash", "push", "--quiet", "--include-untracked"),
        ("stash", "pop", "--quiet"),
        ("clean", "-ffdqx"),
        ("merge", "--quiet", "--no-edit", branch),
        ("merge", "--abort"),
        ("rebase", "--quiet", branch),
        ("rebase", "--abort"),
        ("cherry-pick", branch),
        ("cherry-pick", "--abort"),
        ("revert", "--no-edit", "HEAD"),
        ("revert", "--abort"),
    )
    if chance.random() < 0.5:
        return chance.choice([*on_files.items()])
    words = chance.choice(of_git)
    return " ".join(words), lambda place: ran(place, *words)[0]


def seen(place: Path) -> tuple[object, ...]:
    """Return all that git and the file system say of a working tree."""
    files = []
    for above, below, names in os.walk(place):
        if ".git" in below:
            below.remove(".git")
        for each in sorted({*below, *names} - {".git"}):
            path = Path(above, each)
            status = path.lstat()
            if path.is_symlink():
                content: object = path.readlink()
            else:
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
            files.append((str(path.relative_to(place)), status.st_mode, content))
    return ran(place, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"), sorted(files, key=repr)


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Project]:
    yield from projects(tmp_path, request.param)


@pytest.mark.slow
@pytest.mark.parametrize(("project", "seed"), SEEDS, indirect=["project"])
def test_random_operations_end_as_in_a_clone(project: Project, seed: int) -> None:
    for name in NAMES:
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        project.write(name, f"{name}\n" * 5)
    project.commit("files")
    clone = project.root.parent / "clone"
    git(project.root.parent, "clone", "--quiet", "--no-tags", str(project.root), str(clone))
    git(clone, "checkout", "--quiet", "--no-track", "-b", "agent/s1")
    note = project.worktrees.make(project.session(), 1)
    place, chance, done = Path(note.path), random.Random(seed), []
    for _ in range(OPERATIONS):
        name, step = any_step(chance)
        done.append(name)
        assert step(place) == step(clone), done
        assert seen(place) == seen(clone), done
    result, is_complete = project.worktrees.harvest(note)
    assert is_complete
    ran(clone, "add", "--all")
    assert ran(clone, "write-tree")[1].decode().strip() == git(project.root, "rev-parse", f"{result.snapshot}^{{tree}}")
