"""Workspaces as overlay mounts: a checkout that all sessions share lies below, and each has a layer of its own above.

The checkout below, a *base*, is made from git's objects, once, and nothing writes to it afterwards. No working tree of
a person is ever below a workspace: an edit there would appear in running sessions. An overlay is used only if it
behaves as a plain folder does, which is tried rather than guessed from versions: within a user namespace, for example,
folders of the base cannot be renamed.
"""

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace.git.process import Git, overriding

BASES: Final = "refs/commonhold/bases"
"""The refs that keep the commits of the bases, which later ones are compared with."""
MOST_CHANGED: Final = 1_000
"""A base serves commits that differ from its own in at most this many files; they are updated in each workspace."""
_NEW: Final = "new-"
_INDEX: Final = ".index"
_SPARSE: Final = "core.sparsecheckout"
_DECIDES_CONTENT: Final = (
    r"^(core\.(autocrlf|eol|safecrlf|symlinks|filemode|ignorecase|attributesfile|sparsecheckout)|filter\.)"
)
# The index of a base is copied to worktrees, so it must be complete in one file.
_WHOLE_INDEX: Final = overriding({"core.splitIndex": "false", "core.untrackedCache": "false", "index.sparse": "false"})
_OPTIONS: Final = "redirect_dir=on,metacopy=off,index=off"
"""Folders of the base can be renamed; a layer holds whole files; it can be mounted again above a base made anew."""


