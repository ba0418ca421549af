"""The meaning of every error and refusal code, and the remedy: the single source of both."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from commonhold.kernel.errors import Code
from commonhold.kernel.refusals import Refusal


class Explanation(NamedTuple):
    """`meaning`: the event. `remedy`: the next step."""

    meaning: str
    remedy: str


E = Explanation

ERRORS: Final[Mapping[Code, Explanation]] = {
    Code.USAGE: E(
        "The call is not valid: a command, an option or an argument is unknown.", "See `commonhold COMMAND --help`."
    ),
    Code.HOLDER_MISSING: E(
        "No holder is named, so others could not see whose lease or change it is.",
        "Pass --agent NAME or export COMMONHOLD_AGENT=NAME; every session needs a name of its own. In agents' shells "
        "Commonhold sets it; over HTTP it is the header X-Commonhold-Agent.",
    ),
    Code.TTL_INVALID: E(
        "The time to live is not a number of seconds above 0 and up to 30 days.", "Give --ttl a number in that range."
    ),
    Code.REQUEST_ID_REUSED: E(
        "The request id was used before by this holder, for another request.",
        "Repeat a request with its own id only; give a new request a new id.",
    ),
    Code.KEY_INVALID: E(
        "The text is not a key.", "Write PATH, PATH#NAME, file:PATH#NAME, or a name such as account:12345."
    ),
    Code.TEXT_INVALID: E(
        "A holder, task, intent, value or other text is too long, holds control characters, or is not valid UTF-8.",
        "Write it as one printable line; a value may have lines, but at most 65,536 characters.",
    ),
    Code.PATH_INVALID: E(
        "The path holds control characters or bytes that are not UTF-8, or is a loop of links.",
        "Rename the file, or lease its folder instead.",
    ),
    Code.PATH_OUTSIDE: E(
        "The path leads out of the repository, by itself or through a link.", "Name a path inside the repository."
    ),
    Code.PATH_RESERVED: E(
        "The path lies in a folder that belongs to git or to Commonhold.", "Name a file of the project."
    ),
    Code.NOT_A_FILE: E(
        "The path leads to a folder, a pipe or a device, or the key names no file at all.",
        "Name a regular file; a folder can be leased, and is written with a final /.",
    ),
    Code.FILE_NOT_FOUND: E("There is no such file or folder.", "Check the path; `create_file` makes a new file."),
    Code.FILE_EXISTS: E(
        "A file exists where a folder is needed.",
        "Choose another path, or rename or delete that file in a changeset of its own first.",
    ),
    Code.FILE_TOO_LARGE: E(
        "The file, or the text for it, is larger than Commonhold reads or writes.",
        "Lease it whole and write it yourself, or raise max_file_bytes in the settings; split a large changeset.",
    ),
    Code.ENCODING_INVALID: E(
        "The bytes are not text in the encoding that the file declares.",
        "Fix the encoding, or replace the whole file as data; it can still be leased.",
    ),
    Code.REGION_UNKNOWN: E("The file has no region of that name.", "`commonhold regions PATH` lists its regions."),
    Code.SECTION_UNKNOWN: E(
        "The note has no section of that number or anchor.",
        "`commonhold archive list PATH` shows its sections.",
    ),
    Code.REGION_AMBIGUOUS: E(
        "Several regions have that name.", "Choose one by its number, NAME~2; the hint lists the choices."
    ),
    Code.CHANGESET_INVALID: E(
        "The changeset is not JSON of the right form, or its edits make no sense together.",
        "Fix the field that the message names; `commonhold help reference` shows the form.",
    ),
    Code.CONTENT_UNKNOWN: E(
        "No bytes are kept under that hash: they never were, or their retention is over.",
        "Take a hash from `commonhold log --json`; git may have the file.",
    ),
    Code.COMMIT_UNKNOWN: E(
        "No commit through Commonhold in this working tree goes by that number, task or session.",
        "`commonhold log` shows every commit with its number and its session; git takes back what only git knows.",
    ),
    Code.EVENT_UNKNOWN: E(
        "The log has no event of that number, or none about that lease.",
        "`commonhold log` shows the newest events with their numbers and leases.",
    ),
    Code.EVENT_COMPACTED: E(
        "The event was replaced by a snapshot of the state, so that the log does not grow for ever.",
        "Look in the export that the message names, in an earlier one, or in a backup from before that day.",
    ),
    Code.TASK_UNKNOWN: E("There is no task of that name.", "`commonhold task list --all` shows every task."),
    Code.PLAN_INVALID: E(
        "The plan is not YAML or JSON of the right form, or a task in it makes no sense.",
        "Fix the field that the message names; `commonhold help tasks` shows the form.",
    ),
    Code.SESSION_UNKNOWN: E("There is no managed session of that name.", "`commonhold session list --all` shows all."),
    Code.SESSION_INVALID: E(
        "The managed session cannot be started, or has no work to look at.",
        "Change the call as the message says; `commonhold session start --help` has examples.",
    ),
    Code.BRANCH_DIVERGED: E(
        "The branch has commits that its remote lacks, so the merge queue cannot move both to the same commit.",
        "Push these commits, or rebase them onto the remote's: git pull --rebase REMOTE BRANCH.",
    ),
    Code.SANDBOX_FAILED: E(
        "The sandbox or the limits of a managed session could not be made: a program is missing, or it is forbidden.",
        "Do what the message says, or start the session without --sandbox, --memory and --cpus.",
    ),
    Code.RUN_UNKNOWN: E("There is no run of that name.", "`commonhold run list --all` shows every run."),
    Code.ENTRY_UNKNOWN: E(
        "The merge queue has no entry of that name.", "`commonhold queue list --all` shows every entry."
    ),
    Code.ROLE_FAILED: E(
        "The command of a role (such as a planner) failed, took too long, or printed something else than its JSON.",
        "Fix the command as the message says; `commonhold help runs` shows the requests and the answers.",
    ),
    Code.CONFIG_INVALID: E("The settings cannot be used.", "Fix commonhold.toml, or the table in pyproject.toml."),
    Code.REPOSITORY_BARE: E("This is a bare repository: it has no files.", "Work in a working tree of it."),
    Code.REPOSITORY_UNTRUSTED: E(
        "The repository belongs to another user, or its .git leads nowhere, so nothing in it is used.",
        "If you trust its owner, tell git so with safe.directory; else fix .git.",
    ),
    Code.REPOSITORY_BUSY: E(
        "Git is rewriting the files (a rebase), or a program that does not ask Commonhold keeps changing them.",
        "Finish or abort the rebase, read the regions again, and repeat the call.",
    ),
    Code.REPOSITORY_PLAIN: E(
        "The folder is in no git repository, and the command needs git.",
        "Go to a working tree of a git repository, or name one with -C.",
    ),
    Code.REVISION_UNKNOWN: E(
        "There is no such branch, tag or commit, or the current branch has no commit yet.",
        "See `git branch --all`; fetch it first if it lies elsewhere.",
    ),
    Code.LANGUAGE_UNTIED: E(
        "The file is in a language whose files are not tied together, so its uses in other files are not known.",
        "`commonhold help semantics` lists the languages; `commonhold regions PATH` still lists the regions.",
    ),
    Code.PERMISSION_DENIED: E(
        "This user may not read or write the file, or the disk is read-only.",
        "Fix owner, permissions or attributes, then repeat the same call.",
    ),
    Code.DISK_FULL: E(
        "The disk or the quota is full; nothing was changed.", "Free some space, then repeat the same call."
    ),
    Code.IO_FAILED: E(
        "The system could not read or write; nothing was changed.", "Look at the path, run `commonhold doctor`."
    ),
    Code.GIT_FAILED: E(
        "Git failed; its own words are in the message.",
        "Do what git says, then repeat the same call; merging needs git 2.38 or newer.",
    ),
    Code.CODE_HOST_FAILED: E(
        "`gh` or `glab` opened no pull request; its own words are in the message. The branch is pushed.",
        "Follow its words, such as to sign in, then repeat the same call.",
    ),
    Code.STORE_READ_ONLY: E(
        "The state folder cannot be written.", "Make it writable for this user; `commonhold doctor` says where it is."
    ),
    Code.STORE_CORRUPT: E(
        "The state database is damaged or not ours, so nothing relies on it.",
        "Move the state folder aside, keep it, and start afresh: the files of the project are not in it. Or bring back"
        " a backup: `commonhold restore FILE`.",
    ),
    Code.STORE_NEWER: E("The state was written by a newer Commonhold.", "Upgrade this one."),
    Code.STORE_UNSAFE: E(
        "The state cannot be used safely: the SQLite that is linked in is too old, the state folder or a file in it was"
        " moved, deleted or replaced under this session, the state database was deleted or restored from an older copy,"
        " or the process was forked in the middle of a transaction.",
        "Follow the hint: put the moved folder back, or restart the session; after a lost database"
        " `commonhold doctor --reset-state`; with an old SQLite, install an apsw that brings 3.51.3 or later.",
    ),
    Code.STORE_BUSY: E(
        "Another process has held the state for too long, or there are no file descriptors or no memory left.",
        "See whether a process is suspended, or raise the limits; repeat the call in a moment.",
    ),
    Code.STORE_OWNED: E(
        "The daemon owns the state of the repository, and this process tried to open it directly.",
        "Repeat the call with the daemon allowed (COMMONHOLD_DAEMON=on), or end the daemon first.",
    ),
    Code.STORE_UNREACHABLE: E(
        "The server that keeps the leases does not answer; nothing is granted without it.",
        "See that it runs and that the address in the settings is right, then repeat the same call.",
    ),
    Code.STORE_URL_INVALID: E(
        "The URL of the store is none that Commonhold knows, or the package for it is not installed.",
        "Give sqlite:FOLDER, postgresql://HOST/DATABASE or redis://HOST.",
    ),
    Code.RECOVERY_BLOCKED: E(
        "A commit that a crash interrupted cannot be undone yet. Until then nothing can be committed; if it has"
        " changed a file, nothing can be read either.",
        "Repair the file that the message names, then run `commonhold doctor --recover`.",
    ),
    Code.ALREADY_DONE: E(
        "The work of this key, which is done once for all, is done already.",
        "Use its result: `commonhold acquire --once KEY --json` gives it. New work takes a new key.",
    ),
    Code.TOKEN_INVALID: E(
        "The request over the network has no access token, or one that is unknown, expired or revoked.",
        "Make one with `commonhold token issue`, and send it as the header Authorization: Bearer TOKEN.",
    ),
    Code.TOKEN_UNKNOWN: E("There is no access token with that id.", "List the ids with `commonhold token list`."),
    Code.NOTIFICATION_UNKNOWN: E(
        "There is no target of notifications with that id.", "List the ids with `commonhold notify list`."
    ),
    Code.SCOPE_INSUFFICIENT: E(
        "The access token does not permit this operation, or not in the name of that session.",
        "Use a token of the scope that the message names; `commonhold token issue --scope SCOPE` makes one.",
    ),
    Code.HOST_REFUSED: E(
        "The request names a host in its Host header by which this server is not known.",
        "Use the address that the server printed, or start it with `commonhold serve --allow-host NAME`.",
    ),
    Code.ORIGIN_REFUSED: E(
        "A page of another site sent the request: the browser names that site in the Origin header.",
        "Open the server's own address. Programs send no Origin header.",
    ),
    Code.ROUTE_UNKNOWN: E(
        "The server has nothing at that path, or not for that HTTP method.",
        "See `commonhold help server`, or the OpenAPI document at /api/v1/openapi.json.",
    ),
    Code.REQUEST_TOO_LARGE: E(
        "The body of the request is larger than the server accepts.",
        "Send less at once: commit large files one by one.",
    ),
    Code.RATE_LIMITED: E(
        "The bearer of this token sent more requests than the server accepts in that time.",
        "Wait for as long as the answer says, then go on; watch events instead of asking again and again.",
    ),
    Code.CURSOR_UNKNOWN: E(
        "The cursor names an event that is not in the log: it is of another repository, or of a state that was lost.",
        "Read the present state, then follow the events from the cursor that this answer names.",
    ),
    Code.READER_TOO_SLOW: E(
        "The client took the events of a stream so slowly that the server closed it. No event was left out before.",
        "Connect again with the cursor of the last event that arrived.",
    ),
    Code.ADDRESS_UNSAFE: E(
        "The server would listen there without TLS, so other machines could read tokens and files; or notifications"
        " would go to an address that they must not reach.",
        "Give `commonhold serve` --tls-cert and --tls-key, or --insecure if a proxy in front encrypts. Give"
        " `commonhold notify add` an https URL of a public host, or --private for a host of your own network.",
    ),
    Code.SERVER_UNREACHABLE: E(
        "The server did not answer: it is not running, the address is wrong, or its certificate is not trusted.",
        "Check the address, and see whether `commonhold serve` runs there; then repeat the call.",
    ),
    Code.LEASE_DENIED: E(
        "The lease for a command or a `with` block was not granted in time.",
        "Wait longer (--wait SECONDS), or do other work first; `commonhold who KEY` says who holds it.",
    ),
    Code.LEASE_LOST: E(
        "The lease ended during the work that it protected, so others may hold its keys now.",
        "Look at the current state, then begin again; renew sooner, or ask for a longer --ttl.",
    ),
    Code.PLANNING_CRASHED: E(
        "The worker processes crashed or ran too long while they checked this commit; nothing was written.",
        "Commit in smaller parts. It is a defect of Commonhold: report it, with `daemon.log` of the state folder.",
    ),
    Code.INTERNAL: E("A defect of Commonhold.", "Report it, with the output of COMMONHOLD_DEBUG=1."),
}

REFUSALS: Final[Mapping[Refusal, Explanation]] = {
    Refusal.REGION_CHANGED: E(
        "The text that the edit was made for is no longer there: it was changed, removed or made meanwhile, and both "
        "changes could not be merged.",
        "Redo your intent on the fresh text in the answer, and commit with the fresh hash as the base.",
    ),
    Refusal.PARSE_INVALID: E("The file would not compile with this edit.", "Fix the text, then commit again."),
    Refusal.OUT_OF_SCOPE_EDIT: E(
        "The edit would change something outside the region that it names.",
        "Keep to the region, or name the other regions too, each with an edit of its own.",
    ),
    Refusal.LEASE_LOST: E(
        "The lease that was named has ended, has another fence, or does not cover the key.",
        "Acquire again, read again, and redo the change on the current text.",
    ),
    Refusal.NOT_HOLDER: E("The lease is held by another session.", "`commonhold leases` shows which are yours."),
    Refusal.LOCK_CONFLICT: E(
        "Others hold leases on the requested keys, or on keys that the change writes.",
        "Do other work until they release it or it expires, or wait in line: --wait SECONDS.",
    ),
    Refusal.LEASE_REQUIRED: E(
        "By the project's settings the key is pessimistic: it may be changed under an exclusive lease only.",
        "Acquire it, read it again, then repeat the change under that lease.",
    ),
    Refusal.DEADLOCK: E(
        "Waiting would never end: the sessions ahead wait, directly or not, for your leases.",
        "Release what you hold and let them finish; then acquire all that you need in one call.",
    ),
    Refusal.SLOTS_DIFFER: E(
        "Others share the key with a different number of slots.",
        "Use their number, which `commonhold leases` shows; it can change once all slots are free.",
    ),
    Refusal.NOT_ONCE: E(
        "A result was given for a lease that was not acquired with --once; it was not released.",
        "Release it without a result, or keep the text with `commonhold put`.",
    ),
    Refusal.ID_IN_USE: E(
        "The ticket belongs to another request: other keys, another mode or another holder.",
        "Ask again with the keys and the mode of the ticket, or without a ticket.",
    ),
    Refusal.VERSION_CHANGED: E(
        "The key has another version than the one that the change was based on.",
        "Decide again with its current value, which is in the answer, then put with that version.",
    ),
    Refusal.READ_CHANGED: E(
        "A named key that the change relies on was changed since it was read; or code was, and the project's settings "
        "require its author to read it again.",
        "Decide again with its current state, which is in the answer, then try again with its version or hash.",
    ),
    Refusal.CONTRACT_CHANGED: E(
        "The new text uses a definition whose contract (parameters, bases, name) another session changed since you "
        "read it.",
        "Read it as it is now, which is in the answer, redo your text, and commit with its fresh hash in reads.",
    ),
    Refusal.REQUIRE_ADDITIONAL_LOCKS: E(
        "The edit breaks other regions, or may: they are named.",
        "Fix them in the same changeset, or lease them and fix them next.",
    ),
    Refusal.ESCALATION_REQUIRED: E(
        "The text does not show how far the edit reaches.",
        "Lease the whole file, and commit again naming that lease.",
    ),
    Refusal.TASK_TAKEN: E(
        "Another session has claimed the task, or the fence is not that of your claim.",
        "Claim another task, which the answer names if there is one: `commonhold task claim`.",
    ),
    Refusal.TASK_NOT_READY: E(
        "The task cannot be claimed yet, or not any more: a task that it needs has not landed, or it has ended itself.",
        "Claim another task; `commonhold task show TASK` says what this one waits for.",
    ),
    Refusal.TASK_NOT_YOURS: E(
        "The task is for other sessions: its author names them, it requires capabilities that this session does not "
        "have, it lacks a label that was asked for, or this session has proposed it and cannot accept it itself.",
        "Claim another task: `commonhold task claim`; a proposal is accepted by another session or a person.",
    ),
    Refusal.TASK_CHANGED: E(
        "The task is not in the state that the call was made for: it was returned, ended or changed meanwhile.",
        "Look at it: `commonhold task show TASK`. To continue it, claim it again; your changes are kept.",
    ),
    Refusal.TASK_EXISTS: E(
        "There is a task of that name already, with another definition.",
        "Give the new task another name, or cancel the old one; a plan that was not changed can be imported again.",
    ),
    Refusal.TASK_IN_CIRCLE: E(
        "The needs of some tasks form a circle, so none of them could ever begin.",
        "Remove one of the needs that the answer shows, then add the tasks again.",
    ),
    Refusal.RUN_TAKEN: E(
        "Another process coordinates the run, or the lease of this one has ended.",
        "When its lease has ended: `commonhold run --resume RUN`. `commonhold run show RUN` says who has it.",
    ),
    Refusal.RUN_CHANGED: E(
        "The run, or the work item, is not in the state that the call was made for.",
        "Look at it: `commonhold run show RUN`.",
    ),
    Refusal.SESSION_TAKEN: E(
        "The report came from a supervisor whose lease had ended: another attempt has begun, or the session has ended.",
        "Look at it: `commonhold session show SESSION`.",
    ),
    Refusal.SESSION_CHANGED: E(
        "The managed session is not in a state in which this can be done.",
        "Look at it: `commonhold session show SESSION`.",
    ),
    Refusal.RUN_ENDED: E(
        "The run has ended, so nothing in it can be done any more.",
        "Start another: `commonhold run PLAN`; `commonhold run list --all` shows how each has ended.",
    ),
    Refusal.QUEUE_TAKEN: E(
        "Another process runs the merge queue of this branch, or the lease of this one has ended.",
        "Nothing is lost: the other goes on. `commonhold queue list` says who runs it; start one with `queue run`.",
    ),
    Refusal.ENTRY_CHANGED: E(
        "The entry of the merge queue is not in the state that the call was made for: it landed, or was returned.",
        "Look at it: `commonhold queue show ENTRY`.",
    ),
    Refusal.ENTRY_RETURNED: E(
        "The queue has refused this commit before, and the branch has no newer one.",
        "Read its repair packet (`commonhold queue show ENTRY`), commit a repair, add the branch again; if something"
        " else was the reason, try the same commit with --again.",
    ),
    Refusal.NO_TASK: E(
        "No task is free for this session: the answer says what each open one waits for.",
        "Do other work, and ask again when one of them has landed.",
    ),
}

EXPLANATIONS: Final[Mapping[str, Explanation]] = {
    **{code.value: each for code, each in ERRORS.items()},
    **{code.value: each for code, each in REFUSALS.items()},
}
