"""Commands that play the roles of a run in tests: each reads a request on standard input and prints an answer.

The editor obeys `rules.json` in the working tree: for each task, replacements by key. It writes a line to `calls.log`
beside the repository for each call, so that a test can count them.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def editor(request: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    rule = rules["tasks"][request["task"]["id"]]
    time.sleep(rules.get("seconds", 0.0))
    if "fail" in rule:
        return {"fail": rule["fail"]}
    if "unchanged" in rule:
        return {"unchanged": rule["unchanged"]}
    if "create" in rule:
        return {
            "changeset": {"edits": [{"op": "create_file", "key": path, "text": text} for path, text in rule["create"]]}
        }
    edits = []
    for region in request["regions"]:
        text = region["text"]
        for old, new in rule["replace"]:
            text = text.replace(old, new)
        if text != region["text"]:
            edits.append({"op": "replace", "key": region["key"], "text": text})
    if rule.get("until_failure") and request["failure"]:
        edits = [{**each, "text": each["text"].replace(*rule["until_failure"])} for each in edits]
    return {"changeset": {"edits": edits}} if edits else {"unchanged": "it is so already"}


def main() -> None:
    request = json.load(sys.stdin)
    folder = Path(request["root"]).parent
    if request["role"] == "planner":
        sys.stdout.write((folder / "planned.json").read_text(encoding="utf-8"))
        return
    with (folder / "calls.log").open("a", encoding="utf-8") as log:
        line = {"pid": os.getpid(), **{name: request[name] for name in ("role", "round", "failure", "refusal")}}
        log.write(json.dumps({"task": request["task"]["id"], **line}) + "\n")
    rules = json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    if "meanwhile" in rules and request["round"] == 1:  # another program changes the file while the editor thinks
        path, text = rules["meanwhile"]
        (Path(request["root"]) / path).write_text(text, encoding="utf-8")
    answer = editor(request, rules)
    json.dump({**answer, "usage": {"tokens_in": 100, "tokens_out": 10, "cost": 0.01}}, sys.stdout)


if __name__ == "__main__":
    main()
