"""A permission for a command, left in a file for a launcher that cannot ask the daemon.

Codex starts shells in a sandbox of its own, in which no socket can be connected; but all can be read there.
"""

import hashlib
import os


def place(state_folder: str, holder: str, call: str) -> str:
    """Return the path of the file for the call of a tool."""
    named = f"{holder}\0{call}".encode("utf-8", "surrogatepass")  # a call may be named by half a surrogate pair
    return os.path.join(folder(state_folder), hashlib.sha256(named).hexdigest())


def folder(state_folder: str) -> str:
    """Return the folder of these files."""
    return os.path.join(state_folder, "foretold")
