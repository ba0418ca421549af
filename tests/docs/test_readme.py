"""README.md and docs/quick-start.md can be followed to the letter: their blocks do what they show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "README.md"
QUICK_START = README.parent / "docs/quick-start.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
LEASE = re.compile(r"lease-[0-9a-f]+")
# What need not be the same: ids and times. Hashes depend on the text alone.
TIME = r"(?:in )?(?:less than )?\d+ \w+(?: ago)?, (?:on [\d-]+ )?at [\d:]+"
VOLATILE = re.compile(rf"lease-[0-9a-f]+|{TIME}")


def blocks(language: str, page: Path = README) -> list[str]:
    return [body for name, body in BLOCK.findall(page.read_text(encoding="utf-8")) if name == language]


def calls(page: Path) -> list[tuple[str, str]]:
    """Each command that a console block shows, with the output that it shows."""
    found = [part for body in blocks("console", page) for part in body.split("$ ", 1)[1].split("\n$ ")]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in found)]


def pattern(shown: str) -> re.Pattern[str]:
    """What the output has to match: word by word, but for ids and times, and for all that `…` leaves out."""
    words = VOLATILE.sub("\0", shown.strip())
    escaped = re.escape(words).replace(re.escape("\0"), rf"(?:{TIME}|\S+)")
    return re.compile(escaped.replace(re.escape("…"), ".*"), re.DOTALL)


def made_by(page: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The repository that a page makes, and an environment in which `commonhold` is this one."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "commonhold"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m commonhold "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COMMONHOLD_AGENT": "agent-1"}
    (begin,) = (body for body in blocks("sh", page) if "git init" in body)
    subprocess.run(["sh", "-e", "-c", begin], cwd=tmp_path, env=environment, check=True)
    return tmp_path / "shop", environment


@pytest.mark.parametrize("page", [README, QUICK_START], ids=lambda page: page.stem)
def test_the_walkthrough(page: Path, tmp_path: Path) -> None:
    folder, environment = made_by(page, tmp_path)
    real: dict[str, str] = {}
    before = ""
    for command, shown in calls(page):
        for known, lease in real.items():
            command = command.replace(known, lease)  # noqa: PLW2901 - as its reader would type it
        script = f'{before}{command}\necho "base=$base" > .base'
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, check=False, capture_output=True)
        said = done.stdout.decode()
        assert pattern(shown).fullmatch(said.strip()), (command, said, done.stderr)
        real |= dict(zip(LEASE.findall(shown), LEASE.findall(said), strict=False))
        before = (folder / ".base").read_text(encoding="utf-8")
    assert re.search(r"round\(.*, 2\)", (folder / "prices.py").read_text(encoding="utf-8"))


def test_the_python_block(tmp_path: Path) -> None:
    folder, environment = made_by(README, tmp_path)
    (block,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    assert done.stdout == "committed\n", done.stderr
    assert "sum(items, 0.0)" in (folder / "prices.py").read_text(encoding="utf-8")


def test_every_link_leads_somewhere() -> None:
    for page in (README, *README.parent.glob("docs/*.md"), README.parent / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
