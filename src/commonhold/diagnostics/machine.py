"""The machine: interpreter, SQLite, clock, kernel, grammars."""

import os
import platform
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import apsw

from commonhold.code.regions.discover import discover
from commonhold.diagnostics.finding import Finding, fail, ok, warn
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.boot_clock import BOOT_ID, CLOCK
from commonhold.session_host.docker import engine_options
from commonhold.stores.sqlite.connect import FIRST_SAFE_SQLITE, sqlite_version
from commonhold.workspace.sandbox.probing import offered

_USER_NAMESPACES: Final = Path("/proc/sys/user/max_user_namespaces")
_UNPRIVILEGED: Final = Path("/proc/sys/kernel/unprivileged_userns_clone")
_APPARMOR: Final = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_SAMPLE: Final = b"def f():\n    return 1\n"


def machine() -> Iterator[Finding]:
    """Yield all checks of the machine."""
    yield ok("python", f"{platform.python_version()} at {sys.executable}")
    yield ok("system", f"{platform.platform()}, user {os.geteuid()}", uid=os.geteuid())
    yield _sqlite()
    yield _grammars()
    yield _clock()
    yield _sandbox()
    yield _namespaces()
    yield _overlay()
    yield _docker()


def _sqlite() -> Finding:
    facts = {"version": apsw.sqlite_lib_version(), "options": list(apsw.compile_options)}
    if sqlite_version() < FIRST_SAFE_SQLITE:
        found = f"{facts['version']} can corrupt a database that several processes share"
        return fail("sqlite", found, "pip install --upgrade apsw", **facts)
    return ok("sqlite", f"{facts['version']}, brought by apsw {apsw.apsw_version()}: safe to share", **facts)


def _grammars() -> Finding:
    names = ("tree-sitter", "tree-sitter-python")
    try:
        found = ", ".join(f"{name} {version(name)}" for name in names)
        is_sound = len(discover(_SAMPLE, "sample.py").regions) > 1
    except (PackageNotFoundError, CommonholdError, OSError, ValueError) as fault:
        return fail("grammars", str(fault), "pip install --force-reinstall commonhold")
    if is_sound:
        return ok("grammars", found)
    return fail(
        "grammars", f"{found} find no function in a sample", "pip install --upgrade tree-sitter tree-sitter-python"
    )


def _clock() -> Finding:
    seconds = time.clock_gettime(getattr(time, CLOCK))
    try:
        epoch = Path(BOOT_ID).read_text(encoding="ascii").strip() if sys.platform == "linux" else "the boot session"
    except OSError:
        return fail("clock", f"there is no {BOOT_ID}, so a reboot would go unseen", "mount /proc", seconds=seconds)
    return ok("clock", f"{CLOCK} at {seconds:.0f} s of boot {epoch}", seconds=seconds, boot=epoch)


def _sandbox() -> Finding:
    found = offered()
    if found.is_enforced:
        return ok(
            "sandbox", f"{found.name}: shell commands of agents cannot write files that others hold", name=found.name
        )
    mend = "allow user namespaces (sysctl user.max_user_namespaces), or install bubblewrap"
    what = "none: a write of an agent's shell command to a file that another holds is noticed only afterwards"
    return warn("sandbox", what, mend, name="none")


def _namespaces() -> Finding:
    allowed = _number(_USER_NAMESPACES, 0) > 0 and _number(_UNPRIVILEGED, 1) > 0
    if allowed and _number(_APPARMOR, 0) == 0:
        return ok("user namespaces", "allowed by the settings of the kernel")
    return ok("user namespaces", "not available to every user; nothing depends on them yet")


def _overlay() -> Finding:
    try:
        known = Path("/proc/filesystems").read_text(encoding="ascii").split()
    except OSError:
        known = []
    if "overlay" in known:
        return ok("overlayfs", "available")
    return ok("overlayfs", "not available; nothing depends on it yet")


def _docker() -> Finding:
    try:
        engine_options()
    except CommonholdError as fault:
        return ok("docker", f"not usable, for sessions with --sandbox docker: {fault.fields['why']}", usable=False)
    return ok("docker", "its engine answers, for sessions with --sandbox docker", usable=True)


def _number(path: Path, default: int) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return default
