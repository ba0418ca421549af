"""Runs a suite and writes down who calls whom. A script: it needs pytest and nothing of ours.

Arguments: the folder of the project, where to write. Each line of the file is a JSON list: the path and the first line
of what is called, the path and the line of who calls it; paths are relative to the folder.
"""

import json
import os
import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

seen: "set[tuple[str, int, str, int]]" = set()


def note(frame: FrameType, event: str, _argument: object) -> None:
    """Remember a call of one Python function by another."""
    if event == "call" and frame.f_back is not None:
        callee, caller = frame.f_code, frame.f_back
        seen.add((callee.co_filename, callee.co_firstlineno, caller.f_code.co_filename, caller.f_lineno))


def main(folder: str, out: str, *options: str) -> None:
    """Run the tests in the folder, and write what was seen of its files."""
    os.chdir(folder)
    sys.path[:0] = [folder + "/src", folder]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    threading.setprofile(note)
    sys.setprofile(note)
    pytest.main(["-q", "-p", "no:cacheprovider", *options, "tests"])
    sys.setprofile(None)
    inside = (row for row in seen if row[0].startswith(folder + "/") and row[2].startswith(folder + "/"))
    cut = len(folder) + 1
    rows = (json.dumps([callee[cut:], first, caller[cut:], line]) for callee, first, caller, line in sorted(inside))
    Path(out).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
