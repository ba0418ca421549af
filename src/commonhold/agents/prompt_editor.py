"""The editor of a run that is an agent's program, or any command with a prompt: it works in the files by itself.

An agent's hooks put each of its writes before Commonhold, as in every other session of that agent. A command has no
hooks: it runs as `commonhold exec` runs it, which records its writes at its end.
"""

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from commonhold.agents.agent import Unreadable
from commonhold.agents.headless import MOST_PROMPT_BYTES, HeadlessAgent, line_of_command
from commonhold.agents.headless_reports import AgentReport, report_of
from commonhold.agents.payloads import caller
from commonhold.client.session import Commonhold
from commonhold.coordinator.command_roles import AGENT
from commonhold.coordinator.processes import Ended, run_command
from commonhold.coordinator.roles import Edited, ItemRequest, RoleFailed, Stop
from commonhold.kernel.events import Committed
from commonhold.kernel.keys import FILE, canonical
from commonhold.kernel.lease import MAX_TTL_SECONDS
from commonhold.kernel.run import NOTHING_USED, Locking, Role, Run
from commonhold.kernel.task import Task
from commonhold.kernel.texts import short_name
from commonhold.tasks.archive import Quote

FindNotes = Callable[[Sequence[str], str], Sequence[Quote]]
"""Returns the sections of the project's notes that bear on keys, and on words."""
_PAGE: Final = 1000
_CHARACTERS_SHOWN: Final = 600
_SPARE_SECONDS: Final = 60.0
"""How long a lease outlasts the time of its command, which is ended first and reports its writes."""


@dataclass(frozen=True, slots=True)
class PromptEditor:
    """An editor that gives `program` a prompt for each item, and at most `seconds` for it.

    `program` is an agent, or a line of shell with `{prompt_file}` and `{workspace}`. `hold` reads the log and the
    leases, `session_of` opens the session of a name.
    """

    hold: Commonhold
    session_of: Callable[[str], Commonhold]
    program: HeadlessAgent | str
    notes: FindNotes
    seconds: float

    def edit(self, request: ItemRequest, stop: Stop) -> Edited | RoleFailed:
        """Let the program do the task. Fails if the program does, or if there is neither a change nor a check."""
        newest = self.hold.log(limit=1)
        begin = newest[-1].sequence if newest else 0
        ended, report = self._run(request, self.prompt(request), stop)
        holder = request.item.session
        if isinstance(self.program, HeadlessAgent):
            try:
                holder = caller(self.program.name, report.session, "", "").holder
            except Unreadable as fault:
                return RoleFailed(f"{self._name} printed no report that can be read: {fault}")
            with self.session_of(holder) as session:
                session.end_session()  # an agent that was ended has not reported its end
        admitted = tuple(self._admitted_since(begin, holder))
        usage = report.usage if report.usage != NOTHING_USED else None
        if ended.status != 0 or report.error:
            why = ended.why or f"exit status {ended.status}"
            said = report.error or ended.tail[-_CHARACTERS_SHOWN:] or "it printed nothing"
            return RoleFailed(f"{self._name} failed{f' ({why})' if ended.status != 0 else ''}: {said}", usage, admitted)
        if not (admitted or request.item.admitted or request.task.checks or request.run.checks):
            return RoleFailed(f"{self._name} changed nothing, and no check shows why: {report.message}", usage)
        return Edited(None, report.message[:_CHARACTERS_SHOWN], usage, admitted=admitted)

    @property
    def _name(self) -> str:
        return f"`{self.program}`" if isinstance(self.program, str) else self.program.name

    def _run(self, request: ItemRequest, prompt: str, stop: Stop) -> tuple[Ended, AgentReport]:
        root = request.root
        if isinstance(self.program, HeadlessAgent):
            session = str(uuid.uuid4())
            words = self.program.starting(prompt, root, session)
            ended = run_command(words, root, self.program.environment, None, self.seconds, stop)
            report = report_of(self.program.name, ended.output.splitlines())
            return ended, report if report.session else AgentReport(session, error=report.error)
        with TemporaryDirectory(prefix="commonhold-prompt-") as folder:
            path = Path(folder, "prompt.md")
            path.write_text(prompt, encoding="utf-8")
            line = line_of_command(self.program, str(path), root)
            words = (sys.executable, "-P", "-m", "commonhold", "exec", "--agent", request.item.session, "--")
            env = {AGENT: request.item.session}
            with self._files_leased(request):
                ended = run_command((*words, "/bin/sh", "-c", line), root, env, None, self.seconds, stop)
        return ended, AgentReport(message=ended.tail[-_CHARACTERS_SHOWN:])

    @contextmanager
    def _files_leased(self, request: ItemRequest) -> Iterator[None]:
        """Lease the files that the task declares, if they are free: of commands at the same time, one wrote them then.

        Not those of which it declares regions: other items may change other regions, and a command locks whole files.
        """
        files = [each for each in map(canonical, request.task.keys) if each.scheme == FILE and not each.names]
        if not files or (request.item.locks and request.item.locks.locking is not Locking.OPTIMISTIC):
            yield
            return
        with self.session_of(request.item.session) as session:
            ttl_seconds = min(self.seconds + _SPARE_SECONDS, MAX_TTL_SECONDS)
            lease = session.acquire(*map(str, files), task=request.task.title, ttl_seconds=ttl_seconds).lease
            try:
                yield
            finally:
                if lease is not None:
                    session.release(lease.id)

    def _admitted_since(self, after: int, holder: str) -> Iterator[int]:
        """Yield the commits of a session and its subagents after an event, by sequence."""
        while events := self.hold.log(after=after, limit=_PAGE):
            for each in events:
                by = each.event.holder if isinstance(each.event, Committed) else ""
                if by == holder or by.startswith(f"{holder}/"):
                    yield each.sequence
            after = events[-1].sequence

    def prompt(self, request: ItemRequest) -> str:
        """Return the prompt: the intent, its surroundings, and the sections of the notes that bear on its keys."""
        notes = _notes_about(self.notes, request.task, request.item.intent)
        return _cut("\n\n".join(filter(None, (self._task(request), self._others(request), notes))), _RULES)

    def _task(self, request: ItemRequest) -> str:
        task, item = request.task, request.item
        admitted = ", ".join(f"#{each}" for each in item.admitted)
        lines = [
            item.intent or task.title,
            "",
            f"This is the task {task.id} ({task.title}).",
            *_plan_of(request.run, task),
            f"An earlier attempt failed: {item.failure}" if item.failure else "",
            f"Earlier attempts have changed files in the commits {admitted} of `commonhold log`." if admitted else "",
            *(f"Message from the {each.by.value}: {each.text}" for each in request.messages(Role.EDITOR)),
        ]
        return "\n".join(line for at, line in enumerate(lines) if line or at == 1)

    def _others(self, request: ItemRequest) -> str:
        """Return the activity of others near the task: the leases that overlap its keys, and the run's other items."""
        lines = [
            f"- {short_name(each.holder)} holds {', '.join(each.keys)}: {each.task}"
            for key in request.task.expected_keys
            for each in self.hold.who(key).leases
            if each.holder != request.item.session
        ]
        (run,) = self.hold.runs(request.run.id).runs
        for each in run.items:
            if each.item.is_in_progress and each.item.task_id != request.task.id:
                task = each.task.task
                where = f" ({', '.join(task.expected_keys)})" if task.expected_keys else ""
                lines.append(f"- {each.item.task_id} is in progress: {task.title}{where}")
        return "\n".join(["Others at work:", *dict.fromkeys(lines)]) if lines else ""


