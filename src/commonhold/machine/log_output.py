"""Where the log records of our own programs go: to standard error, one line each, as `key=value`.

The standard error of a daemon, its supervisor and its planners is the log file. Each of them writes to it by itself, so
that the last words of a process that crashes are there, too. When the file is full, the process that notices it renames
it, and all of them go on in the new one.
"""

import fcntl
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Final

from commonhold.machine.correlation import current
from commonhold.machine.secrets import masked

MOST_BYTES: Final = 1_000_000
"""A log file of this size is renamed."""
MOST_KEPT: Final = 3
"""The number of renamed files that are kept: `daemon.log.1` is the newest."""
LARGEST_BYTES: Final = 2 * MOST_BYTES * (MOST_KEPT + 1)
"""All log files together stay below this, but for what programs that the daemon runs may write to standard error."""
LONGEST_TEXT: Final = 1000
LONGEST_TRACEBACK: Final = 8_000
MOST_NAMED: Final = 10
_STANDARD_ERROR: Final = 2
_STREAMS: Final = (1, 2)
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_PLAIN: Final = re.compile(r"[\w.,:;/#@+*%()<>-]+", re.ASCII)
_FIELDS: Final = re.compile(r'(?:^|(?<= ))([a-z_]+)=(?:("(?:[^"\\]|\\.)*")|(\S*))')


class Lines(logging.Formatter):
    """A record as one line of `key=value`, whatever its fields contain.

    Values with other characters than those of names and paths are quoted and escaped as in JSON, and long ones are
    shortened. Passwords in addresses and tokens are replaced by `***`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        seconds, milliseconds = divmod(int(record.created * 1000), 1000)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        parts = [
            f"time={moment}.{milliseconds:03}Z level={record.levelname.lower()} event={_value(record.getMessage())}"
        ]
        if correlation := getattr(record, "correlation", "") or current():
            parts.append(f"correlation={_value(correlation)}")
        fields = getattr(record, "fields", {})
        parts += [f"{name}={_value(value)}" for name, value in fields.items() if value is not None]
        parts.append(f"logger={record.name} pid={record.process}")
        if record.exc_info and record.exc_info[1] is not None:
            parts.append(f"traceback={_quoted(self.formatException(record.exc_info)[-LONGEST_TRACEBACK:])}")
        return " ".join(parts)


def fields_of(line: str) -> dict[str, str]:
    """Return the fields of a line that `Lines` has made; none for any other line."""
    try:
        found = {name: json.loads(quoted) if quoted else plain for name, quoted, plain in _FIELDS.findall(line)}
    except ValueError:  # another program wrote the line, or it was cut off in the middle
        return {}
    return found if {"time", "level", "event"} <= found.keys() else {}


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.6g}"
        case str():
            text = value
        case Iterable():
            named = list(map(str, islice(value, MOST_NAMED + 1)))
            text = ",".join(named if len(named) <= MOST_NAMED else [*named[:MOST_NAMED], "..."])
        case _:
            text = str(value)
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}..."
    text = masked(text)
    return text if _PLAIN.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(masked(text))


class StandardError(logging.Handler):
    """Writes each record to standard error; if that is the file at `path`, keeps its size bounded.

    A record that cannot be written, to a full disk, say, is dropped: no request fails because of the log.
    """

    def __init__(self, path: str = "") -> None:
        """Write to descriptor 2. Without a `path` it is not a file of ours."""
        super().__init__()
        self.setFormatter(Lines())
        self._path = path if path and _identity(_STANDARD_ERROR) == _identity(path) else ""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record in one step: the lines of several processes do not mix."""
        with suppress(OSError):
            self._keep_up()
        with suppress(OSError):
            os.write(_STANDARD_ERROR, f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))

    def _keep_up(self) -> None:
        """Go on in a new file if the present one is full, or was renamed by another process."""
        if not self._path:
            return
        try:
            found: os.stat_result | None = os.lstat(self._path)
        except FileNotFoundError:
            found = None
        if found is not None and found.st_size >= MOST_BYTES:
            rotate(self._path)
        elif found is not None and (found.st_dev, found.st_ino) == _identity(_STANDARD_ERROR):
            return
        before = _identity(_STANDARD_ERROR)
        log = os.open(self._path, _APPEND, 0o600)
        try:
            for stream in _STREAMS:
                if _identity(stream) == before:
                    os.dup2(log, stream, inheritable=True)
        finally:
            os.close(log)


def rotate(path: str) -> None:
    """Rename the log file at `path` if it is full, and drop the oldest. Of several processes only one does it.

    Raises OSError, such as BlockingIOError while another process does it.
    """
    log = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _identity(log) != _identity(path) or os.fstat(log).st_size < MOST_BYTES:
            return
        for number in range(MOST_KEPT - 1, 0, -1):
            with suppress(FileNotFoundError):
                os.rename(f"{path}.{number}", f"{path}.{number + 1}")
        os.rename(path, f"{path}.1")
    finally:
        os.close(log)


def older(path: str) -> list[str]:
    """Return the renamed log files beside the one at `path`, the newest first."""
    return [name for number in range(1, MOST_KEPT + 1) if os.path.lexists(name := f"{path}.{number}")]


def _identity(place: int | str) -> tuple[int, int] | None:
    try:
        found = os.lstat(place) if isinstance(place, str) else os.fstat(place)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def log_to_standard_error(level: str, path: str = "", *, with_libraries: bool = False) -> None:
    """Write the records of this program from `level` on ("debug", "info", "warning", "error") to standard error.

    If standard error is the log file at `path`, its size is bounded. `with_libraries`: warnings and errors of libraries
    are written as well, and exceptions that end a thread. That is for processes that are ours alone. A second call
    replaces the first.
    """
    ours = logging.getLogger("commonhold")
    ours.setLevel(level.upper())
    place = logging.getLogger() if with_libraries else ours
    for each in [each for each in place.handlers if isinstance(each, StandardError)]:
        place.removeHandler(each)
    place.addHandler(StandardError(path))
    if with_libraries:
        sys.excepthook = _log_end_of_process
        threading.excepthook = _log_end_of_thread


def set_level(level: str) -> None:
    """Write records from another level on."""
    logging.getLogger("commonhold").setLevel(level.upper())


def _log_end_of_process(kind: type[BaseException], fault: BaseException, trace: object) -> None:
    del kind, trace  # the fault has both
    logging.getLogger("commonhold.process").critical("process ended by an exception", exc_info=fault)


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    name = ended.thread.name if ended.thread is not None else ""
    extra = {"fields": {"thread": name}}
    logging.getLogger("commonhold.process").error("thread ended by an exception", extra=extra, exc_info=ended.exc_value)
