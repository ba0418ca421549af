"""The bench of workspaces measures both kinds."""

from pathlib import Path

import pytest
from bench.session_workspaces import measured

from commonhold.session_host.overlays import Overlays


@pytest.mark.slow
def test_both_kinds_of_workspaces_are_measured(tmp_path: Path) -> None:
    if not Overlays(tmp_path, "").is_possible():
        pytest.skip("no overlay can be mounted here")
    figures = {each.name: each for each in measured((20, 40), rounds=1)}
    for size in ("20 files", "40 files"):
        assert figures[f"{size}: overlay made"].goal.startswith("≤ 0.1")
        assert figures[f"{size}: git worktree removed"].value > 0
    assert figures["overlay made, processor: the largest against the smallest"].value > 0
