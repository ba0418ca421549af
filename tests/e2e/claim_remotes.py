"""Remotes that clones share, over each way git has, and the clones."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer, ThreadingTCPServer
from typing import IO

from tests import warm

ENVIRONMENT = os.environ | {
    **{f"GIT_{who}_{what}": f"{what}@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *words: str, status: int | None = 0) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENVIRONMENT, check=False, capture_output=True, text=True, timeout=120
    )
    assert status is None or done.returncode == status, done.stderr
    return done.stdout


def remote_with(folder: Path, **tasks: str) -> Path:
    """A bare repository whose main branch has these tasks."""
    bare, seed = folder / "origin.git", folder / "seed"
    git(folder, "init", "--quiet", "--bare", "-b", "main", str(bare))
    git(bare, "config", "http.receivepack", "true")
    git(folder, "clone", "--quiet", str(bare), str(seed))
    (seed / "tasks" / "pending").mkdir(parents=True)
    (seed / "README").write_text("seed\n")
    for name, text in tasks.items():
        (seed / "tasks" / "pending" / f"{name}.yml").write_text(text)
    git(seed, "add", "-A")
    git(seed, "commit", "--quiet", "-m", "tasks")
    git(seed, "push", "--quiet", "origin", "HEAD:main")
    return bare


def clone_of(url: str, folder: Path) -> Path:
    git(folder.parent, "clone", "--quiet", url, str(folder))
    return folder


def claiming(
    clone: Path, *words: str, agent: str = "", stderr: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start `commonhold claim` in a clone as a process of its own."""
    command = [sys.executable, "-m", "commonhold", "claim", *words, "--json", "--agent", agent or clone.name]
    return warm.Warm(command, cwd=clone, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=stderr)


@contextmanager
def git_daemon(folder: Path) -> Iterator[str]:
    """Serve the folder's repositories by `git daemon`: one for each connection, since it cannot choose a free port."""
    words = ["--inetd", "--log-destination=none", "--export-all", "--informative-errors", "--enable=receive-pack"]
    command = ["git", "daemon", *words, f"--base-path={folder}", str(folder)]

    class Connection(BaseRequestHandler):
        def handle(self) -> None:
            ends = {"stdin": self.request, "stdout": self.request, "stderr": subprocess.DEVNULL}
            subprocess.run(command, env=ENVIRONMENT, check=False, **ends)

    with serving(ThreadingTCPServer(("127.0.0.1", 0), Connection)) as port:
        yield f"git://127.0.0.1:{port}/origin.git"


@contextmanager
def git_over_http(folder: Path) -> Iterator[str]:
    """Serve the folder's repositories by `git http-backend`."""
    exec_path = git(folder, "--exec-path").strip()

    class Backend(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            pass

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            path, _, query = self.path.partition("?")
            environment = ENVIRONMENT | {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "tester",
                "REMOTE_ADDR": "127.0.0.1",
            }
            body = self._body()
            done = subprocess.run(
                [f"{exec_path}/git-http-backend"], input=body, env=environment, capture_output=True, check=False
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            lines = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(lines.pop("Status", "200").split()[0]))
            for name, text in lines.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Backend)) as port:
        yield f"http://127.0.0.1:{port}/origin.git"


@contextmanager
def serving(server: TCPServer) -> Iterator[int]:
    """The port of a server that listens already, and serves as long as this lasts."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
