"""Ranges of ports: no two sessions have the same, and nothing listens on them."""

import errno
import socket
from pathlib import Path

import pytest

from commonhold.session_host import ports
from commonhold.session_host.ports import FIRST_PORT, PORTS, port_range


def test_sessions_of_all_repositories_have_different_ports_until_they_end(tmp_path: Path) -> None:
    with port_range(tmp_path / "new", 3) as first:
        assert len(first) == PORTS
        assert first[0] >= FIRST_PORT + 3 * PORTS
        with port_range(tmp_path / "new", 3) as second:
            assert set(first).isdisjoint(second)
    with port_range(tmp_path / "new", 3) as third:
        assert third == first


def test_a_range_in_which_something_listens_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        monkeypatch.setattr(ports, "FIRST_PORT", taken - 4)
        monkeypatch.setattr(ports, "_RANGES", 1)
        with pytest.raises(OSError, match="in use") as failed, port_range(tmp_path, 0):
            pass
        assert failed.value.errno == errno.EADDRINUSE
