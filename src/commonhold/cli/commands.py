"""Every command and its one line of help, so that the list can be shown without loading any of them."""

from typing import Final

COMMANDS: Final = {
    "regions": "List the regions of a file: functions, methods, headers, with their hashes.",
    "show": "Print the text of regions, or kept bytes by their hash.",
    "acquire": "Lease regions, files, folders or any named resource.",
    "renew": "Let a lease of yours last longer.",
    "release": "End a lease of yours.",
    "leases": "List the live leases.",
    "who": "Tell who holds and who changed what is at a path.",
    "commit": "Write a change if it still fits what is there; else say what to do.",
    "log": "Show what happened, event by event.",
    "status": "Show live leases, the newest commits and open debts.",
    "doctor": "Check this machine and this repository; mend what can be mended.",
    "mcp": "Serve an agent over the Model Context Protocol (standard input and output).",
    "demo": "Show in a throw-away repository that nothing is lost.",
    "completion": "Print the script that completes commands in a shell.",
    "exit-codes": "List the exit codes.",
    "explain": "Explain an error or refusal code.",
}
