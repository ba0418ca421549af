"""Settings: `commonhold.toml`, or `[tool.commonhold]` in `pyproject.toml`, at the root of the repository."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import FILE, pattern_key
from commonhold.kernel.lease import DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS
from commonhold.kernel.options import (
    CONTENT_RETENTION_SECONDS,
    DEFAULT_MAX_FILE_BYTES,
    IDLE_SECONDS,
    PATIENCE_SECONDS,
    Options,
    Release,
    TenantQuota,
)
from commonhold.kernel.policy import Merging, Policies, Policy, Rereading, Suspicion
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.kernel.sizes import parse_size

_DAY: Final = 86400.0
_OWN: Final = "commonhold.toml"
FILES: Final = (_OWN, "pyproject.toml")
"""The settings files, at the root of a repository; only the first that exists is read."""
MOST_BYTES: Final = 1_000_000
"""A larger file is rejected: it is neither read whole nor parsed."""
MOST_ENTRIES: Final = 10_000
"""The most entries that a list or a table of patterns may have."""
_LONGEST_REASON: Final = 500
# An agent may have replaced the file with a pipe: a read must not block on it.
_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_KEPT: Final = 64
_SERVERS: Final = ("postgresql://", "postgres://", "redis://", "rediss://")
_BROKERS: Final = ("redis://", "rediss://", "amqp://", "amqps://")
_EVERYWHERE: Final = "./"
_NOT_WRITABLE: Final = (".git", ".commonhold")
_FOR_SESSIONS: Final = ("workspaces", "overlays", "broker", "session_image")
TEXT_VARIABLES: Final = ("store", "namespace", "durability", "types", "tests", "log", *_FOR_SESSIONS)
"""The settings that a variable such as COMMONHOLD_STORE sets, as a text."""
_SWITCH: Final = {"on": True, "1": True, "off": False, "0": False}
_LIMITS: Final[dict[str, tuple[float, float]]] = {
    "ttl_seconds": (0.001, MAX_TTL_SECONDS),
    "max_file_bytes": (1, 1_000_000_000),
    "retention_days": (0.0, 36_500),
    "event_days": (0.0, 36_500),
    "patience_seconds": (0.001, MAX_TTL_SECONDS),
    "idle_seconds": (0.001, MAX_TTL_SECONDS),
    "max_sessions": (0, 1000),
    "max_reviews": (1, 100_000),
}
_QUOTAS: Final[dict[str, tuple[float, float]]] = {"max_sessions": (0, 100_000), "cpus": (0.1, 100_000)}


class LogLevel(StrEnum):
    """The least severe records that are logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Shell(StrEnum):
    """The treatment of agents' shell commands."""

    SANDBOX = "sandbox"
    WATCH = "watch"
    OFF = "off"


