"""Exceptions for misuse and failed I/O. An expected refusal is a return value, never one of these.

CommonholdError
├── UsageError      the call itself is wrong
├── InputError      the named thing is absent or not valid
├── StoreError      the state or a file cannot be read or written
├── RefusedError    a refusal, raised by a `with` block, which cannot return it
└── InternalError   a defect of Commonhold
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial


class Code(StrEnum):
    """Every code that an error can carry. Stable words: renaming one is a breaking change."""

    USAGE = "USAGE"
    HOLDER_MISSING = "HOLDER_MISSING"
    TTL_INVALID = "TTL_INVALID"
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED"

    KEY_INVALID = "KEY_INVALID"
    TEXT_INVALID = "TEXT_INVALID"
    PATH_INVALID = "PATH_INVALID"
    PATH_OUTSIDE = "PATH_OUTSIDE"
    PATH_RESERVED = "PATH_RESERVED"
    NOT_A_FILE = "NOT_A_FILE"
    FILE_NOT_FOUND = "FILE_NOT_FOUND"
    FILE_EXISTS = "FILE_EXISTS"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    ENCODING_INVALID = "ENCODING_INVALID"
    REGION_UNKNOWN = "REGION_UNKNOWN"
    SECTION_UNKNOWN = "SECTION_UNKNOWN"
    REGION_AMBIGUOUS = "REGION_AMBIGUOUS"
    CHANGESET_INVALID = "CHANGESET_INVALID"
    CONTENT_UNKNOWN = "CONTENT_UNKNOWN"
    COMMIT_UNKNOWN = "COMMIT_UNKNOWN"
    EVENT_UNKNOWN = "EVENT_UNKNOWN"
    EVENT_COMPACTED = "EVENT_COMPACTED"
    TASK_UNKNOWN = "TASK_UNKNOWN"
    PLAN_INVALID = "PLAN_INVALID"
    RUN_UNKNOWN = "RUN_UNKNOWN"
    ENTRY_UNKNOWN = "ENTRY_UNKNOWN"
    SESSION_UNKNOWN = "SESSION_UNKNOWN"
    SESSION_INVALID = "SESSION_INVALID"
    SANDBOX_FAILED = "SANDBOX_FAILED"
    ROLE_FAILED = "ROLE_FAILED"
    CONFIG_INVALID = "CONFIG_INVALID"
    REPOSITORY_BARE = "REPOSITORY_BARE"
    REPOSITORY_UNTRUSTED = "REPOSITORY_UNTRUSTED"
    REPOSITORY_BUSY = "REPOSITORY_BUSY"
    REPOSITORY_PLAIN = "REPOSITORY_PLAIN"
    REVISION_UNKNOWN = "REVISION_UNKNOWN"
    BRANCH_DIVERGED = "BRANCH_DIVERGED"
    LANGUAGE_UNTIED = "LANGUAGE_UNTIED"

    PERMISSION_DENIED = "PERMISSION_DENIED"
    DISK_FULL = "DISK_FULL"
    IO_FAILED = "IO_FAILED"
    GIT_FAILED = "GIT_FAILED"
    CODE_HOST_FAILED = "CODE_HOST_FAILED"
    STORE_READ_ONLY = "STORE_READ_ONLY"
    STORE_CORRUPT = "STORE_CORRUPT"
    STORE_NEWER = "STORE_NEWER"
    STORE_UNSAFE = "STORE_UNSAFE"
    STORE_BUSY = "STORE_BUSY"
    STORE_OWNED = "STORE_OWNED"
    STORE_UNREACHABLE = "STORE_UNREACHABLE"
    STORE_URL_INVALID = "STORE_URL_INVALID"
    RECOVERY_BLOCKED = "RECOVERY_BLOCKED"

    TOKEN_INVALID = "TOKEN_INVALID"  # noqa: S105 - a word
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN"  # noqa: S105 - a word
    NOTIFICATION_UNKNOWN = "NOTIFICATION_UNKNOWN"
    SCOPE_INSUFFICIENT = "SCOPE_INSUFFICIENT"
    HOST_REFUSED = "HOST_REFUSED"
    ORIGIN_REFUSED = "ORIGIN_REFUSED"
    ROUTE_UNKNOWN = "ROUTE_UNKNOWN"
    REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE"
    RATE_LIMITED = "RATE_LIMITED"
    CURSOR_UNKNOWN = "CURSOR_UNKNOWN"
    READER_TOO_SLOW = "READER_TOO_SLOW"
    ADDRESS_UNSAFE = "ADDRESS_UNSAFE"
    SERVER_UNREACHABLE = "SERVER_UNREACHABLE"

    LEASE_DENIED = "LEASE_DENIED"
    ALREADY_DONE = "ALREADY_DONE"
    LEASE_LOST = "LEASE_LOST"

    PLANNING_CRASHED = "PLANNING_CRASHED"
    INTERNAL = "INTERNAL"


class CommonholdError(Exception):
    """Base of all errors: a stable `code`, a message, and a `hint` that names the next step."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        hint: str,
        retry_after_seconds: float | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        """Hold the parts; `retry_after_seconds` says that the same call may succeed later."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.retry_after_seconds = retry_after_seconds
        self.fields: dict[str, object] = dict(fields or {})

    def __reduce__(self) -> tuple[object, ...]:
        """The parts to make it of again in another process."""
        made_of = partial(type(self), hint=self.hint, retry_after_seconds=self.retry_after_seconds, fields=self.fields)
        return made_of, (self.code, self.message)

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without any change to it."""
        return self.retry_after_seconds is not None


class UsageError(CommonholdError):
    """The call itself is wrong: a missing holder, a TTL of zero, a reused request id."""


class InputError(CommonholdError):
    """The call names something that is absent or not valid: a path, a region, a changeset."""


class StoreError(CommonholdError):
    """The state or a file cannot be read or written; nothing was changed, unless the message says otherwise."""


class RefusedError(CommonholdError):
    """A refusal inside a `with` block, which cannot return it: the lease was not granted, or was lost."""


class InternalError(CommonholdError):
    """A defect of Commonhold: report it."""
