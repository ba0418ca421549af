"""A git repository, read and added to through git's own plumbing."""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

Said = subprocess.CompletedProcess[bytes]
Changes = Mapping[str, bytes | None]
"""What differs from a base, by path; None where a file is gone."""

WHO: Final = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "bench"), ("EMAIL", "bench@example.invalid"), ("DATE", "2000-01-01T00:00:00Z"))
}
ABSENT: Final = "0" * 40


class Repository:
    """The repository in `folder`, bare or not."""

    def __init__(self, folder: Path) -> None:
        """Find where it keeps its objects."""
        found = _git("-C", str(folder), "rev-parse", "--path-format=absolute", "--git-common-dir")
        self.place = Path(found.stdout.decode().strip())

    def __str__(self) -> str:
        """Its name for a person: of the first folder above that is not one of git's usual names."""
        names = (part.removesuffix(".git") for part in reversed(self.place.parts))
        return next(name for name in names if name not in ("", "repo")).rpartition("+")[2]

    def run(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> bytes:
        """What git says; it must succeed."""
        done = self.attempt(*arguments, given=given, index=index)
        done.check_returncode()
        return done.stdout

    def attempt(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> Said:
        """What git says, whether or not it succeeds."""
        chosen = {"GIT_INDEX_FILE": str(index)} if index else {}
        return _git("--git-dir", str(self.place), *arguments, given=given, settings=chosen)

    def holds(self, commit: str) -> bool:
        """Whether `commit` is here."""
        return self.attempt("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0

    def text(self, name: str) -> str:
        """The text of what `name` names, such as `HEAD:README.md`; empty where there is none."""
        return self.attempt("cat-file", "blob", name).stdout.decode()

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """The bytes of each object; None where there is none."""
        said = self.run("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
        found: list[bytes | None] = []
        at = 0
        for _ in names:
            end = said.index(b"\n", at)
            head, at = said[at:end], end + 1
            if head.endswith(b" missing"):
                found.append(None)
                continue
            size = int(head.rpartition(b" ")[2])
            found.append(said[at : at + size])
            at += size + 1
        return found

    def differences(self, before: str, after: str) -> dict[str, str]:
        """The object at each path that differs; ABSENT where the file is gone. Links and submodules are left out."""
        said = self.run("diff-tree", "-r", "-z", "--no-renames", before, after).decode(errors="surrogateescape")
        fields = said.split("\0")[:-1]
        rows = zip(fields[::2], fields[1::2], strict=True)
        return {path: row.split()[3] for row, path in rows if row.split()[1][:3] in ("100", "000")}

    def names(self, commit: str, paths: Sequence[str]) -> dict[str, str]:
        """The object at each path of `commit`; ABSENT where there is none."""
        said = self.run("cat-file", "--batch-check", given="".join(f"{commit}:{path}\n" for path in paths).encode())
        rows = [line.split() for line in said.decode().splitlines()]
        return {path: row[0] if row[-2] == "blob" else ABSENT for path, row in zip(paths, rows, strict=True)}

    def changes(self, before: str, after: str) -> dict[str, bytes | None]:
        """The bytes at each path that differs."""
        found = self.differences(before, after)
        return dict(zip(found, self.blobs(list(found.values())), strict=True))

    def commit(self, tree: str, parents: Iterable[str] = ()) -> str:
        """A new commit of `tree`."""
        chosen = [word for parent in parents for word in ("-p", parent)]
        return self.run("commit-tree", tree, *chosen, "-m", "bench").decode().strip()


def store(folder: Path, lenders: Iterable[Repository]) -> Repository:
    """A repository to write to, which sees the objects of `lenders`: made the first time."""
    if not folder.exists():
        _git("init", "--quiet", "--bare", str(folder))
    (folder / "objects/info/alternates").write_text("".join(f"{each.place / 'objects'}\n" for each in lenders))
    return Repository(folder)


def _git(*arguments: str, given: bytes = b"", settings: Mapping[str, str] | None = None) -> Said:
    environment = {**os.environ, **WHO, **(settings or {})}
    command = ["git", *arguments]
    return subprocess.run(command, input=given, env=environment, capture_output=True, check=False)  # noqa: S603 - git, on folders that were chosen
