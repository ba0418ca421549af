"""AgentConflictBench: patches that pass alone and fail together, and controls that do not, given to `commonhold check`.

`instances/<id>/` holds `metadata.json`, which names the repository and the commit, `patch_a.patch` and `patch_b.patch`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.merging.repository import WHO, Repository

CHECK: Final = (sys.executable, "-m", "commonhold", "check", "--json")


@dataclass(frozen=True)
class Instance:
    """One pair of patches, and the commit that both were made on."""

    name: str
    repository: Repository
    commit: str
    patches: tuple[bytes, bytes]
    is_control: bool


@dataclass(frozen=True)
class Checked:
    """What the check says of the pair, in both directions."""

    name: str
    is_control: bool
    outcomes: tuple[str, ...]
    findings: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_right(self) -> bool:
        """Whether a conflict is flagged whoever merges whom, or a control is admitted so."""
        return all(each in (("admitted",) if self.is_control else ("escalated", "refused")) for each in self.outcomes)


def instances(source: Repository, repositories: Iterable[Repository]) -> Iterator[Instance]:
    """Those whose repository is at hand; where it lacks the commit, HEAD serves if it has the very files."""
    listed = source.run("ls-tree", "-r", "--name-only", "HEAD", "instances/").decode().splitlines()
    for path in sorted(path for path in listed if path.endswith("/metadata.json")):
        told: Mapping[str, Any] = json.loads(source.text(f"HEAD:{path}"))
        folder, name = path.removesuffix("/metadata.json"), told["repo"].rpartition("/")[2]
        patches = [source.run("show", f"HEAD:{folder}/patch_{side}.patch") for side in "ab"]
        is_control = told["composition_expected"] == "pass"
        for repository in repositories:
            commit = _commit_of(repository, told["base_commit"], patches) if str(repository) == name else None
            if commit is not None:
                yield Instance(told["id"], repository, commit, (patches[0], patches[1]), is_control)


def _commit_of(repository: Repository, commit: str, patches: Sequence[bytes]) -> str | None:
    if repository.holds(commit):
        return commit
    text = b"\n".join(patches).decode()
    paths, blobs = re.findall(r"^--- a/(.+)$", text, re.MULTILINE), re.findall(r"^index (\w+)\.\.", text, re.MULTILINE)
    head = repository.run("rev-parse", "HEAD").decode().strip()
    names = repository.names(head, paths)
    return head if all(names[path].startswith(blob) for path, blob in zip(paths, blobs, strict=True)) else None


def measure(source: Repository, repositories: Sequence[Repository]) -> list[Checked]:
    """Check every pair whose repository is at hand."""
    with tempfile.TemporaryDirectory(prefix="bench-semantics-") as folder:
        return [_checked(Path(folder) / each.name, each) for each in instances(source, repositories)]


def _checked(folder: Path, instance: Instance) -> Checked:
    _git(Path("."), "init", "--quiet", str(folder))  # noqa: PTH201 - where git is run from does not matter here
    (folder / ".git/objects/info/alternates").write_text(f"{instance.repository.place / 'objects'}\n")
    base = _git(folder, "rev-parse", f"{instance.commit}^{{tree}}")
    root = _git(folder, "commit-tree", base, "-m", "base")
    sides = [_commit(folder, root, patch) for patch in instance.patches]
    told = [_check(folder, root, *pair) for pair in (sides, sides[::-1])]
    outcomes = tuple(str(each.get("outcome", each)) for each in told)
    findings = tuple(json.dumps(each) for answer in told for each in answer.get("findings", ()))
    return Checked(instance.name, instance.is_control, outcomes, findings)


def _commit(folder: Path, root: str, patch: bytes) -> str:
    _git(folder, "read-tree", root)
    _git(folder, "apply", "--cached", "-", given=patch)
    return _git(folder, "commit-tree", _git(folder, "write-tree"), "-p", root, "-m", "side")


def _check(folder: Path, base: str, ours: str, theirs: str) -> dict[str, Any]:
    command = [*CHECK, "--base", base, "--ours", ours, "--theirs", theirs]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"outcome": f"failed: {done.stderr.strip() or done.stdout}"}
    return answer


def _git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    settings = {**os.environ, **WHO}
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=folder, input=given, env=settings, capture_output=True, check=True)  # noqa: S603 - git
    return done.stdout.decode().strip()
