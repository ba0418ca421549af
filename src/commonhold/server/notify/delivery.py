"""Deliver one notification: a signed webhook, in the form of Standard Webhooks, or a message on the desktop."""

import base64
import hashlib
import hmac
import html
import http.client
import shutil
import socket
import ssl
import subprocess
import sys
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import msgspec

import commonhold
from commonhold.api.wire.instants import instant
from commonhold.kernel.errors import CommonholdError
from commonhold.server.notify.decisions import Decision
from commonhold.server.notify.targets import SECRET_MARK, Target, check_address

TIMEOUT_SECONDS: Final = 10.0
_PORTS: Final = {"http": 80, "https": 443}
_APPLE: Final = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
_TITLES: Final = {
    "partial_work": "{holder} left work unfinished",
    "task_proposed": "Task {subject} waits to be accepted",
    "task_failed": "Task {subject} has failed",
    "run_failed": "Run {subject} needs a person",
    "entry_returned": "Entry {subject} of the merge queue came back",
    "landing_held": "Entry {subject} of the merge queue cannot land",
    "session_review": "Session {subject} waits for your approval",
    "session_failed": "Session {subject} has failed",
    "test": "A test",
}


def body_of(decision: Decision | None, repository: str, now: float) -> bytes:
    """Return the JSON of a notification; without a decision, that of a test."""
    if decision is None:
        message: dict[str, object] = {"type": "test", "timestamp": instant(now), "repository": repository, "data": {}}
    else:
        message = {
            "type": decision.kind.value,
            "timestamp": instant(decision.at),
            "repository": repository,
            "data": {
                "event": decision.sequence,
                "holder": decision.holder,
                "subject": decision.subject,
                "title": title_of(decision),
                "why": decision.why,
                "next": decision.next,
            },
        }
    return msgspec.json.encode(message)


def title_of(decision: Decision | None) -> str:
    """Return the notification in one line."""
    if decision is None:
        return _TITLES["test"]
    return _TITLES[decision.kind].format(holder=decision.holder, subject=decision.subject)


def signature_of(secret: str, id_: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a webhook, whose receiver computes the same."""
    key = base64.b64decode(secret.removeprefix(SECRET_MARK))
    digest = hmac.new(key, f"{id_}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def deliver(target: Target, decision: Decision | None, repository: str, now: float) -> str:
    """Send one notification; return why it did not arrive, or nothing. It takes a quarter of a minute at most.

    A repeated one has the same id, by which its receiver recognises it.
    """
    try:
        if target.is_desktop:
            return _show(f"{repository}: {title_of(decision)}", decision.why if decision else "Notifications work.")
        id_ = f"msg_{target.id}_{decision.sequence if decision else f'test{now:.0f}'}"
        return _post(target, id_, body_of(decision, repository, now), int(now))
    except CommonholdError as fault:
        return fault.message
    except (OSError, http.client.HTTPException, subprocess.SubprocessError, ValueError) as fault:
        return _said_by(fault)


def _said_by(fault: Exception) -> str:
    """Return what happened without the numbers and names of Python's errors."""
    if isinstance(fault, OSError) and fault.strerror:
        return f"{fault.filename}: {fault.strerror}" if fault.filename else fault.strerror
    return str(fault) or type(fault).__name__


def _post(target: Target, id_: str, body: bytes, timestamp: int) -> str:
    """Post to the address that was checked: no second look-up, no redirection and no proxy leads elsewhere."""
    parts = urlsplit(target.url)
    host = parts.hostname or ""
    port = parts.port or _PORTS[parts.scheme]
    addresses = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in addresses:
        check_address(address, is_private=target.is_private)
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.sock = socket.create_connection((addresses[0], port), TIMEOUT_SECONDS)
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=host)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {
            "Host": parts.netloc,
            "Content-Type": "application/json",
            "User-Agent": f"commonhold/{commonhold.__version__}",
            "webhook-id": id_,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature_of(target.secret, id_, timestamp, body),
        }
        connection.request("POST", path, body, headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return ""
    return f"the answer was {status}"


def _show(title: str, text: str) -> str:
    if sys.platform == "darwin":
        command = ["osascript", "-e", _APPLE, title, text]
    else:
        command = ["notify-send", "--app-name=Commonhold", "--", title, html.escape(text)]
    program = shutil.which(command[0])
    if program is None:
        return f"{command[0]} is not installed"
    done = subprocess.run(  # noqa: S603 - no shell, and each text is an argument of its own
        [program, *command[1:]], check=False, capture_output=True, timeout=TIMEOUT_SECONDS
    )
    return "" if done.returncode == 0 else f"{command[0]} ended with {done.returncode}"
