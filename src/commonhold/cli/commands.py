"""Every command and its one line of help, in groups, so that the list can be shown without loading any of them."""

from collections.abc import Mapping
from typing import Final

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Set up": {
        "install": "Set up the coding agents in this repository (and git), after showing what changes.",
        "uninstall": "Undo what install changed.",
        "doctor": "Check the machine, the repository and every installed hook; say how to repair what fails.",
        "config": "Show every setting, its value and where it comes from.",
        "demo": "Watch agents collide in a throw-away repository, without Commonhold and with it.",
    },
    "See who does what": {
        "status": "Show the sessions at work, their leases, the newest commits and open work; --watch repeats it.",
        "top": "Show live what each agent holds, does and waits for, and what needs you.",
        "leases": "List the leases, and who waits for one.",
        "who": "Show who holds, waits for or last changed a path.",
        "log": "Show the log, event by event.",
        "replay": "Reconstruct every state from the log, and check that its decisions come out the same.",
        "stats": "Show what coordination has saved: collisions caught, merges, repairs, waits by cause.",
        "review": "List unfinished work that needs a person, and close it.",
    },
    "Hold files, functions or any name": {
        "acquire": "Lease regions, files, folders or any name; wait for them; run a command while they are leased.",
        "renew": "Make your lease last longer.",
        "release": "End your lease, or all of yours; leave the line.",
        "ask": "Ask the holder of a lease to release it.",
        "hand-over": "Give your lease to another agent session.",
        "break": "End another's lease by force; for people, and audited.",
    },
    "Share tasks": {
        "plan": "Show which tasks of a plan overlap, and in what order several agents finish it soonest.",
        "task": "Share the tasks of a plan among sessions: add, import, list, claim and end them.",
        "run": "Carry out a plan with several editors: start, resume, list, show and cancel runs.",
        "session": "Run agents on tasks, each in a git worktree of its own: start, watch, review and merge.",
        "claim": "Claim a task through a git remote, without a server; list, keep, end and log claims.",
    },
    "Read and change code": {
        "regions": "List the regions of a file (functions, methods, headers) with their hashes.",
        "show": "Print the text of regions, or stored bytes by their hash.",
        "version-of": "Print the version of a named key, or the hashes of a region and its file.",
        "commit": "Write a change if it still fits the current text; otherwise say how to go on.",
        "undo": "Take back the work of one session, task or commit, and nothing of others; shown before it is done.",
        "adopt": "Take over the uncommitted work of a session that has ended.",
        "exec": "Run a program that cannot write files that others hold.",
        "get": "Print the values of named keys.",
        "put": "Store the value of a named key, if it was not changed meanwhile.",
    },
    "Use the project's notes": {
        "archive": "Search the project's notes by words or keys; show, list, add and link them.",
    },
    "Merge, and look ahead": {
        "merge": "Merge a branch: each file is proven or tested, or refused with the reason.",
        "check": "Tell whether two branches would break each other.",
        "queue": "Land finished branches in tested batches: add, list, run; predict which conflict.",
        "impact": "Show what depends on a function, step by step, as a tree or a picture.",
        "callers": "List the uses of a function or class, in any file.",
        "contract": "Show the contract of a region: signatures, bases, members.",
    },
    "Help": {
        "help": "Show the help of a command, or a page of the documentation.",
        "explain": "Explain a code, or why something was refused, waited or changed.",
        "exit-codes": "List the exit codes.",
        "completion": "Print the script that completes commands in a shell.",
    },
    "For programs": {
        "mcp": "Serve an agent over the Model Context Protocol (standard input and output).",
        "hook": "Answer an agent's hook; installed hooks call this.",
        "record-read": "Record what this session has read in another way.",
        "merge-file": "Merge three versions of one file, as git's merge driver.",
        "serve": "Serve the repository over HTTP, to other machines too, for bearers of tokens.",
        "worker": "Run managed sessions on this machine, for all machines that share a store.",
        "token": "Issue, list and revoke the access tokens of clients over HTTP.",
        "notify": "Send a notification when a person must decide: by webhook or on the desktop.",
        "backup": "Copy the state to a file, while it is in use.",
        "restore": "Put a backup in the place of the state; fences never go back.",
        "daemon": "Control the process that serves the repository: status, start, stop, http.",
        "sweep": "End expired leases and find unfinished work; other commands do this by themselves.",
    },
}
COMMANDS: Final = {name: line for group in GROUPS.values() for name, line in group.items()}
# Commands that users of other tools type.
MEANT: Final = {
    **dict.fromkeys(("hold", "lease", "lock", "reserve"), "acquire"),
    **dict.fromkeys(("free", "unlock"), "release"),
    **dict.fromkeys(("init", "setup"), "install"),
    **dict.fromkeys(("ls", "list"), "leases"),
    **dict.fromkeys(("ps", "watch"), "status"),
    **dict.fromkeys(("set", "settings"), "config"),
    **dict.fromkeys(("notification", "notifications", "webhook"), "notify"),
    **dict.fromkeys(("events", "history"), "log"),
    **dict.fromkeys(("blame", "owner"), "who"),
    **dict.fromkeys(("revert", "rollback"), "undo"),
    "remove": "uninstall",
}
# The files of commands whose names Python keeps for itself.
MODULES: Final = {"break": "break_lease"}
# Commands that git calls with the names of files as they are on the disk, valid UTF-8 or not.
BY_RAW_NAMES: Final = frozenset({"merge-file"})
