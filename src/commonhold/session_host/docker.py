"""The Docker engine, by its command line: the image of this machine, and the containers of sessions.

The command line knows contexts, rootless engines and TLS; it costs a process a call, and no package.
"""

import functools
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from commonhold.machine.file_systems import mount_points, read_mounts
from commonhold.session_host.sandbox import unusable

PROGRAM: Final = "docker"
HOST_IMAGE: Final = "commonhold-host"
REPOSITORY_LABEL: Final = "commonhold.repository"
SESSION_LABEL: Final = "commonhold.session"
ATTEMPT_LABEL: Final = "commonhold.attempt"
SYSTEM: Final = ("bin", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "sbin", "usr")
"""The folders at the root of a machine that hold its programs and their settings."""
_CALL_SECONDS: Final = 60.0
_MISSING: Final = 127
_SILENT: Final = 124
_HINT: Final = "start the Docker engine (systemctl start docker), or take another sandbox: --sandbox bubblewrap"


def call(*words: str, given: bytes | None = None, seconds: float = _CALL_SECONDS) -> subprocess.CompletedProcess[str]:
    """Run `docker` with these words. That it is missing, or has no engine that answers, is a failure as any other."""
    try:
        done = subprocess.run(  # noqa: S603 - the program is docker
            (PROGRAM, *words), input=given, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"the Docker engine has not answered for {seconds:g} s"
        return subprocess.CompletedProcess(words, _SILENT, "", why)
    except OSError as fault:
        return subprocess.CompletedProcess(words, _MISSING, "", f"the program `docker` cannot be run: {fault.strerror}")
    out, errors = (text.decode("utf-8", "replace").strip() for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(words, done.returncode, out, errors)


def is_unknown(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a call failed since the engine has no such container or image, and not for want of an engine."""
    return done.returncode != 0 and "No such" in done.stderr


def is_late(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a call failed since its answer took too long: on a busy machine nothing may be wrong with the engine."""
    return done.returncode == _SILENT


def engine_options() -> frozenset[str]:
    """Return the names of the engine's security options, such as `rootless`. Raises StoreError `SANDBOX_FAILED`."""
    if shutil.which(PROGRAM) is None:
        hint = "install it (apt-get install docker.io), or take another sandbox: --sandbox bubblewrap"
        raise unusable("the program `docker` is not installed", hint)
    done = call("info", "--format", "{{json .SecurityOptions}}")
    if done.returncode:
        # Older ones say little here if there is no engine.
        said = (call("version", "--format", "{{.Server.Version}}").stderr or done.stderr).splitlines()
        raise unusable(said[-1] if said else f"`docker info` ended with exit status {done.returncode}", _HINT)
    words = (json.loads(done.stdout) or ()) if done.stdout else ()
    return frozenset(word.partition(",")[0].removeprefix("name=") for word in words)


def require_image(image: str) -> str:
    """Return the image to run: the named one, which must be there, or that of this machine, made if need be.

    Raises StoreError `SANDBOX_FAILED`.
    """
    archive = b"" if image else _host_archive()
    name = image or f"{HOST_IMAGE}:{hashlib.sha256(archive).hexdigest()[:12]}"
    found = call("image", "inspect", "--format", "{{.Id}}", name)
    if found.returncode and image:
        raise unusable(f"the image {image} is not there: {found.stderr}", f"get it: docker pull {image}")
    if found.returncode:
        made = call("import", "-", name, given=archive)
        if made.returncode:
            raise unusable(f"the image {name} could not be made: {made.stderr}", _HINT)
    return name


@functools.cache
def _host_archive() -> bytes:
    """Return a root without files, in which the programs of this machine can be shown: its folders and links."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in (*SYSTEM, "dev", "home", "proc", "root", "run", "sys", "tmp", "var"):
            if not (place := Path("/", name)).exists():
                continue
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            if place.is_symlink():  # `bin` of a system whose programs are all in `usr`
                entry.type, entry.linkname = tarfile.SYMTYPE, str(place.readlink())
            tar.addfile(entry)
    return archive.getvalue()


def system_folders() -> tuple[str, ...]:
    """Return the folders of programs of this machine, and all that is mounted below them.

    A mount below one would be writable there: older engines make the folder itself read-only, and no more.
    """
    places = (Path("/", name) for name in SYSTEM)
    folders = tuple(str(each) for each in places if each.is_dir() and not each.is_symlink())
    below = {place for place in mount_points(read_mounts()) if place.startswith(tuple(f"{each}/" for each in folders))}
    return (*folders, *sorted(each for each in below if os.path.lexists(each)))


def sessions_with_containers(repository: str) -> frozenset[str]:
    """Return the ids of the sessions with containers; `repository` is its mark. Raises StoreError `SANDBOX_FAILED`."""
    words = ("--all", "--filter", f"label={REPOSITORY_LABEL}={repository}")
    return frozenset(_listed(*words, "--format", f'{{{{.Label "{SESSION_LABEL}"}}}}'))


def remove_containers(repository: str, session: str) -> None:
    """End and remove all containers of a session. Raises StoreError `SANDBOX_FAILED` if the engine does not answer."""
    labels = (f"label={REPOSITORY_LABEL}={repository}", f"label={SESSION_LABEL}={session}")
    found = _listed("--all", "--quiet", *(word for label in labels for word in ("--filter", label)))
    if found:
        done = call("rm", "--force", "--volumes", *found)
        if done.returncode and not is_unknown(done):
            raise unusable(f"the containers of {session} could not be removed: {done.stderr}", _HINT)


def _listed(*words: str) -> list[str]:
    done = call("ps", *words)
    if done.returncode:
        raise unusable(f"the containers of sessions could not be listed: {done.stderr}", _HINT)
    return done.stdout.split()
