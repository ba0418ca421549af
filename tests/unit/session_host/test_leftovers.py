"""The end of a workspace: its tear-down is run once, with the variables of its set-up, in any case."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from tests.unit.session_host.repository import Project
from tests.unit.session_host.test_turn import in_a_process

from commonhold.kernel.errors import StoreError
from commonhold.session_host.leftovers import Leftovers


def test_a_workspace_whose_work_cannot_be_read_is_torn_down_once_and_stays(tmp_path: Path) -> None:
    project = Project(tmp_path)
    torn = tmp_path / "torn"
    note = project.worktrees.make(project.session(teardown=f'echo "$COMMONHOLD_PORT" >> {torn}'), 1)
    note = replace(note, variables=(("COMMONHOLD_PORT", "21000"),))
    shutil.rmtree(note.git_dir)

    def fault() -> str:
        try:
            Leftovers(project.worktrees, project.files, os.environ).remove(note)
        except StoreError as found:
            return found.code.value
        return ""

    for _ in range(2):
        assert in_a_process(fault) == "GIT_FAILED"
        kept = project.files.note("s1")
        assert kept is not None
        note = kept
    assert torn.read_text() == "21000\n"
    assert (Path(note.path) / "a.py").is_file()