class OverlayUse(StrEnum):
    """The choice between an overlay and a plain git worktree for the workspace of a managed session.

    AUTO: an overlay if the repository is large and the machine can mount one. ALWAYS: a session fails without one.
    """

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class WhenDown(StrEnum):
    """The treatment of an agent's actions while no daemon can judge them."""

    BLOCK = "block"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project.

    `ttl_seconds`: how long a lease lasts by default. `patience_seconds`: how long a place in line lasts without a sign
    of life. `max_file_bytes`: larger files are leased, not read. `retention_days`: how long the bytes that were read
    and overwritten are kept. `store`: where leases are kept (a URL; empty: beside the repository), and `namespace`: the
    name under which they are shared there (empty: the folder's name). `daemon`: whether a process that serves the
    repository is started automatically. `durability`: "full", or "normal" to measure the cost of full: after a loss of
    power the last grants may be gone then, and their fences given out again. `policies`: by pattern, which keys must be
    held before they are changed. `merge`: whether an edit whose base has changed may be merged, a word for all keys or
    words by pattern. `reads`: whether new text that uses code whose body another changed since it was read is refused,
    or its author only gets a notice, in the same way. `suspicion`: the treatment of a change that others are suspected
    to depend on, by name only, in the same way. `types`: whether type checkers, if there are any, are used to find what
    a change breaks. `index`: whether the daemon reads all files in the background, so that the first question about
    others finds them read. `tests`: the command that runs the tests that a change may affect, with `{tests}` for their
    files; a user chooses it (COMMONHOLD_TESTS), no repository does. `ignore`: patterns, as in .gitignore, of files that
    are left alone. `writable`: accepted, and without effect now. `shell`: whether shell commands of agents are kept
    from writing files that others hold, or only watched, or neither. `when_down`: whether they run while no daemon
    answers. `release`: whether the regions that an agent edited stay leased to it to the end of its turn, or of each
    edit; at most `idle_seconds` after its last sign of life. `offer_tasks`: whether an agent that has worked on a task
    is offered the next one when its turn ends. `capabilities`: the words for what sessions can do, by pattern of their
    names. `log`: the level of the daemon's log. `event_days`: how long events are kept at least, 0 for ever.
    `max_sessions`: how many managed sessions run at once; `max_reviews`: how many may await review before no more are
    begun; `workspaces`: the folder of their workspaces, which a user chooses (COMMONHOLD_WORKSPACES), no repository
    does; `overlays`: whether they are overlay mounts. `broker`: the URL of the Redis or RabbitMQ by which workers are
    woken; a user chooses it (COMMONHOLD_BROKER), no repository does.
    `tenants`: by the names of tenants, tables of the limits of their sessions together: `max_sessions`, `memory` (such
    as "8g") and `cpus`; `*` is for all that are not named. `session_image`: the image of the containers of sessions
    with the sandbox docker (empty: an empty one, in which the programs of this machine are seen).
    """

    ttl_seconds: float = DEFAULT_TTL_SECONDS
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    retention_days: float = CONTENT_RETENTION_SECONDS / _DAY
    patience_seconds: float = PATIENCE_SECONDS
    store: str = ""
    namespace: str = ""
    daemon: bool = True
    durability: str = "full"
    policies: Mapping[str, str] = field(default_factory=dict)
    merge: str | Mapping[str, str] = Merging.PROVEN.value
    suspicion: str | Mapping[str, str] = Suspicion.ESCALATE.value
    types: str = "on"
    index: str = "on"
    tests: str = ""
    reads: str | Mapping[str, str] = Rereading.NOTICE.value
    ignore: Sequence[str] = ()
    writable: Sequence[str] = ()
    shell: str = Shell.SANDBOX.value
    when_down: str = WhenDown.BLOCK.value
    release: str = Release.TURN.value
    idle_seconds: float = IDLE_SECONDS
    offer_tasks: bool = False
    capabilities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    log: str = LogLevel.INFO.value
    event_days: float = 0.0
    max_sessions: int = 4
    max_reviews: int = 20
    workspaces: str = ""
    overlays: str = OverlayUse.AUTO.value
    broker: str = ""
    session_image: str = ""
    tenants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def quotas(self) -> dict[str, TenantQuota]:
        """The quotas of tenants, by their names; `*` is that of all others."""
        return {
            tenant: TenantQuota(
                quota.get("max_sessions"), parse_size(quota.get("memory", "")) or 0, float(quota.get("cpus", 0))
            )
            for tenant, quota in self.tenants.items()
        }

    def options(self, host: str = "") -> Options:
        """Return the part that the use cases need, on the machine named `host`."""
        by_pattern = {pattern_key(pattern): Policy(word) for pattern, word in self.policies.items()}
        merging = {pattern_key(pattern): Merging(word) for pattern, word in _by_pattern(self.merge).items()}
        rereading = {pattern_key(pattern): Rereading(word) for pattern, word in _by_pattern(self.reads).items()}
        suspicions = {pattern_key(pattern): Suspicion(word) for pattern, word in _by_pattern(self.suspicion).items()}
        retention_seconds = self.retention_days * _DAY
        policies = Policies(by_pattern, merging, rereading, suspicions)
        release = Release(self.release)
        return Options(
            *(self.ttl_seconds, self.patience_seconds, retention_seconds, host, policies, release),
            idle_seconds=self.idle_seconds,
            offer_tasks=self.offer_tasks,
            capabilities={pattern: tuple(words) for pattern, words in self.capabilities.items()},
            event_seconds=self.event_days * _DAY,
            tenants=self.quotas,
        )


def _by_pattern(words: str | Mapping[str, str]) -> Mapping[str, str]:
    """Return the words by pattern: a single word is for everything."""
    return {_EVERYWHERE: words} if isinstance(words, str) else words


def load_settings(root: str, **choices: object) -> Settings:
    """Return the settings of the repository at `root`: `choices` that are not None override all others.

    The environment comes next, then the files. Raises InputError `CONFIG_INVALID`.
    """
    chosen = _from_environment() | {name: value for name, value in choices.items() if value is not None}
    for name, value in chosen.items():
        _CHECKS.get(name, _check_number)(Path(name), name, value)
    return replace(_from_files(root), **chosen)  # type: ignore[arg-type]


def origins(root: str, **choices: object) -> dict[str, str]:
    """Return the origin of each setting that is not the default: the name of a file or variable, or "option".

    "option" marks a setting from `choices`. Raises InputError `CONFIG_INVALID`.
    """
    there = next((path for path in (Path(root, name) for name in FILES) if path.is_file()), None)
    said = {} if there is None else dict.fromkeys(_named_in(there), there.name)
    by_variable = {name: f"COMMONHOLD_{name.upper()}" for name in _from_environment()}
    by_choice = {name: "option" for name, value in choices.items() if value is not None}
    return said | by_variable | by_choice


def _named_in(path: Path) -> Iterator[str]:
    """Yield the settings that a file names, with any value."""
    from commonhold.code.regions.toml import parse_toml  # noqa: PLC0415 - as below

    try:
        tables = parse_toml(_content(path).decode())
    except ValueError as fault:
        raise _invalid(path, str(fault)) from fault
    tools = tables if path.name == _OWN else tables.get("tool", {})
    table = tools if path.name == _OWN else tools.get("commonhold", {}) if isinstance(tools, dict) else {}
    yield from table if isinstance(table, dict) else ()


def _from_environment() -> dict[str, object]:
    """Return the settings in variables, named COMMONHOLD_STORE, COMMONHOLD_DAEMON and so on."""
    chosen: dict[str, object] = {}
    for name in TEXT_VARIABLES:
        if text := os.environ.get(f"COMMONHOLD_{name.upper()}"):
            chosen[name] = text
    if word := os.environ.get("COMMONHOLD_DAEMON"):
        if word not in _SWITCH:
            raise _invalid(Path("COMMONHOLD_DAEMON"), f"{word!r} is neither on nor off")
        chosen["daemon"] = _SWITCH[word]
    return chosen


def is_masked() -> bool:
    """Whether this runs in a shell command that sees others' files as read-only; a daemon started here would, too."""
    return bool(os.environ.get("COMMONHOLD_MASKED"))


def _from_files(root: str) -> Settings:
    """Return the settings in `commonhold.toml`, or else in `pyproject.toml`."""
    for name in FILES:
        path = Path(root, name)
        if path.is_file():
            said = _said_by(path, _content(path))
            if isinstance(said, Settings):
                return said
            raise _invalid(path, said)
    return Settings()


def _content(path: Path) -> bytes:
    """Return the bytes of a settings file. Any agent may have written it: no pipe or endless file can block this."""
    try:
        with os.fdopen(os.open(path, _READ_FLAGS), "rb") as file:
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            content = file.read(MOST_BYTES + 1) if is_regular else b""
    except OSError as fault:
        raise exhausted(fault) or _invalid(path, str(fault)) from fault
    if len(content) > MOST_BYTES:
        raise _invalid(path, f"it is larger than {MOST_BYTES:,} bytes")
    return content


@lru_cache(maxsize=_MOST_KEPT)
def _said_by(path: Path, content: bytes) -> Settings | str:
    """Return the settings in this content, or why they are invalid.

    Every call needs them, and most files stay unchanged, including the invalid ones: so both results are cached.
    """
    try:
        from commonhold.code.regions.toml import parse_toml  # noqa: PLC0415 - most repositories have no such file

        tables = parse_toml(content.decode())
        if path.name == _OWN:
            return _settings(path, tables)
        tools = tables.get("tool", {})
        return _settings(path, tools.get("commonhold", {}) if isinstance(tools, dict) else {})
    except InputError as fault:
        return str(fault.fields["why"])
    except ValueError as fault:  # no TOML, no UTF-8, a number with too many digits
        return str(fault)


def _settings(path: Path, table: object) -> Settings:
    if not isinstance(table, dict):
        raise _invalid(path, "[tool.commonhold] is not a table")
    known = {each.name for each in fields(Settings)}
    if unknown := sorted(set(table) - known):
        raise _invalid(path, f"there is no setting {unknown[0]!r}; there are {', '.join(sorted(known))}")
    for name, value in table.items():
        _CHECKS.get(name, _check_number)(path, name, value)
    _check_server(path, table.get("store", ""))
    if table.get("workspaces"):
        raise _invalid(path, "workspaces is a folder of this machine; set COMMONHOLD_WORKSPACES")
    if table.get("broker"):
        raise _invalid(path, "broker is a server that a user chooses; set COMMONHOLD_BROKER")
    if table.get("tests"):
        raise _invalid(path, "tests is a command, which is for the user to choose; set COMMONHOLD_TESTS")
    return Settings(**table)


def _check_server(path: Path, store: str) -> None:
    """Raise InputError if a repository names a folder or socket of this machine: only the user may choose those."""
    if store and not store.startswith(_SERVERS):
        kind, mark, _ = store.partition("://")
        if mark and kind != "sqlite":
            raise _invalid(path, f"there is no store of the kind {kind[:20]!r}; it can be {', '.join(_SERVERS)}")
        raise _invalid(path, "store names no server; set COMMONHOLD_STORE for a store of this machine")


def _shown(value: object) -> str:
    """Return a value as the file has it: Python writes true and false otherwise."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _check_text(path: Path, name: str, value: object) -> None:
    if not isinstance(value, str):
        raise _invalid(path, f"{name} = {_shown(value)} is not a text")


def _check_broker(path: Path, name: str, value: object) -> None:
    if value and not str(value).startswith(_BROKERS):
        raise _invalid(path, f"{name} is no URL of Redis or RabbitMQ, such as redis://HOST or amqp://HOST")


def _check_list(path: Path, name: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise _invalid(path, f"{name} = {_shown(value)} is not a list of texts")
    if len(value) > MOST_ENTRIES:
        raise _invalid(path, f"{name} has more than {MOST_ENTRIES:,} entries")
    return value


def _check_folders(path: Path, name: str, value: object) -> None:
    for each in _check_list(path, name, value):
        parts = [part.casefold() for part in each.split("/") if part not in ("", ".")]
        if each.startswith(("/", "~")) or ".." in parts or not parts or parts[0] in _NOT_WRITABLE:
            raise _invalid(path, f"in {name}, {each!r} is no folder inside the repository")


def _check_word(path: Path, name: str, value: object, words: type[StrEnum]) -> None:
    if value not in list(words):
        raise _invalid(path, f"{name} = {_shown(value)}; there are {', '.join(words)}")


def _check_choice(path: Path, name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise _invalid(path, f"{name} = {value!r} is neither true nor false")


def _check_policies(path: Path, name: str, value: object) -> None:
    _check_words(path, name, value, Policy)


def _check_capabilities(path: Path, name: str, value: object) -> None:
    if not isinstance(value, dict):
        raise _invalid(path, f'{name} is not a table such as {{"claude:*" = ["review"]}}')
    if len(value) > MOST_ENTRIES:
        raise _invalid(path, f"{name} has more than {MOST_ENTRIES:,} entries")
    for pattern, words in value.items():
        _check_list(path, f"{name}.{pattern}", words)


def _check_tenants(path: Path, name: str, value: object) -> None:
    if not isinstance(value, dict) or not all(isinstance(quota, dict) for quota in value.values()):
        raise _invalid(path, f"{name} is not a table of tables such as [{name}.acme]")
    if len(value) > MOST_ENTRIES:
        raise _invalid(path, f"{name} has more than {MOST_ENTRIES:,} entries")
    words = sorted({*_QUOTAS, "memory"})
    for tenant, quota in value.items():
        for word, amount in quota.items():
            if word not in words:
                raise _invalid(path, f"in {name}, {tenant!r} has {word!r}; there are {', '.join(words)}")
            if word != "memory":
                _check_number(path, f"{name}.{tenant}.{word}", amount, _QUOTAS[word])
            elif not isinstance(amount, str) or parse_size(amount) is None:
                raise _invalid(path, f"{name}.{tenant}.{word} = {_shown(amount)} is no size such as 512m or 8g")


def _check_worded(path: Path, name: str, value: object, words: type[StrEnum]) -> None:
    """Check one of `words`, or a table of them by pattern."""
    if isinstance(value, str):
        _check_word(path, name, value, words)
    else:
        _check_words(path, name, value, words)


def _check_words(path: Path, name: str, value: object, words: type[StrEnum]) -> None:
    """Check a table of one of `words` by pattern."""
    if not isinstance(value, dict):
        raise _invalid(path, f"{name} is not a table of patterns")
    if len(value) > MOST_ENTRIES:
        raise _invalid(path, f"{name} has more than {MOST_ENTRIES:,} entries")
    for pattern, word in value.items():
        if word not in list(words):
            raise _invalid(path, f"in {name}, {pattern!r} is {_shown(word)}; there are {', '.join(words)}")
        try:
            key = pattern_key(pattern)
        except InputError as fault:
            raise _invalid(path, fault.message) from fault
        if key.scheme == FILE and any(wildcard in pattern for wildcard in "*?"):
            raise _invalid(
                path, f"the pattern {pattern!r} has a wildcard: name the file, or the folder with / at its end"
            )


def _check_number(path: Path, name: str, value: object, limits: tuple[float, float] | None = None) -> None:
    low, high = limits or _LIMITS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # type: ignore[operator]
        raise _invalid(path, f"{name} = {_shown(value)} is not a number from {low:,.15g} to {high:,.15g}")
    if name.rpartition(".")[2].startswith("max_") and not isinstance(value, int):
        raise _invalid(path, f"{name} = {_shown(value)} is not a whole number")


def _check_durability(path: Path, name: str, value: object) -> None:
    if value not in ("full", "normal"):
        raise _invalid(path, f'{name} = {_shown(value)} is neither "full" nor "normal"')


def _check_switch(path: Path, name: str, value: object) -> None:
    if value not in ("on", "off"):
        raise _invalid(path, f'{name} = {_shown(value)} is neither "on" nor "off"')


_CHECKS: Final[dict[str, Callable[[Path, str, object], object]]] = {
    "store": _check_text,
    "namespace": _check_text,
    "daemon": _check_choice,
    "durability": _check_durability,
    "policies": _check_policies,
    "merge": partial(_check_worded, words=Merging),
    "suspicion": partial(_check_worded, words=Suspicion),
    "types": _check_switch,
    "index": _check_switch,
    "tests": _check_text,
    "reads": partial(_check_worded, words=Rereading),
    "ignore": _check_list,
    "writable": _check_folders,
    "shell": partial(_check_word, words=Shell),
    "when_down": partial(_check_word, words=WhenDown),
    "release": partial(_check_word, words=Release),
    "offer_tasks": _check_choice,
    "workspaces": _check_text,
    "overlays": partial(_check_word, words=OverlayUse),
    "broker": _check_broker,
    "session_image": _check_text,
    "capabilities": _check_capabilities,
    "tenants": _check_tenants,
    "log": partial(_check_word, words=LogLevel),
}


def _invalid(path: Path, why: str) -> InputError:
    why = why if len(why) <= _LONGEST_REASON else f"{why[:_LONGEST_REASON]} …"
    return InputError(
        Code.CONFIG_INVALID,
        f"the settings in {path.name} cannot be used: {why}",
        hint="edit the file; `commonhold config --help` and `commonhold help reference` list the settings",
        fields={"path": str(path), "why": why},
    )
