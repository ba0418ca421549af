"""docs/landing.md says what the code does."""

import re

from tests.docs.entry_states import PAGE, renewed

from commonhold.coordinator.integration import message_of
from commonhold.coordinator.merge_queue import MOST_IN_BATCH
from commonhold.coordinator.queue_driver import QUEUE_TTL_SECONDS
from commonhold.kernel.entry import Entry, EntryRecord, EntryState, Fault

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_diagram_is_that_of_the_table() -> None:
    assert renewed(TEXT) == TEXT, "run: python -m tests.docs.entry_states"
    assert "testing --> landed: land" in TEXT


def test_the_states_and_the_faults_are_those_of_the_code() -> None:
    words = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert words == [*(each.value for each in EntryState), *(each.value for each in Fault)]


def test_the_message_of_a_landed_commit_is_the_one_that_is_shown() -> None:
    entry = Entry(
        "e12", "discounts", "c", "main", "charge() takes a discount in percent", "price", "s7", "claude:26baef9a"
    )
    assert f"```\n{message_of(EntryRecord(entry, 12, 12, 'a', 0.0, 0.0))}\n```" in TEXT


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"(at most {MOST_IN_BATCH}, `--batch`)" in TEXT
    assert f"(`--ttl`, {QUEUE_TTL_SECONDS:g} seconds)" in TEXT
