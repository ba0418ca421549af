-- A value is %(name)s, and a percent sign would be two of them. See literals.py.

-- name: begin_looking
-- One view for all that follows. A standby will do.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: begin_writing
-- Every statement has a view of its own, whatever the server's default is: those after the lock must see what was
-- written before it was granted.
BEGIN ISOLATION LEVEL READ COMMITTED;

-- name: wait_at_most
-- Until the end of the transaction: so long may others keep the lock.
SET LOCAL lock_timeout = '30s';

-- name: hang_at_most
-- Until the end of the transaction: whoever hangs in it is thrown out before those who wait give up.
SET LOCAL idle_in_transaction_session_timeout = '20s';

-- name: lock
-- Be the only one that writes in a namespace (or makes the tables) until the end of the transaction.
SELECT pg_advisory_xact_lock(%(lock)s);

-- name: server
-- What the server can do, and how much of our tables is there.
SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'),
    EXISTS (SELECT FROM pg_namespace WHERE nspname = %(schema)s), to_regclass('commonhold.versions') IS NOT NULL;

-- name: schema_version
-- The newest version of the tables that was made here.
SELECT coalesce(max(version), 0) FROM commonhold.versions;

-- name: make_schema
-- The schema, if nobody has made it for us.
CREATE SCHEMA commonhold;

-- name: make_versions
-- The list of the versions that were made here.
CREATE TABLE commonhold.versions (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp());

-- name: add_version
-- Note that a version was made.
INSERT INTO commonhold.versions (version) VALUES (%(version)s);

-- name: clock
-- The present instant.
SELECT extract(epoch FROM clock_timestamp())::double precision;

-- name: start
-- What a transaction learns first; see functions.sql.
SELECT * FROM commonhold.start(%(namespace)s);

-- name: reserve
-- Let numbers go on above one, in the present timeline.
INSERT INTO commonhold.namespaces (namespace, reserved, timeline, written_by)
VALUES (%(namespace)s, %(reserved)s, %(timeline)s, pg_current_xact_id()::text::bigint)
ON CONFLICT (namespace) DO UPDATE
SET reserved = excluded.reserved, timeline = excluded.timeline, written_by = excluded.written_by;

-- name: add_event
-- Append one event.
INSERT INTO commonhold.events (namespace, seq, at, kind, holder, lease_id, body, hash)
VALUES (%(namespace)s, %(sequence)s, %(at)s, %(kind)s, %(holder)s, %(lease_id)s, %(body)s, sha256(
    coalesce(
        (SELECT e.hash FROM commonhold.events e WHERE e.namespace = %(namespace)s ORDER BY e.seq DESC LIMIT 1),
        decode(repeat('00', 32), 'hex')
    )
    || int8send(%(sequence)s) || float8send(%(at)s)
    || convert_to(%(kind)s::text, 'UTF8') || decode('00', 'hex') || convert_to(%(body)s::text, 'UTF8')
));

-- name: links
-- Events above a sequence with their hashes, in order.
SELECT seq, at, kind, body::text, encode(hash, 'hex') FROM commonhold.events
WHERE namespace = %(namespace)s AND seq > %(after)s ORDER BY seq LIMIT %(limit)s;

-- name: events_after
-- Events above a sequence, in order.
SELECT seq, at, kind, body FROM commonhold.events
WHERE namespace = %(namespace)s AND seq > %(after)s ORDER BY seq LIMIT %(limit)s;

-- name: events_of_lease
-- All that happened to one lease, in order.
SELECT seq, at, kind, body FROM commonhold.events
WHERE namespace = %(namespace)s AND lease_id = %(lease_id)s AND seq > %(after)s ORDER BY seq LIMIT %(limit)s;

-- name: latest_events
-- The newest events, newest first.
SELECT seq, at, kind, body FROM commonhold.events
WHERE namespace = %(namespace)s ORDER BY seq DESC LIMIT %(limit)s;

-- name: compaction
-- The event that says up to which event the snapshot stands for the log.
SELECT e.seq, e.at, e.kind, e.body FROM commonhold.snapshots s
JOIN commonhold.events e ON e.namespace = s.namespace AND e.seq = s.event WHERE s.namespace = %(namespace)s;

