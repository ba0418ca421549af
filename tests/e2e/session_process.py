"""A session in a process of its own: `python session_process.py ROOT AGENT direct|daemon`, one call a line of JSON.

A call is a list of the method and its arguments; the answer is the outcome, with fence and text, or the error's code.
"""

import json
import sys

import commonhold
from commonhold import CommonholdError


def main(root: str, agent: str, way: str) -> None:
    with commonhold.open(root, agent=agent, daemon=way == "daemon") as hold:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(_answer(hold, *json.loads(line))) + "\n")
            sys.stdout.flush()


def _answer(hold: commonhold.Commonhold, method: str, *arguments: object) -> dict[str, object]:
    try:
        match method, arguments:
            case "acquire", (str(key),):
                granted = hold.acquire(key)
                return {"outcome": granted.outcome, "fence": granted.lease.fence if granted.lease else None}
            case "put", (str(key), str(text)):
                return {"outcome": hold.put(key, text, expected_version=0).outcome}
            case "get", (str(key),):
                return {"outcome": "found", "text": hold.get(key).text}
            case _:
                raise AssertionError(method)
    except CommonholdError as fault:
        return {"outcome": "failed", "code": fault.code.value, "hint": fault.hint}


if __name__ == "__main__":
    main(*sys.argv[1:])
