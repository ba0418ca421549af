"""Why something was refused."""

from enum import StrEnum


class Refusal(StrEnum):
    """Why a commit is not written, or a lease not renewed. Answers, not errors."""

    REGION_CHANGED = "REGION_CHANGED"
    PARSE_INVALID = "PARSE_INVALID"
    OUT_OF_SCOPE_EDIT = "OUT_OF_SCOPE_EDIT"
    LEASE_LOST = "LEASE_LOST"
    NOT_HOLDER = "NOT_HOLDER"
    LOCK_CONFLICT = "LOCK_CONFLICT"
    REQUIRE_ADDITIONAL_LOCKS = "REQUIRE_ADDITIONAL_LOCKS"
    ESCALATION_REQUIRED = "ESCALATION_REQUIRED"
