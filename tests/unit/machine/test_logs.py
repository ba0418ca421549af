"""Records for whoever uses Commonhold as a library: standard logging, silent unless a handler is there."""

import logging
import subprocess
import sys

import pytest

from commonhold.machine.correlation import correlated
from commonhold.machine.logs import Log

LOG = Log("commonhold.tests")
LIBRARY = """
import sys
from commonhold.machine.logs import Log
log = Log("commonhold.tests")
log.error("before logging is loaded")
assert "logging" not in sys.modules
import logging
log.error("nobody listens", key="a:1")
log.caught("caught", ValueError("x"))
assert logging.getLogger().handlers == []
assert logging.getLogger("commonhold").level == logging.NOTSET
class Listener(logging.Handler):
    def emit(self, record):
        print(record.name, record.levelname, record.getMessage(), record.fields, len(record.correlation))
logging.getLogger("commonhold").addHandler(Listener())
log.warning("heard", key="a:1")
"""


def test_a_library_prints_and_configures_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", LIBRARY], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("commonhold.tests WARNING heard {'key': 'a:1'} 0\n", "")


def test_a_record_has_its_fields_its_place_and_the_id_of_the_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "commonhold")
    with correlated("a1"):
        LOG.debug("lease granted", holder="ann", keys=("a:1", "b:2"))
    (record,) = caplog.records
    assert (record.getMessage(), record.levelname, record.name) == ("lease granted", "DEBUG", "commonhold.tests")
    assert vars(record)["fields"] == {"holder": "ann", "keys": ("a:1", "b:2")}
    assert vars(record)["correlation"] == "a1"
    assert record.filename == "test_logs.py"


def test_an_event_with_a_percent_sign_is_no_format(caplog: pytest.LogCaptureFixture) -> None:
    LOG.warning("100 %s")
    assert caplog.messages == ["100 %s"]


def test_an_error_has_the_traceback_of_its_fault(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(KeyError) as caught:
        raise KeyError("x")
    LOG.error("call failed", fault=caught.value)
    assert "test_logs.py" in caplog.text
    assert "KeyError: 'x'" in caplog.text


def test_a_level_that_is_not_enabled_makes_no_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "commonhold")
    LOG.debug("unseen")
    LOG.info("seen")
    assert caplog.messages == ["seen"]
