"""What is in the repository can be read anywhere: no machine's paths, no registry's address, nothing left to do."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FORBIDDEN = {
    "a path of one machine": r"(?<![\w.])/(?:root|home/\w+|work|Users/\w+|opt/(?:pypi|wheels))/",
    "a registry's address": r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org|proxy\.golang\.org|deb\.debian\.org",
    "a note of unfinished work": r"\b(?:TODO|FIXME|XXX)\b",
    "a conflict marker": r"^(?:<{7}|>{7})(?: |$)",
}


def tracked_files() -> list[Path]:
    """List what git tracks, and what it would: a file should be right before it is added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    files = [ROOT / name for name in names if name]
    return [file for file in files if file.is_file() and not file.is_symlink() and file != Path(__file__)]


def text_of(file: Path) -> str:
    """Read a text file; a binary one counts as empty."""
    data = file.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    found = [
        f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for file in tracked_files()
        for text in [text_of(file)]
        for match in pattern.finditer(text)
    ]
    assert found == []