-- name: snapshot
-- The snapshot in place of the oldest events.
SELECT body FROM commonhold.snapshots WHERE namespace = %(namespace)s;

-- name: set_snapshot
-- Keep a snapshot, in place of an earlier one.
INSERT INTO commonhold.snapshots (namespace, seq, event, body)
VALUES (%(namespace)s, %(last)s, %(event)s, %(body)s)
ON CONFLICT (namespace) DO UPDATE SET seq = excluded.seq, event = excluded.event, body = excluded.body;

-- name: drop_events
-- Drop the events that a snapshot stands for.
DELETE FROM commonhold.events WHERE namespace = %(namespace)s AND seq <= %(last)s;

-- name: all_leases
-- Every lease that has not ended in the log.
SELECT body FROM commonhold.leases WHERE namespace = %(namespace)s ORDER BY fence;

-- name: lease_by_id
-- One lease.
SELECT body FROM commonhold.leases WHERE id = %(lease)s;

-- name: leases_of_holder
-- All leases of one holder.
SELECT body FROM commonhold.leases WHERE holder = %(holder)s ORDER BY fence;

-- name: leases_near
-- The leases that a decision needs to see; see functions.sql.
SELECT * FROM commonhold.leases_near(
    %(namespace)s, %(ids)s, %(holders)s, %(instant)s, %(skew)s, %(places)s, %(starts)s, %(stops)s
);

-- name: add_lease
-- Begin a lease.
INSERT INTO commonhold.leases (id, namespace, fence, holder, ticks, body)
VALUES (%(lease)s, %(namespace)s, %(fence)s, %(holder)s, %(ticks)s, %(body)s);

-- name: add_lease_keys
-- Make a lease findable at its places.
INSERT INTO commonhold.lease_keys (lease_id, place) SELECT %(lease)s, unnest(%(places)s::text[]);

-- name: set_lease
-- Change a lease that stays live.
UPDATE commonhold.leases SET fence = %(fence)s, holder = %(holder)s, ticks = %(ticks)s, body = %(body)s
WHERE id = %(lease)s;

-- name: end_lease
-- End a lease.
DELETE FROM commonhold.leases WHERE id = %(lease)s;

-- name: end_lease_keys
-- Let a lease be found at none of its places any more.
DELETE FROM commonhold.lease_keys WHERE place = ANY(%(places)s) AND lease_id = %(lease)s;

-- name: add_lost
-- Remember a lease under which there may be partial work; the newest, where its id was used again.
INSERT INTO commonhold.lost (namespace, lease_id, body) VALUES (%(namespace)s, %(lease_id)s, %(body)s)
ON CONFLICT (namespace, lease_id) DO UPDATE SET body = excluded.body;

-- name: all_lost
-- Every lease whose work has not been looked for yet.
SELECT body FROM commonhold.lost WHERE namespace = %(namespace)s ORDER BY lease_id;

-- name: lost_by_id
-- One of them.
SELECT body FROM commonhold.lost WHERE namespace = %(namespace)s AND lease_id = %(lease_id)s;

-- name: end_lost
-- The work under a lease was looked for.
DELETE FROM commonhold.lost WHERE namespace = %(namespace)s AND lease_id = %(lease_id)s;

-- name: add_work
-- Partial work was found.
INSERT INTO commonhold.works (namespace, lease_id, seq, body)
VALUES (%(namespace)s, %(lease_id)s, %(sequence)s, %(body)s)
ON CONFLICT (namespace, lease_id) DO UPDATE SET seq = excluded.seq, body = excluded.body;

-- name: all_works
-- All partial work that waits for review, oldest first.
SELECT body FROM commonhold.works WHERE namespace = %(namespace)s ORDER BY seq;

-- name: work_by_id
-- The partial work under one lease.
SELECT body FROM commonhold.works WHERE namespace = %(namespace)s AND lease_id = %(lease_id)s;

