"""docs/security.md names a test for each threat, and each of these tests exists; docs/server.md shows what is there."""

import re
from pathlib import Path

from commonhold.kernel.errors import Code
from commonhold.kernel.scopes import Scope
from commonhold.server.asgi import MAX_BODY_BYTES
from commonhold.server.face import DEFAULT_HOST, DEFAULT_PORT
from commonhold.server.listening import HEAD_SECONDS, MOST_STRANGERS_OVER_NETWORK
from commonhold.server.network import api, feed, metrics, streams

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "docs/security.md").read_text(encoding="utf-8")
SERVER = (ROOT / "docs/server.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_each_threat_names_tests_that_exist() -> None:
    _, _, threats = SECURITY.partition("## Threats\n")
    rows = [line for line in threats.partition("\n## ")[0].splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 15
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


def test_the_scopes_and_limits_are_those_of_the_code() -> None:
    assert all(f"`{scope}`" in SECURITY for scope in Scope)
    assert f"at most {MOST_STRANGERS_OVER_NETWORK} without a token" in SECURITY
    assert HEAD_SECONDS == streams.SLOW_SECONDS == 10
    assert f"limited to {MAX_BODY_BYTES // 1_000_000} MB" in SECURITY
    assert f"http://{DEFAULT_HOST}:{DEFAULT_PORT}" in SERVER
    assert f"(up to {api.LONGEST_HOLD_SECONDS:.0f})" in SERVER
    assert feed.CHECK_SECONDS == 5
    assert str(streams.TRY_AGAIN_LATER) in SERVER
    assert Code.CURSOR_UNKNOWN in SERVER


def test_the_metrics_are_listed() -> None:
    assert all(f"`commonhold_{name}`" in SERVER for name in metrics._GAUGES)
