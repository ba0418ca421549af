#!/usr/bin/env python3
"""A program in place of Claude Code's, for tests of runs: it edits as its hooks allow, and reports as Claude Code does.

`agent.json` beside the repository says, for each task, what it replaces in which file, and how it ends. Its prompts are
written to `prompts/` there, one file a call.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

WORDS = sys.argv[1:]
PROMPT = WORDS[WORDS.index("-p") + 1]
SESSION = WORDS[WORDS.index("--session-id") + 1]
ROOT = Path.cwd()


def hook(event: str, **fields: object) -> str:
    """Call the hooks of an event; return the reason if one denies the call."""
    payload = {
        "session_id": SESSION,
        "cwd": str(ROOT),
        "permission_mode": "default",
        "hook_event_name": event,
        **fields,
    }
    settings = [path.read_text(encoding="utf-8") for path in ROOT.glob(".claude/settings*.json")]
    for group in (group for text in settings for group in json.loads(text).get("hooks", {}).get(event, ())):
        if not re.fullmatch(group.get("matcher") or ".*", str(fields.get("tool_name", ""))):
            continue
        for each in group["hooks"]:
            done = subprocess.run(
                ["/bin/sh", "-c", each["command"]], input=json.dumps(payload).encode(), capture_output=True, check=False
            )
            answer = json.loads(done.stdout or b"{}").get("hookSpecificOutput", {})
            if answer.get("permissionDecision") == "deny":
                return str(answer.get("permissionDecisionReason"))
    return ""


def edit(path: str, old: str, new: str) -> str:
    call = {
        "tool_name": "Edit",
        "tool_use_id": f"call-{os.getpid()}-{path}",
        "tool_input": {"file_path": str(ROOT / path), "old_string": old, "new_string": new, "replace_all": False},
    }
    if denied := hook("PreToolUse", **call):
        return denied
    text = (ROOT / path).read_text(encoding="utf-8")
    (ROOT / path).write_text(text.replace(old, new), encoding="utf-8")
    hook("PostToolUse", **call, tool_response={})
    return ""


def main() -> int:
    rules = json.loads((ROOT.parent / "agent.json").read_text(encoding="utf-8"))
    (task,) = re.findall(r"^This is the task (\S+) ", PROMPT, re.MULTILINE)
    prompts = ROOT.parent / "prompts"
    prompts.mkdir(exist_ok=True)
    tries = len(list(prompts.glob(f"{task}-*")))
    (prompts / f"{task}-{tries + 1}").write_text(PROMPT, encoding="utf-8")
    rule = rules[task][min(tries, len(rules[task]) - 1)]
    hook("SessionStart", source="startup")
    denied = [why for each in rule.get("edits", ()) if (why := edit(*each))]
    time.sleep(rule.get("seconds", 0))
    message = denied[0] if denied else "Done."
    used = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 10}
    result = {
        "type": "result",
        "session_id": SESSION,
        "is_error": "error" in rule,
        "result": rule.get("error", message),
    }
    sys.stdout.write(json.dumps({**result, "usage": used, "total_cost_usd": 0.25}) + "\n")
    sys.stdout.flush()
    if not rule.get("is_killed"):
        hook("Stop", stop_hook_active=False)
        hook("SessionEnd", reason="other")
    return int(rule.get("status", 0))


if __name__ == "__main__":
    sys.exit(main())