-- name: end_work
-- Partial work was reviewed.
DELETE FROM commonhold.works WHERE namespace = %(namespace)s AND lease_id = %(lease_id)s;

-- name: all_waiters
-- The line, first in line first.
SELECT body FROM commonhold.waiters WHERE namespace = %(namespace)s ORDER BY number;

-- name: set_waiter
-- Give somebody a place in line, or change it.
INSERT INTO commonhold.waiters (namespace, number, body) VALUES (%(namespace)s, %(number)s, %(body)s)
ON CONFLICT (namespace, number) DO UPDATE SET body = excluded.body;

-- name: end_waiter
-- Give a place in line up.
DELETE FROM commonhold.waiters WHERE namespace = %(namespace)s AND number = %(number)s;

-- name: values
-- What some keys carry.
SELECT key, version, text, holder, at FROM commonhold.key_values
WHERE namespace = %(namespace)s AND key = ANY(%(keys)s);

-- name: set_value
-- Give a key a value.
INSERT INTO commonhold.key_values (namespace, key, version, text, holder, at)
VALUES (%(namespace)s, %(key)s, %(version)s, %(text)s, %(holder)s, %(at)s)
ON CONFLICT (namespace, key) DO UPDATE
SET version = excluded.version, text = excluded.text, holder = excluded.holder, at = excluded.at;

-- name: answer
-- The first answer to a request.
SELECT fingerprint, kind, answer FROM commonhold.answers
WHERE namespace = %(namespace)s AND holder = %(holder)s AND request_id = %(request_id)s;

-- name: add_answer
-- Keep the first answer to a request.
INSERT INTO commonhold.answers (namespace, holder, request_id, at, fingerprint, kind, answer)
VALUES (%(namespace)s, %(holder)s, %(request_id)s, %(at)s, %(fingerprint)s, %(kind)s, %(answer)s);

-- name: drop_old_answers
-- Drop a few of the answers that were kept before an instant, the oldest first: their requests are not repeated any more.
DELETE FROM commonhold.answers WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM commonhold.answers
    WHERE namespace = %(namespace)s AND at < %(before)s ORDER BY at LIMIT %(most)s
));

-- name: all_tasks
-- Every task, in the order in which they were added.
SELECT body FROM commonhold.tasks WHERE namespace = %(namespace)s ORDER BY number;

-- name: tasks_in_question
-- Tasks that are not final, those that they need, and those with one of some ids.
SELECT body FROM commonhold.tasks
WHERE namespace = %(namespace)s AND (NOT is_final OR id = ANY (%(ids)s::text[]) OR id IN (
    SELECT json_array_elements_text(needing.body -> 'task' -> 'needs') FROM commonhold.tasks AS needing
    WHERE needing.namespace = %(namespace)s AND NOT needing.is_final))
ORDER BY number;

-- name: task_by_id
-- One task.
SELECT body FROM commonhold.tasks WHERE namespace = %(namespace)s AND id = %(id)s;

-- name: set_task
-- Add a task, or give it a new state.
INSERT INTO commonhold.tasks (namespace, id, number, is_final, body)
VALUES (%(namespace)s, %(id)s, %(number)s, %(is_final)s = 1, %(body)s)
ON CONFLICT (namespace, id) DO UPDATE SET is_final = excluded.is_final, body = excluded.body;

-- name: all_runs
-- Every run, in the order in which they began.
SELECT body FROM commonhold.runs WHERE namespace = %(namespace)s ORDER BY number;

-- name: run_by_id
-- One run.
SELECT body FROM commonhold.runs WHERE namespace = %(namespace)s AND id = %(id)s;

-- name: set_run
-- Begin a run, or give it a new state.
INSERT INTO commonhold.runs (namespace, id, number, body)
VALUES (%(namespace)s, %(id)s, %(number)s, %(body)s)
ON CONFLICT (namespace, id) DO UPDATE SET body = excluded.body;

-- name: run_items
-- The items of a run, in the order of its plan.
SELECT body FROM commonhold.run_items WHERE namespace = %(namespace)s AND run = %(run)s ORDER BY number, place;

