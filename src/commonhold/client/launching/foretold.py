"""Word of a command that may run, left in a file for a launcher that is kept from asking.

Codex starts shells in a sandbox of its own, in which no socket can be connected; but all can be read there.
"""

import hashlib
import os


def place(state_folder: str, holder: str, call: str) -> str:
    """The file for the call of a tool."""
    named = f"{holder}\0{call}".encode("utf-8", "surrogatepass")  # a call may be named by half a surrogate pair
    return os.path.join(folder(state_folder), hashlib.sha256(named).hexdigest())


def folder(state_folder: str) -> str:
    """Where these files are."""
    return os.path.join(state_folder, "foretold")