def _plan_of(run: Run, task: Task) -> tuple[str, ...]:
    """Return the lines about a task that its run has: the goal, the keys, and the checks; empty ones for none."""
    checks = "; ".join(f"`{each}`" for each in (*task.checks, *run.checks))
    return (
        f"Goal of the plan: {run.goal}." if run.goal else "",
        f"Expected to change: {', '.join(task.expected_keys)}." if task.expected_keys else "",
        f"These commands must succeed afterwards: {checks}." if checks else "",
    )


def _notes_about(find: FindNotes, task: Task, intent: str) -> str:
    quotes = find(task.expected_keys, f"{task.title} {intent}")
    texts = [f"## {each.section.name} {each.section.title} ({each.why})\n\n{each.text}" for each in quotes]
    return "\n\n".join(["The project's notes about this:", *texts]) if texts else ""


def _cut(text: str, end: str, most: int = MOST_PROMPT_BYTES) -> str:
    """Return a prompt with its `end` in at most so many bytes: an argument of a program can have no more."""
    encoded = f"{text}\n\n{end}".replace("\0", "").encode("utf-8", "replace")
    if len(encoded) > most:
        encoded = encoded[: most - len(end) - 10] + f"\n…\n\n{end}".encode()
    return encoded.decode("utf-8", "ignore")


def session_prompt(run: Run, task: Task, find: FindNotes) -> str:
    """Return the text for a managed session that does a task of a run: its first line is the title of the task."""
    words = "\n".join((task.title, "", *filter(None, (task.intent, *_plan_of(run, task)))))
    return _cut("\n\n".join(filter(None, (words, _notes_about(find, task, task.intent)))), _ALONE, _MOST_BYTES)


_MOST_BYTES: Final = MOST_PROMPT_BYTES // 2
"""Of the text for a session: a repair packet is added to it if the merge queue returns its work."""
_ALONE: Final = """\
This working tree is yours alone; your work is merged when you end. Do this task alone, and stay on this branch. Ask no
questions; if the task cannot be done, change nothing and end with an error."""
_RULES: Final = """\
Others edit the same working tree. If an edit is refused, the refusal says who is at work there and what to do next.
Do this task alone. Do not commit with git, and do not switch branches: the change in the files is the result. Ask no
questions; if the task cannot be done, change nothing and end with the reason."""
