"""What the official suite requires of a server, in both generations of the protocol, apart from what is not offered."""

import os
import shutil
from pathlib import Path

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.hooked import hooked
from tests.mcp.conformance import EXCEPTIONS, failures, install, is_expected

from commonhold.workspace import loopback

pytestmark = pytest.mark.slow
# Where CI runs, npm has to be there.
MISSING = shutil.which("npm") is None and "CI" not in os.environ


@pytest.mark.skipif(MISSING, reason="npm, which brings the suite, is not installed here")
def test_all_that_is_required_and_offered_conforms(tmp_path: Path) -> None:
    node = install()
    root = make_repository(tmp_path / "work")
    chosen = loopback.choose(str(root / ".git/commonhold"), None)
    failed: dict[str, str] = {}
    with hooked(root):
        for revision in ("2026-07-28", "2025-11-25"):
            failed |= failures(node, f"{chosen.secret_url}/mcp", revision, tmp_path / revision)
    assert {check: why for check, why in failed.items() if not is_expected(check)} == {}
    assert sorted(EXCEPTIONS.keys() - failed.keys()) == [], "what passes now is no exception any more"
