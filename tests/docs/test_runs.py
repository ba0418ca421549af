"""docs/runs.md says what the code does."""

import json
import re

from tests.docs.run_states import PAGE, renewed

from commonhold.coordinator.request_shapes import edited, item_request, planned, replanned, verdict
from commonhold.coordinator.roles import Edited, ItemRequest, Planned, Replanned, RoleFailed, Verdict
from commonhold.kernel.run import ItemRecord, Locking, Role, Run
from commonhold.kernel.task import Task
from commonhold.runs.recovery import MOST_REFUSALS

TEXT = PAGE.read_text(encoding="utf-8")
REQUEST = ItemRequest(Run("r1", "goal"), Task("a", "title"), ItemRecord("r1", "a", 1, 1, 0.0), "/root")
BLOCKS = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)


def test_the_diagrams_are_those_of_the_tables() -> None:
    assert renewed(TEXT) == TEXT, "run: python -m tests.docs.run_states"
    assert "written --> accepted: accept" in TEXT
    assert "running --> stopped: stop" in TEXT


def test_the_request_has_the_fields_that_are_shown() -> None:
    assert json.loads(BLOCKS[0]).keys() == json.loads(item_request(Role.EDITOR, REQUEST)).keys()


def test_the_answers_that_are_shown_can_be_read() -> None:
    changed, unchanged, failed = (edited(line.encode(), REQUEST) for line in BLOCKS[1].splitlines())
    assert isinstance(changed, Edited)
    assert changed.changeset is not None
    assert unchanged == Edited(None, "charge() has that parameter already")
    assert failed == RoleFailed("the intent contradicts docs/billing.md")
    shown = re.findall(r"`(\{\".*?\})`[,;. ]", TEXT)
    assert isinstance(replanned(shown[0].replace("…", '"k"', 1).encode()), Replanned)
    assert isinstance(replanned(b'{"give_up": "why"}'), Replanned)
    assert verdict(b'{"passed": true}') == Verdict(passed=True)
    assert isinstance(planned(b'{"tasks": [{"title": "a"}]}', 0.0), Planned)


def test_the_words_and_numbers_are_those_of_the_code() -> None:
    table = TEXT.partition("| locking | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(Locking)
    assert {8: "eight"}[MOST_REFUSALS] in TEXT
