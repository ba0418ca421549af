"""Brings the agents' own programs: `python -m tests.agents.fetch FOLDER`. What is there in the right version stays."""

import subprocess
import sys
from pathlib import Path

from tests.agents.cli import Cli
from tests.agents.clis import HOOKED, HOOKLESS

NPM = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix")


def fetch(cli: Cli, folder: Path) -> None:
    """Install one agent's program, in a folder that is its alone: they agree on no dependency."""
    home, mark = folder / cli.name, folder / cli.name / "fetched"
    if mark.exists() and mark.read_text() == cli.package:
        return
    print(f"Fetching {cli.package}", file=sys.stderr)  # noqa: T201 - it takes minutes
    home.mkdir(parents=True, exist_ok=True)
    if cli in HOOKED:
        subprocess.run([*NPM, str(home), cli.package], check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(home / "bin" / "pip"), "install", "--quiet", cli.package], check=True)
    mark.write_text(cli.package)


if __name__ == "__main__":
    for each in (*HOOKED, *HOOKLESS):
        fetch(each, Path(sys.argv[1]))
