"""A working tree that is taken away while its agents go on elsewhere."""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT
from tests.e2e.daemon_process import serving

from commonhold.agents.hook_events import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Caller,
    Edited,
    Ran,
    Response,
    SessionEnded,
    Swap,
    TurnEnded,
)
from commonhold.agents.runtime.hook_dispatch import HookDispatch
from commonhold.agents.runtime.open_sessions import OpenSessions, Silence
from commonhold.agents.runtime.working_trees import Trees
from commonhold.client.opening import open_session
from commonhold.client.session import Commonhold, ticks
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow
WHO = Caller("claude", "one")


class NoShell:
    """No command is ever run."""

    def about_to_run(self, _happening: AboutToRun, _root: str, _session: Commonhold) -> Response:
        return NOTHING

    def ran(self, _happening: Ran) -> str:
        return ""

    def over(self, holder: str) -> None:
        assert holder == WHO.holder

    def free(self, session: Commonhold) -> None:
        assert session.holder == WHO.holder


def opened(root: str, holder: str) -> Commonhold:
    return open_session(root, agent=holder, daemon=True)


def test_whoever_worked_there_can_end_turn_and_session(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first"), ("worktree", "add", "-q", "../tree")):
        subprocess.run((*GIT, *words), cwd=root, check=True)
    sessions = OpenSessions(opened, Silence(lambda _: 600.0, ticks, lambda _: True))
    attending = HookDispatch(Trees(find_repository(str(root))), sessions, lambda *_: False, NoShell())
    with serving(root):
        for tree in (tmp_path / "tree", root):
            wishes = (Swap(str(tree / "a.py"), "return 1", "return 2"),)
            assert attending.attend(AboutToEdit(WHO, str(root), tree.name, "Edit", wishes)) == NOTHING
            (tree / "a.py").write_text("def f():\n    return 2\n", encoding="utf-8")
            assert attending.attend(Edited(WHO, str(root), tree.name, "Edit", wishes)) == NOTHING
    subprocess.run((*GIT, "worktree", "remove", "--force", "../tree"), cwd=root, check=True)
    with serving(root) as daemon, daemon.session("ann") as ann:
        assert [each.holder for each in ann.leases()] == [WHO.holder]
        assert attending.attend(TurnEnded(WHO, str(root))) == NOTHING
        assert ann.leases() == ()
        assert attending.attend(SessionEnded(WHO, str(root))) == NOTHING
        attending.close()
