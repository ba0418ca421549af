"""Installations for agents, as files of a project: the changes, and their execution."""

import os
import pwd
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import commonhold
from commonhold.agents import codex_shell, gemini_shell, hooks_off, opencode_shell, shell_prefix
from commonhold.agents.file_pieces import FilePiece, Piece
from commonhold.agents.hook_commands import Link, Ways, ways_in
from commonhold.agents.installing import FileChange, pieces_of, to_put, to_take, with_unseen
from commonhold.agents.setup import Setup
from commonhold.agents.setups import SETUPS
from commonhold.config import load_settings
from commonhold.kernel.errors import Code, CommonholdError, InputError
from commonhold.kernel.texts import counted
from commonhold.workspace import project_files
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.tracked_files import exclude_file, is_ignored, is_tracked
from commonhold.workspace.git.worktrees import main_of, worktrees
from commonhold.workspace.repository import Repository


@dataclass(frozen=True, slots=True)
class Project:
    """A repository in which agents are set up."""

    repository: Repository

    @property
    def git(self) -> Git | None:
        """Return git there; None in a plain folder."""
        return Git(self.repository.root) if self.repository.git_dir else None

    def load(self, path: str) -> str | None:
        """Return the text of a file of the project."""
        return project_files.read(self.repository.root, path)

    def of_hooks(self, setup: Setup) -> "Project":
        """Return the project with an agent's hooks: in a linked working tree Claude Code reads the main tree's, too."""
        main = main_of(self.repository.root) if setup.name == "claude" else None
        if main is None or ways_in(self.load(shell_prefix.SETTINGS) or ""):
            return self
        return Project(replace(self.repository, root=main))

    def is_beside(self, path: str) -> bool:
        """Whether another working tree has such a file: git's list of excluded files is shared by all of them."""
        trees = worktrees(str(Path(self.repository.state_folder).parent))
        return any(os.path.lexists(f"{root}/{path}") for root in trees if root != self.repository.root)

    def ways(self, link: Link | None = None) -> Ways:
        """Return how to reach Commonhold from there: by this very interpreter."""
        wrapper = "" if self.why_unkept("claude") else self.wrapper
        codex_root = "" if self.why_unkept("codex") else self.repository.root
        policy = load_settings(self.repository.root).when_down
        bare = self.bare_ways
        bash_env = "" if bare.bash_env and self.why_unkept("gemini") else bare.bash_env
        return replace(bare, policy=policy, link=link, wrapper=wrapper, codex_root=codex_root, bash_env=bash_env)

    @property
    def bare_ways(self) -> Ways:
        """The ways by which every piece is recognized: with those that the settings or the machine would leave out."""
        root, state_folder = self.repository.root, self.repository.state_folder
        ways = Ways(sys.executable, hook_program(), http_address(state_folder), wrapper=self.wrapper)
        bash_env = f"{root}/{gemini_shell.FIRST_READ}" if self.has_gemini_file() else None
        return replace(ways, codex_root=root, state_folder=state_folder, bash_env=bash_env)

    @property
    def wrapper(self) -> str:
        """The path of the program that Claude Code starts in place of a shell."""
        return f"{self.repository.root}/{shell_prefix.WRAPPER}"

    def why_unkept(self, name: str) -> str:
        """Return why the commands of an agent do not reach the launcher, although they could; empty if they do."""
        root, home = self.repository.root, str(Path.home())
        match name:
            case "opencode":
                return opencode_shell.obstacle(root, home, os.environ.get("SHELL", ""))
            case "codex":
                settings = os.environ.get("CODEX_HOME") or f"{home}/.codex"
                return codex_shell.obstacle(root, settings, _login_shell(), os.environ.get("BASH_ENV", ""))
            case "gemini":
                return self._why_gemini_unkept()
            case _:
                return shell_prefix.obstacle(root, home)

    def hooks_off(self, name: str) -> str:
        """Return the setting by which an agent runs no hooks; empty if there is none."""
        return hooks_off.turned_off(name, self.repository.root, str(Path.home()))

    def has_gemini_file(self) -> bool:
        """Whether Gemini's own file of variables can be changed here, or made."""
        try:
            self.load(gemini_shell.ENV_FILE)
        except CommonholdError:
            return False
        return True

    def _why_gemini_unkept(self) -> str:
        if not self.has_gemini_file():
            return f"{gemini_shell.ENV_FILE} is not to be changed here: it is a link, or no text, or another user's"
        text, inherited = self.load(gemini_shell.ENV_FILE), os.environ.get(gemini_shell.VARIABLE, "")
        return gemini_shell.obstacle(self.repository.root, str(Path.home()), text, inherited)

    def found(self) -> tuple[Setup, ...]:
        """Return the agents that are used here: their program can be run, or they left a trace in the repository."""
        return tuple(setup for setup in SETUPS.values() if self._is_found(setup))

    def _is_found(self, setup: Setup) -> bool:
        root = Path(self.repository.root)
        return any(map(shutil.which, setup.programs)) or any((root / trace).exists() for trace in setup.traces)

    def only_at_home(self) -> Iterator[tuple[Setup, str]]:
        """Yield the agents that have left nothing but a trace in the user's home folder, and that trace."""
        for setup in SETUPS.values():
            traces = () if self._is_found(setup) else setup.traces
            if trace := next((trace for trace in traces if (Path.home() / trace).exists()), ""):
                yield setup, f"~/{trace}"


