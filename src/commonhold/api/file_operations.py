"""The operations on files: reads, commits, undo, and the writes of tools, commands and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonhold.api import terms
from commonhold.api.operations import Operation, Schedule
from commonhold.api.service_base import ServiceBase
from commonhold.kernel import texts
from commonhold.kernel.scopes import Scope
from commonhold.kernel.unwritable import although_unwritable
from commonhold.leases.decision_log import log_commit, log_external_write


class FileOperations(ServiceBase):
    """Reads and changes regions of files, and reviews unfinished work of others."""

    @Operation(reads=True, over_socket=False, command="regions", tool="regions", route="GET /regions/parsed")
    def regions(self, path: str) -> terms.RegionMap:
        """Parse a file, and return its regions: `.regions`, `.problems`.

        Raises InputError `FILE_NOT_FOUND`, `FILE_TOO_LARGE`.
        """
        self._recover_if_possible()
        return self._uses.reading.regions(path)

    @Operation(reads=True, command="regions", route="GET /regions")
    def list_regions(self, path: str) -> terms.RegionList:
        """Return the regions of a file by lines, for display. Raises as `regions`.

        Its `.regions` have `key`, `kind`, `hash`, `lines`, `is_empty`; its `.problems` have `code`, `message`, `line`.
        """
        # Loaded here: it is only for people.
        from commonhold.commits.region_list import listed  # noqa: PLC0415

        return listed(self.regions(path))

    @Operation(command="show", tool="read", route="GET /texts")
    def read(self, *keys: str) -> tuple[terms.RegionText, ...]:
        """Return regions with their text and hash; the text is kept, so that later changes to it can be shown.

        The session is notified of others' later changes to it: in notices of its answers, or when it asks for `news`.
        Raises InputError `REGION_UNKNOWN`, `REGION_AMBIGUOUS`, `FILE_NOT_FOUND`.
        """
        self._recover_if_possible()
        return self._uses.reading.read(keys)

    @Operation(command="record-read", route="POST /reads")
    def record_read(self, *keys: str, shown: str = "") -> tuple[terms.RegionHash, ...]:
        """Record that this session read files or regions in another way (such as its own tools), as if through `read`.

        Their present state counts as read; the answer has their hashes. With one file, `shown` may be the text that
        was read of it. If that text is no longer there, the content just before counts instead. If it is a part of the
        file, only that part counts: the answer has the regions that contain it, without a hash if some of their lines
        were never shown. Raises as `read`.
        """
        self._recover_if_possible()
        return self._uses.reading.record_read(keys, shown)

    @Operation(reads=True, route="GET /reads")
    def last_read(self, *keys: str) -> tuple[terms.RegionHash, ...]:
        """Return the hashes of files or regions at this session's last read or write of them; None if it has none."""
        return self._uses.reading.known(keys)

    @Operation(reads=True, command="version-of", route="GET /versions")
    def key_version(self, key: str) -> terms.KeyVersion:
        """Return the version of a key without its content: nothing counts as read.

        For a free key `.version` is that of its value (0: never set). For a file or region `.hash` is its hash, and
        `.file_hash` that of the whole file. Raises as `read`.
        """
        # Loaded here, as the types of answers: it is seldom asked for.
        from commonhold.commits.key_version import key_version  # noqa: PLC0415

        self._recover_if_possible()
        return key_version(key, self._uses.reading, self._uses.values)

    @Operation(command="review", route="GET /works")
    def partial_works(self) -> tuple[terms.PartialWork, ...]:
        """Return changes that holders had made when they lost their leases, and that have not been reviewed yet."""
        self._recover_if_possible()
        with although_unwritable():
            while self._uses.leases.end_expired(self._agent or ""):
                self._uses.works.look_for()
        return self._uses.works.waiting()

    @Operation(command="review resolve", route="POST /works/{lease_id}/review", scope=Scope.REVIEWER)
    def review(self, lease_id: str, *, note: str = "") -> terms.ReviewAnswer:
        """Close a partial work after a review; `note` says with what result."""
        return self._uses.works.review(self.holder, lease_id, note)

    @Operation(command="review waive", route="POST /debts/waive", scope=Scope.REVIEWER)
    def waive(self, *keys: str, note: str) -> terms.WaiveAnswer:
        """Close the debts at `keys` after a review: `note` says why nothing must be done there.

        All of them or none, in this working tree. The author and the reason are kept.
        """
        self._recover_if_possible()
        return self._uses.waivers.waive(self.holder, keys, note)

    @Operation(command="adopt", route="POST /adoptions")
    def adopt(self, *keys: str, owner: str) -> terms.AdoptAnswer:
        """Credit to this session the uncommitted changes that `owner`, a session that has ended, made to files here.

        All of them or none. No file is touched; the log keeps both names. Refused if `owner` is still at work, or is
        not known to have changed one of them.
        """
        self._recover_if_possible()
        answer = self._writing.adoption.adopt(self.holder, keys, owner)
        if answer.outcome == "adopted":
            self._uses.notifications.send(
                [owner],
                f"{texts.short_name(self.holder)} adopted what you had not committed in {', '.join(answer.paths)}",
            )
        return answer

    @Operation(Schedule.PLANNED, wrapped=True, command="commit", tool="commit", route="POST /commits")
    def commit(self, changeset: terms.Changeset, *, dry_run: bool = False) -> terms.CommitAnswer:
        """Apply all edits of a changeset or none. A dry run returns the verdict and writes nothing.

        Guarantees: edits take effect only if their named leases hold at the moment of writing, and their bases are the
        present content, or the merge of both changes is proven; several files change together, also across a crash.
        Does not guarantee that readers outside Commonhold see several files change in the same instant, nor that a
        program that writes without asking is noticed in time.
        """
        self._give_sign()
        if dry_run:
            self._recover_if_possible()
        answer = self._writing.commits.commit(self.holder, changeset, self.root, is_dry_run=dry_run)
        log_commit("dry run" if dry_run else "commit", self.holder, changeset, answer)
        asked = self._uses.leases.wishes_to(self.holder)
        known = {each.key for each in answer.repair.regions} | {each.key for each in answer.merged}
        answer = replace(answer, notices=answer.notices + asked + self._uses.notifications.notices(known))
        if answer.outcome != "refused":
            return answer
        concerned = [conflict.key for conflict in answer.conflicts]
        concerned += [region.key for region in answer.repair.regions] + [needed.key for needed in answer.required]
        return replace(answer, context=self._uses.notes.bearing_on(concerned, changeset.intent))

    @Operation(Schedule.PLANNED, once=True, command="undo")
    def undo(
        self,
        what: str,
        *,
        apply: bool = False,
        only: Sequence[str] = (),
        intent: str = "",
        request_id: str | None = None,
    ) -> terms.UndoAnswer:
        """Show how to take back commits of one session and nothing of others; with `apply`, do it, by a new commit.

        `what` is the number of a commit's event, a task (`task:ID`), or the name of a session: its commits in this
        working tree, and those of its subagents. `only` limits the undo to these files. Changes that others made since
        are merged with it, or the undo is refused and names them. The new commit is checked as any other, and can be
        undone. A task that had landed with the commits only is open again. Raises InputError `COMMIT_UNKNOWN`,
        UsageError for files that the commits did not change.
        """
        self._give_sign()
        self._recover_if_possible()
        answer = self._writing.undo.undo(
            self.holder, what, only=only, intent=intent, request_id=request_id, is_applied=apply
        )
        if answer.outcome == "undone":
            self._uses.tasks.follow(self.holder, is_all=True)
        return answer

    @Operation(Schedule.QUICK, reads=True, for_hooks=True)
    def worktree_id(self) -> str:
        """Return the name of the working tree among all that share the leases."""
        return self._uses.place.name

    @Operation(Schedule.PLANNED, for_hooks=True)
    def propose(self, changeset: terms.Changeset, *, call: str, blind: Sequence[str] = ()) -> terms.CommitAnswer:
        """Ask whether a tool of this session may write the changeset: nothing is written here.

        Admitted: the regions that it changes are leased to the session until its turn or the edit ends;
        `finish_proposal` records the result. Refused: the answer has the information that the agent needs. The
        changeset names the lease of the write slot. `blind` are files that the tool overwrites without naming their old
        content: the session must have read them.
        """
        self._recover_if_possible()
        self._writing.external_changes.record(
            [self._uses.reading.locate(edit.key).file_path for edit in changeset.edits], ""
        )
        answer = self._writing.proposals.propose(self.holder, changeset, call, blind)
        log_commit("edit", self.holder, changeset, answer)
        return self._uses.notifications.with_news(answer)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def finish_proposal(
        self, call: str, paths: Sequence[str] = (), *, unasked: str | None = None
    ) -> terms.RecordAnswer:
        """Record the results of a call's proposals (of those for `paths`, if calls have no names).

        If nothing was proposed, its tool has written without asking: with `unasked`, the intent unless the session has
        one, the changes to `paths` are recorded as this session's.
        """
        answer = self._writing.proposals.finish(self.holder, call, tuple(paths))
        if answer is None and unasked is not None:
            intent = self._writing.attendance.intent_of(self.holder) or unasked
            answer = self._writing.external_changes.record(paths, intent, self.holder)
        answer = answer or terms.RecordAnswer("nothing")
        log_external_write(self.holder, answer)
        return self._uses.notifications.with_news(answer)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def record_external_writes(self, before: Mapping[str, str | None], *, intent: str = "") -> terms.RecordAnswer:
        """Record this session's changes to files since their state in `before`: content hashes of kept bytes, by path.

        The files stay as they are. A change that could not have been committed is recorded too, and waits for review.
        """
        self._give_sign()
        answer = self._writing.external_writes.record_changes(self.holder, before, intent)
        log_external_write(self.holder, answer)
        return self._uses.notifications.with_news(answer)

    def examine_deferred(self) -> None:
        """Examine across files the changes recorded before all files were read; reads those first, which may be slow.

        The author of a change is notified of the findings. Raises CommonholdError; changes that can be retried stay for
        the next call.
        """
        self._writing.late_examination.examine()

    @Operation(for_hooks=True)
    def store_contents(self, contents: Sequence[bytes]) -> None:
        """Keep bytes, so that later changes to them can be shown, and reverted by hand."""
        self._uses.maintenance.store_contents(contents)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def record_external_changes(self, paths: Sequence[str] | None, *, intent: str = "") -> terms.RecordAnswer:
        """Record external changes to files that sessions have read or written, so that those are notified.

        `paths` None: of all that sessions have read. No session is blamed for it. A file that a session's tool is
        writing at present is left to that session.
        """
        answer = self._writing.external_changes.record(paths, intent)
        log_external_write(None, answer)
        return answer
