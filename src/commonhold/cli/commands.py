"""Every command and its one line of help, so that the list can be shown without loading any of them."""

from typing import Final

COMMANDS: Final = {
    "regions": "List the regions of a file: functions, methods, headers, with their hashes.",
    "show": "Print the text of regions, or kept bytes by their hash.",
    "saw": "Tell that this session has read files or regions in another way.",
    "acquire": "Lease regions, files, folders or any named resource; wait for it; run a command under it.",
    "renew": "Let a lease of yours last longer.",
    "release": "End a lease of yours, or leave the line.",
    "ask": "Ask the holder of a lease to release it.",
    "hand-over": "Give a lease of yours to another agent session.",
    "break": "End another's lease by force; for people, and audited.",
    "leases": "List the live leases, and who waits in line.",
    "who": "Tell who holds, who waits for and who changed what is at a path.",
    "commit": "Write a change if it still fits what is there; else say what to do.",
    "exec": "Run a command that cannot write what other sessions hold.",
    "merge": "Merge a branch, each file proven or verified, or say why not.",
    "merge-file": "Merge three versions of one file.",
    "check": "Tell whether two branches would work together, and what would break.",
    "impact": "Tell who depends on a region, step by step, as a tree or a picture.",
    "callers": "List what uses a region, in any file.",
    "contract": "Show what a region offers to others.",
    "get": "Print what named keys carry.",
    "put": "Let a named key carry a value, if nobody changed it meanwhile.",
    "review": "See and close what was left half done when a lease was lost, and what is owed.",
    "adopt": "Make the uncommitted work of a session that has ended one's own.",
    "sweep": "End what is over, and look for what was left half done.",
    "log": "Show what happened, event by event.",
    "status": "Show leases, the line, the newest commits, open debts and work to review.",
    "daemon": "Look after the process that serves the repository: status, start, stop, http.",
    "hook": "Answer an agent's hook; what install sets calls this by itself.",
    "doctor": "Check this machine and this repository; mend what can be mended.",
    "install": "Let the agents that work here, and git, be coordinated from now on.",
    "uninstall": "Take out what install set.",
    "mcp": "Serve an agent over the Model Context Protocol (standard input and output).",
    "demo": "Show in a throw-away repository that nothing is lost.",
    "completion": "Print the script that completes commands in a shell.",
    "exit-codes": "List the exit codes.",
    "explain": "Explain an error or refusal code.",
}
# The files of commands whose names Python keeps for itself.
MODULES: Final = {"break": "break_lease"}
# Commands that git calls with the names of files as they are on the disk, valid UTF-8 or not.
BY_RAW_NAMES: Final = frozenset({"merge-file"})
