"""Where the daemon's log is, and how large it is."""

import os
from typing import Final

from commonhold.diagnostics.finding import Finding, ok, warn
from commonhold.machine.log_output import LARGEST_BYTES, older
from commonhold.workspace.daemon_files import log_path

_MORE: Final = "COMMONHOLD_LOG=debug, set before the daemon starts, logs every step"


def log(state_folder: str) -> Finding:
    """Return the path and the size of the log; a warning if it is far larger than rotation allows."""
    path = log_path(state_folder)
    if not os.path.lexists(path):
        return ok("log", f"{path} does not exist yet; the first daemon creates it", path=path, bytes=0, older=[])
    before = older(path)
    size = sum(os.lstat(each).st_size for each in (path, *before) if os.path.lexists(each))
    files = f"{size:,} bytes" + (f" with {len(before)} older" if before else "")
    if size > LARGEST_BYTES:
        found = f"{path}, {files}: it is not rotated, since another program writes there or the folder is read-only"
        return warn("log", found, f"commonhold daemon stop, then rm {path}", path=path, bytes=size, older=before)
    return ok("log", f"{path}, {files}; {_MORE}", path=path, bytes=size, older=before)
