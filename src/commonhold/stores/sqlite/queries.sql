-- name: signs
-- The number that the next event will have, and which of the tables that mostly hold nothing hold something.
SELECT (SELECT coalesce(max(seq), 0) + 1 FROM events),
    EXISTS (SELECT 1 FROM waiters), EXISTS (SELECT 1 FROM lost), EXISTS (SELECT 1 FROM overtaken);

-- name: add_event
-- Append one event.
INSERT INTO events (seq, at, kind, holder, lease_id, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: last_hash
-- The hash of the newest event.
SELECT hash FROM events ORDER BY seq DESC LIMIT 1;

-- name: links
-- Events above a sequence with their hashes, in order.
SELECT seq, at, kind, body, hash FROM events WHERE seq > ? ORDER BY seq LIMIT ?;

-- name: events_after
-- Events above a sequence, in order.
SELECT seq, at, kind, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?;

-- name: events_of_lease
-- All that happened to one lease, in order.
SELECT seq, at, kind, body FROM events WHERE lease_id = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: latest_events
-- The newest events, newest first.
SELECT seq, at, kind, body FROM events ORDER BY seq DESC LIMIT ?;

-- name: compaction
-- The event that says up to which event the snapshot stands for the log.
SELECT e.seq, e.at, e.kind, e.body FROM snapshots s JOIN events e ON e.seq = s.event;

-- name: snapshot
-- The snapshot in place of the oldest events.
SELECT body FROM snapshots;

-- name: drop_snapshot
-- Drop the snapshot that a newer one replaces.
DELETE FROM snapshots;

-- name: add_snapshot
-- Keep a snapshot.
INSERT INTO snapshots (seq, event, body) VALUES (?, ?, ?);

-- name: drop_events
-- Drop the events that a snapshot stands for.
DELETE FROM events WHERE seq <= ?;

-- name: drop_commits
-- Drop the commits of these events by path.
DELETE FROM commits WHERE seq <= ?;

-- name: all_leases
-- Every lease that has not ended in the log.
SELECT body FROM leases ORDER BY fence;

-- name: lease_by_id
-- One lease.
SELECT body FROM leases WHERE id = ?;

-- name: leases_of_holder
-- All leases of one holder.
SELECT body FROM leases WHERE holder = ? ORDER BY fence;

-- name: leases_at_places
-- Leases at any of the places given as a JSON list.
SELECT fence, body FROM leases WHERE fence IN (
    SELECT fence FROM lease_keys WHERE place IN (SELECT value FROM json_each(?))
);

-- name: leases_below
-- Leases below the places in a JSON list: strictly between each with one text behind it and each with another.
SELECT fence, body FROM leases WHERE fence IN (
    SELECT k.fence FROM json_each(?3) AS here CROSS JOIN lease_keys AS k
    ON k.place > here.value || ?1 AND k.place < here.value || ?2
);

-- name: leases_concerned
-- The leases named in one JSON list, the live ones of the holders in another, and the first ?5 of those whose time is
-- over (of this boot, or of any other). By the signs before `epoch` and `ticks` SQLite finds the holders' leases by
-- their index: it knows neither that the holders are few, nor that nearly all leases live.
SELECT fence, body FROM leases WHERE id IN (SELECT value FROM json_each(?1))
UNION ALL SELECT fence, body FROM leases
    WHERE holder IN (SELECT value FROM json_each(?2)) AND +epoch = ?3 AND +ticks > ?4
UNION ALL SELECT * FROM (SELECT fence, body FROM leases WHERE epoch = ?3 AND ticks <= ?4 ORDER BY ticks LIMIT ?5)
UNION ALL SELECT * FROM (SELECT fence, body FROM leases WHERE epoch < ?3 ORDER BY epoch, ticks LIMIT ?5)
UNION ALL SELECT * FROM (SELECT fence, body FROM leases WHERE epoch > ?3 ORDER BY epoch, ticks LIMIT ?5);

-- name: any_expired
-- A lease whose time is over, of this boot or of any other, if there is one.
SELECT * FROM (SELECT fence FROM leases WHERE epoch = ?1 AND ticks <= ?2 LIMIT 1)
UNION ALL SELECT * FROM (SELECT fence FROM leases WHERE epoch < ?1 LIMIT 1)
UNION ALL SELECT * FROM (SELECT fence FROM leases WHERE epoch > ?1 LIMIT 1);

-- name: add_lease
-- Begin a lease.
INSERT INTO leases (fence, id, holder, epoch, ticks, body) VALUES (?, ?, ?, ?, ?, ?);

-- name: add_lease_key
-- Make a lease findable at one of its places.
INSERT OR IGNORE INTO lease_keys (place, fence) VALUES (?, ?);

-- name: set_lease
-- Change a lease that stays live; its places go with its fence.
UPDATE leases SET fence = ?, holder = ?, epoch = ?, ticks = ?, body = ? WHERE id = ?;

-- name: end_lease
-- End a lease; its places go with it.
DELETE FROM leases WHERE id = ?;

-- name: lose_lease
-- Remember a lease under which there may be partial work.
INSERT OR REPLACE INTO lost (lease_id, body) SELECT id, body FROM leases WHERE id = ? AND json_array_length(body, '$.bases') > 0;

-- name: all_lost
-- Every lease whose work has not been looked for yet.
SELECT body FROM lost ORDER BY json_extract(body, '$.fence');

-- name: lost_by_id
-- One of them.
SELECT body FROM lost WHERE lease_id = ?;

-- name: end_lost
-- The work under a lease was looked for.
DELETE FROM lost WHERE lease_id = ?;

-- name: add_work
-- Partial work was found.
INSERT OR REPLACE INTO works (lease_id, seq, body) VALUES (?, ?, ?);

-- name: all_works
-- All partial work that waits for review, oldest first.
SELECT body FROM works ORDER BY seq;

-- name: work_by_id
-- The partial work under one lease.
SELECT body FROM works WHERE lease_id = ?;

-- name: end_work
-- Partial work was reviewed.
DELETE FROM works WHERE lease_id = ?;

-- name: all_waiters
-- The line, first in line first.
SELECT body FROM waiters ORDER BY number;

-- name: waiter_by_id
-- One place in line.
SELECT body FROM waiters WHERE id = ?;

-- name: add_waiter
-- Give somebody a place in line, or change it.
INSERT OR REPLACE INTO waiters (number, id, body) VALUES (?, ?, ?);

-- name: end_waiter
-- Give a place in line up.
DELETE FROM waiters WHERE id = ?;

-- name: value
-- What a key carries.
SELECT key, version, text, holder, at FROM key_values WHERE key = ?;

-- name: all_values
-- What all keys carry.
SELECT key, version, text, holder, at FROM key_values ORDER BY key;

-- name: values
-- What the keys in a JSON list carry.
SELECT key, version, text, holder, at FROM key_values WHERE key IN (SELECT value FROM json_each(?));

-- name: set_value
-- Give a key a value.
INSERT OR REPLACE INTO key_values (key, version, text, holder, at) VALUES (?, ?, ?, ?, ?);

-- name: add_commit
-- Make a commit findable by a path that it touched.
INSERT OR IGNORE INTO commits (path, seq) VALUES (?, ?);

-- name: commits_on
-- The newest commits on a path.
SELECT e.seq, e.at, e.kind, e.body FROM commits c JOIN events e USING (seq)
WHERE c.path = ? ORDER BY c.seq DESC LIMIT ?;

-- name: commits_between
-- The newest commits on the paths between two texts.
SELECT seq, at, kind, body FROM events WHERE seq IN (SELECT seq FROM commits WHERE path >= ? AND path < ?)
ORDER BY seq DESC LIMIT ?;

-- name: latest_commits
-- The newest commits on any path.
SELECT seq, at, kind, body FROM events WHERE kind = 'committed' ORDER BY seq DESC LIMIT ?;

-- name: all_debts
-- Every open debt.
SELECT key, holder, why, worktree, since, evidence FROM debts ORDER BY key, worktree;

-- name: add_debt
-- Open a debt, or give an open one its newest reason.
INSERT OR REPLACE INTO debts (key, holder, why, worktree, since, evidence) VALUES (?, ?, ?, ?, ?, ?);

-- name: settle_debt
-- Close a debt.
DELETE FROM debts WHERE worktree = ? AND key = ?;

-- name: content
-- Kept bytes by hash.
SELECT data FROM contents WHERE hash = ?;

-- name: missing_contents
-- Those of a JSON list of hashes under which nothing is kept.
SELECT value FROM json_each(?) WHERE value NOT IN (SELECT hash FROM contents);

-- name: contents_like
-- Kept hashes within a range: those with a common beginning.
SELECT hash FROM contents WHERE hash >= ? AND hash < ? LIMIT 2;

-- name: keep_content
-- Keep bytes.
INSERT INTO contents (hash, at, data) VALUES (?, ?, ?);

-- name: touch_content
-- Let bytes that are there already count as kept anew.
UPDATE contents SET at = ? WHERE hash = ?;

-- name: drop_contents
-- Forget bytes whose time is over.
DELETE FROM contents WHERE at < ?;

-- name: answer
-- The first answer to a request.
SELECT fingerprint, kind, answer FROM answers WHERE holder = ? AND request_id = ?;

-- name: add_answer
-- Keep the first answer to a request.
INSERT INTO answers (holder, request_id, at, fingerprint, kind, answer) VALUES (?, ?, ?, ?, ?, ?);

-- name: drop_old_answers
-- Drop a few of the answers that were kept before an instant, the oldest first: their requests are not repeated any more.
DELETE FROM answers WHERE (holder, request_id) IN (
    SELECT holder, request_id FROM answers WHERE at < ? ORDER BY at LIMIT ?
);

-- name: drop_answers
-- Forget answers that nobody will ask for again.
DELETE FROM answers WHERE at < ?;

-- name: begin_journal
-- Write down a commit before its first file is touched.
INSERT INTO journal (body) VALUES (?) RETURNING id;

-- name: journals
-- Commits that were begun and not ended.
SELECT id, body FROM journal ORDER BY id;

-- name: end_journal
-- Strike out a commit.
DELETE FROM journal WHERE id = ?;

-- name: sightings
-- What a holder saw of the keys in a JSON list.
SELECT key, hash, seq, lines FROM sightings WHERE holder = ? AND worktree = ? AND key IN (SELECT value FROM json_each(?));

-- name: seen_by_others
-- What everybody else saw of the keys in a JSON list.
SELECT holder, key, hash, seq, lines FROM sightings
WHERE worktree = ?2 AND key IN (SELECT value FROM json_each(?3)) AND holder <> ?1;

-- name: seen
-- What anybody saw in a working tree.
SELECT DISTINCT key FROM sightings WHERE worktree = ? ORDER BY key;

-- name: see
-- Keep what a holder saw.
INSERT OR REPLACE INTO sightings (holder, worktree, key, hash, seq, lines, at) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: drop_sightings
-- Forget what was seen too long ago.
DELETE FROM sightings WHERE at < ?;

-- name: overtaken
-- What a holder has read and others have changed since.
SELECT body FROM overtaken WHERE holder = ? AND worktree = ? ORDER BY key;

-- name: overtake
-- Keep what became of something that was read.
INSERT OR REPLACE INTO overtaken (holder, worktree, key, at, body) VALUES (?, ?, ?, ?, ?);

-- name: end_overtaken
-- It was told and read again.
DELETE FROM overtaken WHERE holder = ? AND worktree = ? AND key = ?;

-- name: drop_overtaken
-- Forget what nobody came back for.
DELETE FROM overtaken WHERE at < ?;

-- name: presences
-- Who is at work in a working tree.
SELECT body FROM presences WHERE worktree = ? ORDER BY holder;

-- name: attend
-- Keep that a session is at work.
INSERT OR REPLACE INTO presences (holder, worktree, body) VALUES (?, ?, ?);

-- name: end_session
-- A session is at work no more.
DELETE FROM presences WHERE holder = ? AND worktree = ?;

-- name: messages
-- What a session is to be told in a working tree.
SELECT body FROM messages WHERE holder = ? AND worktree = ? ORDER BY number;

-- name: send
-- Let a session be told something, once.
INSERT OR IGNORE INTO messages (holder, worktree, text, at, body) VALUES (?, ?, ?, ?, ?);

-- name: end_message
-- A session was told it.
DELETE FROM messages WHERE holder = ? AND worktree = ? AND text = ?;

-- name: drop_messages
-- Forget what nobody came back for.
DELETE FROM messages WHERE at < ?;

-- name: proposals
-- What is about to be written in a working tree.
SELECT body FROM proposals WHERE worktree = ? ORDER BY path, holder, call;

-- name: propose
-- Keep what a tool is about to write.
INSERT OR REPLACE INTO proposals (worktree, path, holder, call, body) VALUES (?, ?, ?, ?, ?);

-- name: withdraw
-- It was written, or will not be.
DELETE FROM proposals WHERE worktree = ? AND path = ? AND holder = ? AND call = ?;

-- name: all_tasks
-- Every task, in the order in which they were added.
SELECT body FROM tasks ORDER BY number;

-- name: tasks_in_question
-- Tasks that are not final, those that they need, and those in a JSON list of ids.
SELECT body FROM tasks
WHERE is_final = 0
    OR id IN (SELECT value FROM json_each(?))
    OR id IN (SELECT needed.value FROM tasks AS needing, json_each(needing.body, '$.task.needs') AS needed
        WHERE needing.is_final = 0)
ORDER BY number;

-- name: task_by_id
-- One task.
SELECT body FROM tasks WHERE id = ?;

-- name: set_task
-- Add a task, or give it a new state.
INSERT OR REPLACE INTO tasks (id, number, is_final, body) VALUES (?, ?, ?, ?);

-- name: all_runs
-- Every run, in the order in which they began.
SELECT body FROM runs ORDER BY number;

-- name: run_by_id
-- One run.
SELECT body FROM runs WHERE id = ?;

-- name: set_run
-- Begin a run, or give it a new state.
INSERT OR REPLACE INTO runs (id, number, body) VALUES (?, ?, ?);

-- name: run_items
-- The items of a run, in the order of its plan.
SELECT body FROM run_items WHERE run = ? ORDER BY number, place;

-- name: run_item
-- One item of a run.
SELECT body FROM run_items WHERE run = ? AND task = ?;

-- name: add_run_item
-- Make a task an item of a run.
INSERT INTO run_items (run, task, number, place, body) VALUES (?, ?, ?, ?, ?);

-- name: set_run_item
-- Give an item a new state.
UPDATE run_items SET body = ? WHERE run = ? AND task = ?;

-- name: entries_before
-- The newest entries of a branch (or of all: '', given twice) that were added before an event, the newest first.
SELECT body FROM entries WHERE (onto = ? OR ? = '') AND number < ? ORDER BY number DESC LIMIT ?;

-- name: landings
-- For each branch from one name to another: how many entries have landed on it, and the time of the last landing.
SELECT onto, count(landed_at), max(landed_at) FROM entries WHERE onto BETWEEN ? AND ? GROUP BY onto;

-- name: entries_in_question
-- Entries that are not final, and those whose id or commit is in a JSON list (given twice).
-- Without the sign before `number`, SQLite would walk through all entries in that order.
SELECT body FROM entries
WHERE id IN (
    SELECT id FROM entries WHERE is_final = 0
    UNION SELECT value FROM json_each(?)
    UNION SELECT id FROM entries WHERE revision IN (SELECT value FROM json_each(?))
)
ORDER BY +number;

-- name: entry_by_id
-- One entry.
SELECT body FROM entries WHERE id = ?;

-- name: set_entry
-- Add an entry, or give it a new state.
INSERT OR REPLACE INTO entries (id, number, is_final, revision, onto, landed_at, body) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: managed_sessions_before
-- The newest managed sessions that were started before an event, the newest first: if asked, only those that are not
-- final, of a state, a task and a tenant (each '' for any), and in their state since a time.
SELECT body FROM managed_sessions
WHERE (is_final = 0 OR NOT ?1)
    AND (?2 = '' OR json_extract(body, '$.state') = ?2)
    AND (?3 = '' OR json_extract(body, '$.session.task_id') = ?3)
    AND (?4 = '' OR tenant = ?4)
    AND (?5 = 0 OR json_extract(body, '$.since') >= ?5)
    AND number < ?6
ORDER BY number DESC LIMIT ?7;

-- name: managed_sessions_in_question
-- Managed sessions that are not final, and those in a JSON list of ids.
SELECT body FROM managed_sessions
WHERE is_final = 0 OR id IN (SELECT value FROM json_each(?))
ORDER BY number;

-- name: managed_session_by_id
-- One managed session.
SELECT body FROM managed_sessions WHERE id = ?;

-- name: tenants_served
-- The event of the last claim, by tenant.
SELECT tenant, MAX(claimed) FROM managed_sessions GROUP BY tenant;

-- name: set_managed_session
-- Add a managed session, or give it a new state.
INSERT OR REPLACE INTO managed_sessions (id, number, is_final, tenant, claimed, body) VALUES (?, ?, ?, ?, ?, ?);
