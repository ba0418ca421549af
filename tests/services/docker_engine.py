"""A private Docker engine: its data, its socket and its containerd are its own, and it has no network."""

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from tests.services.processes import STARTING_TAKES_AT_MOST_SECONDS, Process, make_folder
from tests.services.programs import find_or_install

OWN_MOUNTS: Final[tuple[str, ...]] = ("unshare", "--mount", "--propagation", "slave", "--")
"""So its mounts end with it, and its folder can be removed however it ends."""


@dataclass(slots=True)
class DockerEngine:
    """A `dockerd` that this test run started, as root: it keeps its images and containers over a restart.

    It starts its containerd itself, unless it has one that survives it: `containerd`.
    """

    process: Process
    containerd: Process | None = None

    @classmethod
    def shared(cls, kept_for: tuple[int, ...]) -> Self:
        """Make one without images for several processes, not started yet."""
        return cls(Process(make_folder("docker"), signal.SIGTERM, kept_for, is_shared=True, has_our_rights=True))

    @classmethod
    def private(cls, kept_for: tuple[int, ...]) -> Self:
        """Make one without images that may be killed, not started yet."""
        folders = make_folder("docker"), make_folder("containerd")
        return cls(*(Process(each, signal.SIGTERM, kept_for, has_our_rights=True) for each in folders))

    @property
    def url(self) -> str:
        """What DOCKER_HOST must be to reach it."""
        return f"unix://{self.process.folder}/socket"

    def start(self) -> None:
        """Start it with the data that it has, and wait until it answers."""
        folder = self.process.folder
        if self.containerd is None:
            # It would use the containerd of the machine if there is one.
            mounts = OWN_MOUNTS
            containerd = [f"--containerd{kind}-namespace={folder.name}{kind}" for kind in ("", "-plugins")]
        else:
            containerd = [f"--containerd={self._start_containerd(self.containerd)}"]
            mounts = ("nsenter", f"--mount=/proc/{self.containerd.pid}/ns/mnt", "--")
        network = ("--bridge=none", "--iptables=false", "--ip6tables=false")
        places = (f"--data-root={folder}/data", f"--exec-root={folder}/run", f"--pidfile={folder}/pid", "-H", self.url)
        words = [*mounts, str(find_or_install("dockerd")), *places, *network, *containerd]
        self.process.start(words, lambda: answers(self.url))

    def _start_containerd(self, process: Process) -> Path:
        socket = process.folder / "socket"
        if not process.is_running():
            settings = process.folder / "config.toml"
            settings.write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
            places = (
                "--root",
                f"{process.folder}/root",
                "--state",
                f"{process.folder}/state",
                "--address",
                str(socket),
            )
            process.start([*OWN_MOUNTS, "containerd", "--config", str(settings), *places], socket.exists)
        return socket

    def kill(self) -> None:
        """Stop it by SIGKILL; its containers run on if its containerd does."""
        self.process.end(signal.SIGKILL)
        (self.process.folder / "pid").unlink(missing_ok=True)

    def call(self, *words: str) -> str:
        """Run `docker` with these words for this engine. Return what it printed."""
        words = ("docker", "-H", self.url, *words)
        limit = STARTING_TAKES_AT_MOST_SECONDS
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=limit).stdout.strip()

    def discard(self) -> None:
        """Remove its containers, stop it, and remove its data."""
        if not self.process.is_running():
            self.start()
        if left := self.call("ps", "-aq"):
            self.call("rm", "-fv", *left.split())
        for process in filter(None, (self.process, self.containerd)):
            process.discard()


def answers(url: str) -> bool:
    """Whether an engine answers there; at an empty URL, that of this machine."""
    words = ("docker", *(("-H", url) if url else ()), "version")
    limit = STARTING_TAKES_AT_MOST_SECONDS
    return subprocess.run(words, check=False, capture_output=True, timeout=limit).returncode == 0
