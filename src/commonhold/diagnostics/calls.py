"""Make a call that has no effect, as an agent's program would, and report whether it works."""

import http.client
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

PATIENCE_SECONDS: Final = 30.0
"""As long as an agent waits for a hook: the first may have to start the daemon."""
_OURS: Final = "COMMONHOLD_"
_LONGEST: Final = 300


def run(words: Sequence[str], root: str, payload: bytes, environment: Mapping[str, str]) -> str:
    """Run a command in `root` with `payload` as its input; return why it failed, empty if it ended well and in silence.

    It inherits no variable of ours: those that it needs are in `environment`.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    try:
        done = subprocess.run(
            words,
            input=payload,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            cwd=root,
            env={**inherited, **environment},
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PATIENCE_SECONDS:g} seconds"
    except OSError as fault:
        return f"{words[0]} cannot be started ({fault.strerror})"
    said = _reason(done.stdout) or _last_line(done.stderr)
    if done.returncode:
        return said or f"{os.path.basename(words[0])} ended with status {done.returncode}"
    return said


def post(url: str, token: str, payload: bytes) -> str:
    """Post to an address on the loopback; return why it failed, empty if the answer is good and has no text."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST", place.path, payload, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        said = _reason(answer.read())
    except (OSError, http.client.HTTPException) as fault:
        return f"nothing answers at {place.hostname}:{place.port} ({fault})"
    finally:
        connection.close()
    return said if answer.status == http.client.OK else f"{place.hostname}:{place.port} answers {answer.status}: {said}"


def _reason(output: bytes) -> str:
    """The text of an answer: the longest text of an object, which is the reason; empty for an empty answer."""
    text = output.decode(errors="replace").strip()
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text[:_LONGEST]
    return max(_texts(told), key=len, default="")[:_LONGEST]


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in _texts(each)]
    return [value] if isinstance(value, str) else []


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1][:_LONGEST] if lines else ""
