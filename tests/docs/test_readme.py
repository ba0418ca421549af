"""README.md can be followed to the letter: its shell blocks do what it shows, its Python block too."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
LEASE = re.compile(r"lease-[0-9a-f]+")
# What need not be the same: ids, times, hashes.
TIME = r"(?:in )?(?:less than )?\d+ \w+(?: ago)?, (?:on [\d-]+ )?at [\d:]+"
VOLATILE = re.compile(rf"lease-[0-9a-f]+|\b[0-9a-f]{{16}}\b|{TIME}")


def blocks(language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(TEXT) if name == language]


def calls() -> list[tuple[str, str]]:
    """Each command that a console block shows, with the output that it shows."""
    found = [part for body in blocks("console") for part in body.split("$ ", 1)[1].split("\n$ ")]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in found)]


def pattern(shown: str) -> re.Pattern[str]:
    """What the output has to match: word by word, but for ids and times, and for all that `…` leaves out."""
    words = VOLATILE.sub("\0", shown.strip())
    escaped = re.escape(words).replace(re.escape("\0"), rf"(?:{TIME}|\S+)")
    return re.compile(escaped.replace(re.escape("…"), ".*"), re.DOTALL)


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The repository that README.md makes, and an environment in which `commonhold` is this one."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "commonhold"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m commonhold "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COMMONHOLD_AGENT": "agent-1"}
    (begin,) = (body for body in blocks("sh") if "git init" in body)
    subprocess.run(["sh", "-e", "-c", begin], cwd=tmp_path, env=environment, check=True)
    return tmp_path / "shop", environment


def test_the_walkthrough(shop: tuple[Path, dict[str, str]]) -> None:
    folder, environment = shop
    real: dict[str, str] = {}
    before = ""
    for command, shown in calls():
        for known, lease in real.items():
            command = command.replace(known, lease)  # noqa: PLW2901 - as its reader would type it
        script = f'{before}{command}\necho "base=$base" > .base'
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, check=False, capture_output=True)
        said = done.stdout.decode()
        assert pattern(shown).fullmatch(said.strip()), (command, said, done.stderr)
        real |= dict(zip(LEASE.findall(shown), LEASE.findall(said), strict=False))
        before = (folder / ".base").read_text(encoding="utf-8")
    assert "round(amount, 2)" in (folder / "prices.py").read_text(encoding="utf-8")


def test_the_python_block(shop: tuple[Path, dict[str, str]]) -> None:
    folder, environment = shop
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