-- name: run_item
-- One item of a run.
SELECT body FROM commonhold.run_items WHERE namespace = %(namespace)s AND run = %(run)s AND task = %(task)s;

-- name: add_run_item
-- Make a task an item of a run.
INSERT INTO commonhold.run_items (namespace, run, task, number, place, body)
VALUES (%(namespace)s, %(run)s, %(task)s, %(number)s, %(place)s, %(body)s);

-- name: set_run_item
-- Give an item a new state.
UPDATE commonhold.run_items SET body = %(body)s
WHERE namespace = %(namespace)s AND run = %(run)s AND task = %(task)s;

-- name: entries_before
-- The newest entries of a branch (or of all: '') that were added before an event, the newest first.
SELECT body FROM commonhold.entries
WHERE namespace = %(namespace)s AND (onto = %(onto)s OR %(onto)s = '') AND number < %(before)s
ORDER BY number DESC LIMIT %(limit)s;

-- name: landings
-- For each branch, or for one: how many entries have landed on it, and the time of the last landing.
SELECT onto, count(landed_at), max(landed_at) FROM commonhold.entries
WHERE namespace = %(namespace)s AND (onto = %(onto)s OR %(onto)s = '') GROUP BY onto ORDER BY onto;

-- name: entries_in_question
-- Entries that are not final, and those whose id or commit is in a list.
SELECT body FROM commonhold.entries
WHERE namespace = %(namespace)s
    AND (NOT is_final OR id = ANY (%(names)s::text[]) OR revision = ANY (%(names)s::text[]))
ORDER BY number;

-- name: entry_by_id
-- One entry.
SELECT body FROM commonhold.entries WHERE namespace = %(namespace)s AND id = %(id)s;

-- name: set_entry
-- Add an entry, or give it a new state.
INSERT INTO commonhold.entries (namespace, id, number, is_final, revision, onto, landed_at, body)
VALUES (
    %(namespace)s, %(id)s, %(number)s, %(is_final)s = 1, %(revision)s, %(onto)s, %(landed_at)s::double precision,
    %(body)s
)
ON CONFLICT (namespace, id) DO UPDATE
SET is_final = excluded.is_final, revision = excluded.revision, landed_at = excluded.landed_at, body = excluded.body;

-- name: managed_sessions_before
-- The newest managed sessions that were started before an event, the newest first: if asked, only those that are not
-- final, of a state, a task and a tenant (each '' for any), and in their state since a time.
SELECT body FROM commonhold.managed_sessions
WHERE namespace = %(namespace)s
    AND (NOT is_final OR %(is_open)s = 0)
    AND (%(state)s = '' OR body ->> 'state' = %(state)s)
    AND (%(task_id)s = '' OR body -> 'session' ->> 'task_id' = %(task_id)s)
    AND (%(tenant)s = '' OR tenant = %(tenant)s)
    AND (%(since)s = 0 OR (body ->> 'since')::double precision >= %(since)s)
    AND number < %(before)s
ORDER BY number DESC LIMIT %(limit)s;

-- name: managed_sessions_in_question
-- Managed sessions that are not final, and those with one of these ids.
SELECT body FROM commonhold.managed_sessions
WHERE namespace = %(namespace)s AND (NOT is_final OR id = ANY(%(ids)s))
ORDER BY number;

-- name: managed_session_by_id
-- One managed session.
SELECT body FROM commonhold.managed_sessions WHERE namespace = %(namespace)s AND id = %(id)s;

-- name: tenants_served
-- The event of the last claim, by tenant.
SELECT tenant, MAX(claimed) FROM commonhold.managed_sessions WHERE namespace = %(namespace)s GROUP BY tenant;

-- name: set_managed_session
-- Add a managed session, or give it a new state.
INSERT INTO commonhold.managed_sessions (namespace, id, number, is_final, tenant, claimed, body)
VALUES (%(namespace)s, %(id)s, %(number)s, %(is_final)s = 1, %(tenant)s, %(claimed)s, %(body)s)
ON CONFLICT (namespace, id)
DO UPDATE SET is_final = excluded.is_final, claimed = excluded.claimed, body = excluded.body;
