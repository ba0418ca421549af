"""Loggers of the standard library whose records are an event and fields, as in structlog.

    _log = Log(__name__)
    _log.info("commit refused", holder=holder, code=code)

A record has `fields`, a mapping, and `correlation`, the id of the request. Programs that use Commonhold as a library
receive the records by a handler on the logger `commonhold`; without one, nothing is printed and nothing is configured.
`machine/log_output.py` is for our own programs.

A field never contains file contents, values, tokens or passwords. Names and messages of agents are escaped by the
formatter.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from commonhold.machine.correlation import current

if TYPE_CHECKING:
    from logging import Logger

DEBUG: Final = 10
INFO: Final = 20
WARNING: Final = 30
ERROR: Final = 40
_PACKAGE: Final = "commonhold"


class Log:
    """The logger of one module. It costs next to nothing while its level is not enabled."""

    __slots__ = ("_logger", "_name")

    def __init__(self, name: str) -> None:
        """Log under `name`, the name of a module."""
        self._name = name
        self._logger: Logger | None = None

    @property
    def is_traced(self) -> bool:
        """Whether records of level debug are wanted: else a caller need not gather their fields."""
        logger = self._logger or self._found()
        return logger is not None and logger.isEnabledFor(DEBUG)

    def debug(self, event: str, /, **fields: object) -> None:
        """Record a step that matters only when something is traced."""
        self._emit(DEBUG, event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Record a decision."""
        self._emit(INFO, event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Record an irregularity that a user may have to act upon."""
        self._emit(WARNING, event, fields)

    def error(self, event: str, /, *, fault: BaseException | None = None, **fields: object) -> None:
        """Record a defect or a failure, with the traceback of `fault`."""
        self._emit(ERROR, event, fields, fault)

    def caught(self, event: str, fault: BaseException, /, **fields: object) -> None:
        """Record, with its traceback, an exception that was handled and has no effect, for tracing only."""
        self._emit(DEBUG, event, fields, fault)

    def _emit(self, level: int, event: str, fields: dict[str, object], fault: BaseException | None = None) -> None:
        logger = self._logger or self._found()
        if logger is not None and logger.isEnabledFor(level):
            extra = {"fields": fields, "correlation": current()}
            logger.log(level, event, extra=extra, exc_info=fault, stacklevel=3)

    def _found(self) -> Logger | None:
        """Return the standard logger; None while no part of this process has loaded `logging`, so that none listens.

        Loading it takes as long as half of Python's own start, which commands that log nothing are spared.
        """
        logging = sys.modules.get("logging")
        if logging is None:
            return None
        package = logging.getLogger(_PACKAGE)
        if not package.handlers:  # else the standard library prints warnings to standard error
            package.addHandler(logging.NullHandler())
        self._logger = logging.getLogger(self._name)
        return self._logger
