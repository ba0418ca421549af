"""A child that answers requests, and one that is ended while somebody asks."""

import pytest

from commonhold.adapters.worker_process import READY, WorkerProcess

SILENT = f"import sys; sys.stdout.buffer.write({len(READY).to_bytes(4, 'big') + READY!r}); sys.stdout.flush(); input()"


def test_a_child_that_was_ended_is_gone_for_whoever_asks() -> None:
    process = WorkerProcess(SILENT)
    process.end()
    with pytest.raises(EOFError):
        process.ask(b"anything")
