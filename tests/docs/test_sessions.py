"""docs/sessions.md says what the code does."""

import re

from tests.docs.session_states import PAGE, renewed

from commonhold.agents.headless import HEADLESS
from commonhold.kernel.managed_session import EndCause
from commonhold.session_host.commands import GRACE_SECONDS
from commonhold.session_host.ports import FIRST_PORT, PORTS
from commonhold.session_host.submodules import REFS
from commonhold.session_host.turn import MOST_LOG_BYTES, environment_of
from commonhold.session_host.worktrees import INCLUDE, branch_of

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_diagram_is_that_of_the_table() -> None:
    assert renewed(TEXT) == TEXT, "run: python -m tests.docs.session_states"
    assert "running --> awaiting_review: finish" in TEXT


def test_every_cause_of_an_end_is_explained() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", TEXT, re.MULTILINE) == list(EndCause)


def test_the_names_and_numbers_are_those_of_the_code() -> None:
    variables = environment_of({}, "agent:s1", "s1:2", range(FIRST_PORT, FIRST_PORT + PORTS), {})
    assert all(f"`{name}`" in TEXT for name in variables)
    assert f"`{branch_of('ID')}`" in TEXT
    assert f"`{REFS}/ID/ATTEMPT`" in TEXT
    assert f"`{INCLUDE}`" in TEXT
    assert f"{MOST_LOG_BYTES >> 20} MiB" in TEXT
    assert {10: "ten"}[PORTS] in TEXT
    assert {10.0: "ten seconds"}[GRACE_SECONDS] in TEXT
    assert all(f"`{name}`" in TEXT for name in HEADLESS)
