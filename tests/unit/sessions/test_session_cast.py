"""Recordings of logs: what they show, and when."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from commonhold.cli.session_cast import LogTimes, as_conversation, as_printed, record
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.managed_session import ManagedSession

SESSION = ManagedSession("s1", "Round prices\nplease", "claude", "c" * 40, "/r", "here")
TIMES = LogTimes((100.0, 101.5, 104.0), (3, 6, 12))


def recorded(folder: Path, times: LogTimes, texts: Any) -> tuple[dict[str, Any], list[list[Any]]]:
    place = folder / "s1.cast"
    record(str(place), SESSION, 90.5, times, texts)
    header, *events = map(json.loads, place.read_text(encoding="utf-8").splitlines())
    return header, events


def test_a_recording_shows_each_part_at_its_time(tmp_path: Path) -> None:
    header, events = recorded(tmp_path, TIMES, as_printed(TIMES, [(0, b"a\nbcd"), (5, b"efghij\r\n")]))
    assert (header["version"], header["timestamp"], header["title"]) == (3, 100, "s1: Round prices")
    assert (header["term"], header["idle_time_limit"]) == ({"cols": 120, "rows": 40}, 3.0)
    expected = [(0.0, "a\r\nb"), (1.5, "cd"), (0.0, "e"), (2.5, "fghij\r"), (0.0, "\n")]
    assert [(interval, text) for interval, _, text in events] == expected
    assert {code for _, code, _ in events} == {"o"}


def test_a_log_without_times_appears_at_once(tmp_path: Path) -> None:
    times = LogTimes.read(tmp_path / "1.times")
    header, events = recorded(tmp_path, times, as_printed(times, [(0, b"one\n"), (4, b"two\n")]))
    assert (header["timestamp"], events) == (90, [[0.0, "o", "one\r\n"], [0.0, "o", "two\r\n"]])


def test_a_recording_of_events_shows_the_conversation(tmp_path: Path) -> None:
    said = b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "A\\nB\\u001b[2J"}]}}\n'
    times = LogTimes((100.0, 107.0), (5, 5 + len(said)))
    _, events = recorded(tmp_path, times, as_conversation("claude", [(0, b"odd!\n" + said)], 0))
    assert events == [[0.0, "o", "odd!\r\n"], [7.0, "o", "A\r\nB\\x1b[2J\r\n"]]


def test_times_that_were_spoiled_are_left_out(tmp_path: Path) -> None:
    place = tmp_path / "1.times"
    place.write_bytes(b"10.0 3\nnonsense\n9.0 5\n11 5\n\xff\xfe 9\n12.0\n12.5 8\n13")
    assert LogTimes.read(place) == LogTimes((10.0, 10.0, 12.5), (3, 5, 8))


def test_no_recording_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "s1.cast").write_text("mine")
    with pytest.raises(InputError) as raised:
        recorded(tmp_path, TIMES, ())
    assert raised.value.code is Code.FILE_EXISTS
    with pytest.raises(InputError) as raised:
        recorded(tmp_path / "missing", TIMES, ())
    assert raised.value.code is Code.IO_FAILED
    assert (tmp_path / "s1.cast").read_text() == "mine"


@examples(0.5)
@given(st.text(alphabet="aä🌊\n\r"), st.data())
def test_any_cut_and_any_times_show_the_same_text(text: str, data: st.DataObject) -> None:
    whole = text.encode()
    cuts = sorted({0, len(whole), *data.draw(st.lists(st.integers(0, len(whole)), max_size=6))})
    sizes = tuple(sorted(data.draw(st.sets(st.integers(1, len(whole) + 5), max_size=6))))
    pieces = [(one, whole[one:two]) for one, two in pairwise(cuts)]
    found = list(as_printed(LogTimes(tuple(float(each) for each in sizes), sizes), pieces))
    assert "".join(shown for _, shown in found) == text.replace("\r\n", "\n").replace("\n", "\r\n")
    assert [end for end, _ in found] == sorted(end for end, _ in found)