def _login_shell() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return ""


def hook_program() -> str:
    """Return the path of the program that hooks start."""
    return str(Path(commonhold.__file__).parent / "client" / "hook_program.py")


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """The changes of the project's files and of git's list of excluded files, and notes about them."""

    files: tuple[FileChange, ...] = ()
    unseen: FileChange | None = None
    notices: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """All changes."""
        return self.files if self.unseen is None else (*self.files, self.unseen)


def to_install(project: Project, setups: Iterable[Setup], ways: Ways, *, servers: bool) -> AgentPlan:
    """Return the files to write for these agents. Raises InputError if a file cannot be changed so."""
    setups = tuple(setups)
    pieces = tuple(pieces_of(setups, ways, servers=servers))
    files = (*to_put(pieces, project.load), *_unrunnable(project, pieces))
    notices = [_left(piece.paths[0], name) for piece in pieces for name in piece.left_out(project.load(piece.paths[0]))]
    notices += [_OFF.format(setup.title, what) for setup in setups if (what := project.hooks_off(setup.name))]
    kept = [setup for setup in setups if setup.keeps_shell]
    notices += [_UNKEPT.format(setup.title, why) for setup in kept if (why := project.why_unkept(setup.name))]
    git = project.git
    if git is None:
        return AgentPlan(files, None, tuple(notices))
    local = [each for each in files if each.is_local]
    tracked = [each for each in local if is_tracked(git, each.path)]
    for each in tracked:
        if each.holds_secret:
            raise _tracked_secret(each.path)
        notices.append(_TRACKED.format(each.path))
    hidden = [each.path for each in local if each.before is None and each not in tracked]
    return AgentPlan(files, _unseen(git, [each for each in hidden if not is_ignored(git, each)]), tuple(notices))


def _unrunnable(project: Project, pieces: Iterable[Piece]) -> Iterator[FileChange]:
    """Yield our programs with the right content but without permission to run: rewritten."""
    for path, text in ((path, project.load(path)) for piece in pieces for path in piece.paths):
        change = FileChange(path, text, text, what="permission to run")
        is_ours = any(isinstance(piece, FilePiece) and piece.text == text for piece in pieces if path in piece.paths)
        if is_ours and change.mode is not None and not os.access(f"{project.repository.root}/{path}", os.X_OK):
            yield change


_OFF = "{} runs no hooks, so nothing of this is in force until that setting is taken out: {}"
_UNKEPT = "what shell commands of {} write is only detected: {}"
_TRACKED = "{} is tracked by git, and now has paths of this machine in it: do not commit that part of it"


def _left(path: str, name: str) -> str:
    return f"{path} has {name} already, which is not ours: it was left as it is"


def _tracked_secret(path: str) -> InputError:
    return InputError(
        Code.CONFIG_INVALID,
        f"{path} is tracked by git, so the token that HTTP hooks need cannot be written there",
        hint="let git track it no more (git rm --cached), or install without --http",
        fields={"path": path},
    )


def to_uninstall(project: Project, setups: Iterable[Setup]) -> AgentPlan:
    """Return the files to change or remove to uninstall these agents."""
    pieces = tuple(pieces_of(setups, project.bare_ways, servers=True))
    files = to_take(pieces, project.load)
    git = project.git
    paths = [path for piece in pieces for path in piece.paths if not project.is_beside(path)]
    return AgentPlan(files, None if git is None else _unseen(git, (), but=paths))


def _unseen(git: Git, paths: Sequence[str], but: Sequence[str] = ()) -> FileChange | None:
    place = exclude_file(git)
    before = project_files.read(*os.path.split(place))
    after = with_unseen(before, paths, but=but)
    many = abs(len((after or "").splitlines()) - len((before or "").splitlines()))
    return None if before == after else FileChange(place, before, after, what=counted(many, "line"))


def carry_out(project: Project, plan: AgentPlan) -> None:
    """Make the changes. Private files get their permissions before their content."""
    if plan.unseen is not None:
        folder, name = os.path.split(plan.unseen.path)
        project_files.write(folder, name, plan.unseen.before, plan.unseen.after)
    for each in plan.files:
        root = project.repository.root
        project_files.write(root, each.path, each.before, each.after, each.mode)
