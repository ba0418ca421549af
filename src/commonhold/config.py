"""Settings: `commonhold.toml`, or `[tool.commonhold]` in `pyproject.toml`, at the root of the repository."""

import math
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from commonhold.app.ports import DEFAULT_MAX_FILE_BYTES
from commonhold.app.sweeping import CONTENT_RETENTION_SECONDS
from commonhold.domain.errors import Code, InputError
from commonhold.domain.lease import DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS

_DAY: Final = 86400.0
_LIMITS: Final[dict[str, tuple[float, float]]] = {
    "ttl_seconds": (0.001, MAX_TTL_SECONDS),
    "max_file_bytes": (1, 1_000_000_000),
    "retention_days": (0.0, 36_500),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project may choose.

    `ttl_seconds`: how long a lease lasts unless it says otherwise. `max_file_bytes`: larger files are leased, not
    read. `retention_days`: how long the bytes that were read and overwritten are kept.
    """

    ttl_seconds: float = DEFAULT_TTL_SECONDS
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    retention_days: float = CONTENT_RETENTION_SECONDS / _DAY


def load_settings(root: str) -> Settings:
    """The settings of the repository at `root`; `commonhold.toml` wins. Raises InputError `CONFIG_INVALID`."""
    own, project = Path(root, "commonhold.toml"), Path(root, "pyproject.toml")
    if own.is_file():
        return _settings(own, _parse(own))
    if project.is_file():
        tables = _parse(project).get("tool", {})
        return _settings(project, tables.get("commonhold", {}) if isinstance(tables, dict) else {})
    return Settings()


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as fault:
        raise _invalid(path, str(fault)) from fault


def _settings(path: Path, table: object) -> Settings:
    if not isinstance(table, dict):
        raise _invalid(path, "[tool.commonhold] is not a table")
    known = {field.name for field in fields(Settings)}
    if unknown := sorted(set(table) - known):
        raise _invalid(path, f"there is no setting {unknown[0]!r}; there are {', '.join(sorted(known))}")
    for name, value in table.items():
        _check(path, name, value)
    return Settings(**table)


def _check(path: Path, name: str, value: object) -> None:
    low, high = _LIMITS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise _invalid(path, f"{name} = {value!r} is not a number from {low:g} to {high:g}")
    if name == "max_file_bytes" and not isinstance(value, int):
        raise _invalid(path, f"{name} = {value!r} is not a whole number")


def _invalid(path: Path, why: str) -> InputError:
    return InputError(
        Code.CONFIG_INVALID,
        f"the settings in {path.name} cannot be used: {why}",
        hint="mend the file; docs/reference.md lists the settings",
        fields={"path": str(path)},
    )
