"""Bubblewrap in place of Landlock: the same bounds, said in another way."""

import subprocess
from pathlib import Path

from tests.services.fixtures import require
from tests.services.programs import find_or_install

from commonhold.adapters.sandbox import bubblewrap
from commonhold.adapters.sandbox.bubblewrap import Bounds


def test_the_later_a_bind_the_more_it_says() -> None:
    words = bubblewrap.prefix("bwrap", Bounds(["/r"], ["/r/src", "/r/.git", "/r/.git/s/own"], ["/r/.git/s"]))
    binds = [word for word in words if word.startswith("/r")][::2]
    assert binds == ["/r", "/r/src", "/r/.git", "/r/.git/s/own", "/r/.git/s", "/r/.git/s/own"]


def test_the_way_to_what_is_taken_out_again_stays_where_it_is() -> None:
    words = bubblewrap.prefix("bwrap", Bounds(["/r"], ["/r/src", "/r/src/a"], ["/r/src/a/b/held", "/r/src/his"]))
    binds = [word for word in words if word.startswith("/r")][::2]
    assert binds == ["/r", "/r/src", "/r/src/a", "/r/src/a", "/r/src/a/b", "/r/src/a/b/held", "/r/src/his"]


def test_what_is_not_given_is_read_only(tmp_path: Path) -> None:
    require("bwrap")
    for path in ("free", "other", "free/held", "free/held/own"):
        (tmp_path / path).mkdir()
    bounds = Bounds(
        [str(tmp_path)], [str(tmp_path / each) for each in ("free", "free/held/own")], [str(tmp_path / "free/held")]
    )
    line = "touch free/a free/held/own/b; touch other/c free/held/d e; mount -o remount,rw other; rm -rf other"
    command = [*bubblewrap.prefix(str(find_or_install("bwrap")), bounds), "bash", "-c", line]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found == {"free", "other", "free/held", "free/held/own", "free/a", "free/held/own/b"}