@dataclass(frozen=True, slots=True)
class Overlays:
    """The bases and the layers of one repository, in `folder`. `boot` tells this start of the machine from all others.

    Bases of another start are not used: a loss of power may have truncated files that were never written to the disk,
    which would look like changes of an agent. Callers that may have to make a base, or that drop bases, hold the lock
    `SessionFiles.making_worktrees`; a base that the note of a workspace names is kept.
    """

    folder: Path
    boot: str

    def layers(self, workspace: Path) -> Path:
        """Return the folder with the layer of a workspace, and the work folder that the kernel needs beside it."""
        return self.folder / "layers" / workspace.name

    def base_for(self, git: Git, common_dir: Path, commit: str) -> str | None:
        """Return the name of a base for a commit, made if need be; None if the machine cannot mount overlays.

        A sparse checkout gets none: it is small, and its patterns may change. Raises StoreError `GIT_FAILED`, OSError.
        """
        asked = git.run("config", "-z", "--get-regexp", _DECIDES_CONTENT).stdout
        if f"\0{_SPARSE}\ntrue\0".encode() in b"\0" + asked:
            return None
        with suppress(OSError):
            asked += (common_dir / "info" / "attributes").read_bytes()
        settings = hashlib.sha256(asked).hexdigest()[:8]
        exact = f"{commit}-{settings}"
        if self._base(exact).is_dir():
            return exact
        newest = next((each for each in reversed(self._by_age()) if each.endswith(f"-{settings}")), None)
        if newest is not None and _differing(git, _commit_of(newest), commit) <= MOST_CHANGED:
            return newest
        if newest is None and not self.is_possible():
            return None
        self._make_base(git, common_dir, exact)
        return exact

    def mount(self, base: str, workspace: Path, git: Git, common_dir: Path) -> None:
        """Mount the layer of a workspace above its base; a base that is gone is made anew.

        Raises StoreError `GIT_FAILED`, `IO_FAILED`.
        """
        if not self._base(base).is_dir():
            self._make_base(git, common_dir, base)
        workspace.mkdir(parents=True, exist_ok=True)
        layers = self.layers(workspace)
        for name in ("upper", "work"):
            (layers / name).mkdir(parents=True, exist_ok=True)
        places = [each.relative_to(self.folder) for each in (self._base(base), layers / "upper", layers / "work")]
        if why := _mount(self.folder, places, workspace):
            raise StoreError(
                Code.IO_FAILED,
                f"the workspace {workspace} cannot be mounted: {why}",
                hint=f"its changed files are in {layers / 'upper'}; let the daemon run as a user who may mount, "
                "or copy them from there",
            )

    def fill(self, base: str, commit: str, workspace: Path, git_dir: Path) -> None:
        """Give a workspace that was just mounted the index of its base, and the files of `commit`, which it is at.

        Raises StoreError `GIT_FAILED`, OSError.
        """
        shutil.copyfile(self._index(base), git_dir / "index")
        if (begun := _commit_of(base)) != commit:
            words = ("read-tree", "-m", "-u", "--no-recurse-submodules", begun, commit)
            Git(str(workspace)).ask(*words, settings=_WHOLE_INDEX)

    def unmount(self, workspace: Path) -> None:
        """Unmount a workspace, even while a process of somebody else stands in it. Raises OSError."""
        if os.path.ismount(workspace):
            done = _run(self.folder, "umount", "-l", str(workspace))
            if done.returncode and os.path.ismount(workspace):
                raise OSError(done.stderr.decode("utf-8", "replace").strip())
        with suppress(OSError):  # a file that was written there while nothing was mounted stays
            (workspace / ".git").unlink(missing_ok=True)
            workspace.rmdir()

    def is_possible(self) -> bool:
        """Try whether an overlay can be mounted here and behaves as a plain folder does."""
        trial = self.folder / f"trial-{secrets.token_hex(4)}"
        try:
            for name in ("below/folder", "upper", "work", "merged"):
                (trial / name).mkdir(parents=True)
            if _mount(trial, ("below", "upper", "work"), trial / "merged"):
                return False
            try:
                (trial / "merged/folder").rename(trial / "merged/renamed")
                (trial / "merged/renamed/file").write_bytes(b"x")
            finally:
                _run(trial, "umount", "-l", str(trial / "merged"))
        except OSError:
            return False
        finally:
            shutil.rmtree(trial, ignore_errors=True)
        return True

    def drop_bases(self, git: Git, in_use: Collection[str], trash: Path) -> None:
        """Move bases that are neither `in_use` nor mounted to the trash; the newest stays until the machine restarts.

        Raises StoreError `GIT_FAILED`, OSError.
        """
        above = self.folder / "bases"
        if not above.is_dir():
            return
        names, mounts = self._by_age(), Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        kept = {*names[-1:], *in_use, *(each for each in names if each in mounts)}
        refs = git.ask("for-each-ref", f"--format=%(refname:lstrip={BASES.count('/') + 1})", BASES)
        for name in refs.decode().split():
            if name not in kept:
                git.ask("update-ref", "-d", f"{BASES}/{name}")
        unused = [each for each in above.iterdir() if each.name != self.boot]
        with suppress(FileNotFoundError):
            unused += [each for each in self._bases.iterdir() if each.name.removesuffix(_INDEX) not in kept]
        for each in unused:
            trash.mkdir(mode=0o700, parents=True, exist_ok=True)
            each.rename(trash / f"{each.name}-{secrets.token_hex(4)}")

    def _make_base(self, git: Git, common_dir: Path, name: str) -> None:
        """Check a commit out as a base. It appears under its name when it is complete."""
        git.ask("update-ref", f"{BASES}/{name}", _commit_of(name))
        fresh = self._bases / f"{_NEW}{secrets.token_hex(4)}"
        fresh.mkdir(parents=True)
        index = self._index(name)
        index.unlink(missing_ok=True)
        there = {"GIT_DIR": str(common_dir), "GIT_WORK_TREE": str(fresh), "GIT_INDEX_FILE": str(index)}
        try:
            words = ("read-tree", "--reset", "-u", "--no-recurse-submodules", _commit_of(name))
            Git(str(fresh)).ask(*words, settings=_WHOLE_INDEX | there)
            fresh.rename(self._base(name))
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _by_age(self) -> list[str]:
        """Return the names of the bases, the newest last."""
        try:
            found = [each for each in self._bases.iterdir() if each.is_dir() and not each.name.startswith(_NEW)]
        except FileNotFoundError:
            return []
        return [each.name for each in sorted(found, key=lambda each: each.stat().st_mtime)]

    @property
    def _bases(self) -> Path:
        return self.folder / "bases" / self.boot

    def _base(self, name: str) -> Path:
        return self._bases / name

    def _index(self, name: str) -> Path:
        return self._bases / f"{name}{_INDEX}"


def this_boot() -> str:
    """Return a name for this start of the machine; the same for all of them where the system has none."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return "unknown"


def _commit_of(base: str) -> str:
    return base.partition("-")[0]


def _differing(git: Git, one: str, other: str) -> int:
    """Count the files that differ between two commits; more than any limit if git cannot say."""
    done = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other)
    return done.stdout.count(b"\0") if done.returncode == 0 else MOST_CHANGED + 1


def _mount(folder: Path, layers: Sequence[Path | str], place: Path) -> str:
    """Mount an overlay at `place`, of the base, the upper and the work folder. Return why that fails, or nothing.

    These are relative to `folder`: commas and colons in it would have a meaning in the options.
    """
    below, upper, work = layers
    options = f"lowerdir={below},upperdir={upper},workdir={work},{_OPTIONS}"
    try:
        done = _run(folder, "mount", "-t", "overlay", "-o", options, "commonhold", str(place))
    except OSError as fault:  # no such program
        return str(fault)
    return done.stderr.decode("utf-8", "replace").strip() or "it failed" if done.returncode else ""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - `mount` and `umount`, with our own paths
        words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False
    )
