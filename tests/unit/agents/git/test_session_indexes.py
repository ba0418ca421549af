"""What is kept of git for each session goes with the sessions."""

import os
import time
from pathlib import Path

from commonhold.agents.git.session_indexes import Home
from commonhold.kernel.options import CONTENT_RETENTION_SECONDS
from commonhold.workspace.git.differences import Tree


def home_of(state: Path, holder: str, root: str = "/repo") -> Home:
    home = Home(str(state), Tree(root, f"{root}/.git", f"{root}/.git"), holder)
    home.prepare()
    Path(home.index).write_bytes(b"index")
    return home


def age(home: Home, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(home.turns[0], (then, then))


def test_what_no_session_has_used_for_long_goes_when_another_comes(tmp_path: Path) -> None:
    gone, gone_elsewhere = home_of(tmp_path, "claude:one"), home_of(tmp_path, "claude:one", "/tree")
    resting, resumed = home_of(tmp_path, "claude:two"), home_of(tmp_path, "claude:three")
    for home in (gone, gone_elsewhere, resumed):
        age(home, CONTENT_RETENTION_SECONDS + 60)
    age(resting, CONTENT_RETENTION_SECONDS - 3600)
    resumed.prepare()
    assert gone.folder.exists(), "only who comes anew looks for what is old"
    new = home_of(tmp_path, "claude:four")
    there = [each.folder.exists() for each in (gone, gone_elsewhere, resting, resumed, new)]
    assert there == [False, False, True, True, True]
    gone.prepare()
    assert not Path(gone.index).exists()
