"""The terminal of a person, joined to that of a command."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.session_host.terminal import PersonTerminal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="a terminal is joined to the first process that opens it"),
]


def test_a_terminal_that_another_program_left_without_blocking_shows_all(tmp_path: Path) -> None:
    master, slave = os.openpty()
    os.set_blocking(slave, False)
    person, begins, printed = PersonTerminal(slave, slave), threading.Event(), bytearray()

    def read() -> None:
        begins.wait(PATIENCE_SECONDS)  # by then the terminal is full
        while not printed.endswith(b"the-end\r\n"):
            printed.extend(os.read(master, 65_536))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    with person.joined(tmp_path / "1.log") as terminal:
        command = subprocess.Popen([*terminal.words, "sh", "-c", "seq 60000; echo the-end"], start_new_session=True)
        with pytest.raises(subprocess.TimeoutExpired):
            command.wait(0.5)
        begins.set()
        assert command.wait(PATIENCE_SECONDS) == 0
    reader.join(PATIENCE_SECONDS)
    assert person.gone == ""
    assert printed.splitlines() == [*(f"{number}".encode() for number in range(1, 60_001)), b"the-end"]
    for each in (master, slave):
        os.close(each)
