"""Examples of parameters in the OpenAPI document, by operation. A test reads each as a request."""

from collections.abc import Mapping
from typing import Any, Final

_LEASE: Final = "lease-3f9a6c1e8b2d4f70"
_KEY: Final = "src/billing.py#charge"
_FUNCTION: Final = "def charge(amount, discount=0):\n    return amount * (100 - discount) // 100\n"

EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "acquire": {"keys": [_KEY], "task": "add a discount", "ttl_seconds": 600},
    "add_tasks": {"tasks": [{"id": "price", "title": "discount parameter on charge()", "keys": [_KEY]}]},
    "adopt": {"keys": ["src/billing.py"], "owner": "claude:26baef9a"},
    "ask": {"lease_id": _LEASE, "why": "the release waits for this function"},
    "attach_managed_session": {"session": "s12", "attempt": 1, "ttl_seconds": 30},
    "break_lease": {"lease_id": _LEASE, "reason": "its machine is gone"},
    "change_managed_session": {"session": "s12", "action": "cancel", "note": "the task was wrong"},
    "propose_tasks": {
        "tasks": [{"id": "rates", "title": "cache the rates", "intent": "charge() asks for them on every call"}]
    },
    "change_task": {"task": "price", "action": "done", "commit": "4be1f0c"},
    "claim_task": {"labels": ["python"]},
    "commit": {
        "changeset": {
            "intent": "charge() takes a discount in percent",
            "edits": [{"op": "replace", "key": _KEY, "base": "0" * 64, "text": _FUNCTION}],
        }
    },
    "commits_on": {"path": "src/billing.py", "limit": 20},
    "content": {"content_hash": "0" * 64},
    "enqueue": {"branch": "discounts", "task": "price", "checks": ["pytest -q tests/billing"]},
    "entries": {"ids": ["e12"]},
    "explain": {"what": "src/billing.py#charge"},
    "get": {"key": "account:12345"},
    "hand_over": {"lease_id": _LEASE, "to": "claude:26baef9a/a8f0"},
    "key_version": {"key": _KEY},
    "leases": {"holder": "claude:26baef9a"},
    "list_regions": {"path": "src/billing.py"},
    "log": {"after": 41, "limit": 100},
    "put": {"key": "account:12345", "text": "open", "expected_version": 0},
    "read": {"keys": [_KEY]},
    "regions": {"path": "src/billing.py"},
    "release": {"lease_id": _LEASE},
    "renew": {"lease_id": _LEASE, "ttl_seconds": 600},
    "remove_entry": {"entry": "e12", "note": "a better change is on its way"},
    "report_managed_session": {
        "session": "s12",
        "report": {"move": "fail", "note": "the agent ended with exit status 3", "cause": "exited", "status": 3},
        "attempt": 1,
        "fence": 41,
    },
    "review": {"lease_id": _LEASE, "note": "kept, and finished by hand"},
    "record_read": {"keys": ["src/billing.py"]},
    "last_read": {"keys": ["src/billing.py"]},
    "search_notes": {"words": "token expiry"},
    "send": {"holders": ["codex:019a"], "text": "charge() takes a discount now"},
    "timeline": {"limit": 5000},
    "start_managed_session": {"task": "fix the rounding in charge()", "agent": "claude", "checks": ["pytest -q"]},
    "waive": {"keys": ["src/report.py#total"], "note": "it never passes a discount"},
    "who": {"key": "src/billing.py"},
}
