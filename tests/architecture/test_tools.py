"""The wheel as a tool of uv or pipx: it runs, its hooks lead into the tool, not to a checkout, and survive upgrades."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("uv==0.13.9", "pipx==1.18.4")
NEXT_VERSION = "9.9.9"
LEFT_OUT = ("PYTHON", "VIRTUAL_ENV", "COMMONHOLD_")

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, stdin: str = "", **more: str) -> str:
    """Run a command as a user's shell would: nothing of this environment's Python leaks in."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)} | more
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment,
        input=stdin,
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def built(folder: Path, *, as_version: str | None = None) -> Path:
    """The wheel of this checkout, if need be of a copy of it under another version."""
    source = ROOT
    if as_version is not None:
        source = folder / "source"
        for name in ("src", "pyproject.toml", "README.md", "LICENSE"):
            source.mkdir(exist_ok=True)
            if (ROOT / name).is_dir():
                # Other processes keep bytecode in there: its files come and go while they are copied.
                shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, source / name)
        for name in ("pyproject.toml", "src/commonhold/__init__.py"):
            text = (source / name).read_text(encoding="utf-8")
            named = text.replace(f'"{version("commonhold")}"', f'"{as_version}"', 1)
            assert named != text
            (source / name).write_text(named, encoding="utf-8")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", source, cwd=folder)
    (wheel,) = (folder / "dist").glob(f"commonhold-{as_version or version('commonhold')}-*.whl")
    return wheel


class Tool:
    """One of the programs that install tools, in folders of its own."""

    def __init__(self, name: str, bin_folder: Path, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.program = bin_folder / name
        self.where = {
            **{f"UV_{part}_DIR": str(folder / part.lower()) for part in ("TOOL", "TOOL_BIN", "CACHE")},
            "PIPX_HOME": str(folder / "home"),
            "PIPX_BIN_DIR": str(folder / "tool_bin"),
            "PIPX_DEFAULT_BACKEND": "pip",
            "PIPX_DEFAULT_PYTHON": sys.executable,
            "UV_PYTHON": sys.executable,
        }

    def install(self, wheel: Path) -> Path:
        """Install the wheel, in place of one that is there; its command."""
        # What the lock says, without the hashes: the wheel itself has none there.
        known = folder_of(self.folder) / "constraints.txt"
        lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
        known.write_text("".join(f"{line}\n" for line in re.findall(r"^[\w.\[\]-]+==[^ \\]+", lock, re.MULTILINE)))
        if self.name == "uv":
            words: tuple[str | Path, ...] = ("tool", "install", "--force", "--constraints", known, wheel)
        else:
            # The bytecode of every dependency takes most of a minute.
            words = ("install", "--force", f"--pip-args=--no-compile --constraint={known}", wheel)
        run(self.program, *words, cwd=self.folder, **self.where)
        return self.folder / "tool_bin" / "commonhold"


def folder_of(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Uv and pipx, brought by pip; that one cannot be had is a failure."""
    folder = tmp_path_factory.mktemp("tools")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "venv")
    run(*pip, "install", "--quiet", "--no-compile", *TOOLS, cwd=folder)
    return folder / "venv/bin"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel of this checkout, and that of the next version."""
    folder = tmp_path_factory.mktemp("wheels")
    return built(folder_of(folder / "now")), built(folder_of(folder / "next"), as_version=NEXT_VERSION)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = folder_of(tmp_path / "shop")
    (folder / "prices.py").write_text("def total(items):\n    return sum(items)\n", encoding="utf-8")
    run("git", "init", "--quiet", cwd=folder)
    return folder


def hooks_of(shop: Path) -> Iterator[str]:
    settings = json.loads((shop / ".claude/settings.local.json").read_text(encoding="utf-8"))
    for groups in settings["hooks"].values():
        yield from (hook["command"] for group in groups for hook in group["hooks"])


def edited(shop: Path) -> str:
    """What the hook before an edit says to an edit that nothing speaks against."""
    (before, *_) = hooks_of(shop)
    call = {"file_path": str(shop / "new.py"), "content": "x = 1\n"}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(shop), "permission_mode": "default"}
    return run(
        "/bin/sh", "-c", before, cwd=shop, stdin=json.dumps({**payload, "tool_name": "Write", "tool_input": call})
    )


@pytest.mark.parametrize("name", ["uv", "pipx"])
def test_a_tool_and_its_upgrade(name: str, tools: Path, wheels: tuple[Path, Path], shop: Path, tmp_path: Path) -> None:
    now, following = wheels
    tool = Tool(name, tools, folder_of(tmp_path / name))
    home = {"HOME": str(folder_of(tmp_path / "home"))}
    command = tool.install(now)
    try:
        assert run(command, "--version", cwd=shop).endswith(f"version {version('commonhold')}\n")
        run(command, "install", "claude", "--yes", cwd=shop, **home)
        for line in hooks_of(shop):
            assert str(ROOT) not in line
            assert str(tool.folder) in line
        assert "deny" not in edited(shop)
        run(command, "doctor", cwd=shop, **home)
        before = list(hooks_of(shop))
        assert tool.install(following) == command
        assert run(command, "--version", cwd=shop).endswith(f"version {NEXT_VERSION}\n")
        assert "deny" not in edited(shop)
        findings = json.loads(run(command, "doctor", "--json", cwd=shop, **home))["findings"]
        (told,) = (each for each in findings if each["check"] == "claude")
        assert told["level"] == "ok", told
        assert list(hooks_of(shop)) == before
    finally:
        run(command, "daemon", "stop", cwd=shop)
