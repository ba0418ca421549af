-- The snapshot of the state after the event `seq`, in place of the events up to it; `event` has its digest.
-- Commits no longer refer to their events by a constraint: it would be checked for every deleted event.

CREATE TABLE snapshots (
    seq   INTEGER PRIMARY KEY,
    event INTEGER NOT NULL,
    body  BLOB NOT NULL             -- JSON, packed by zlib
);

CREATE TABLE commits_without_reference (
    path TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (path, seq)
) WITHOUT ROWID;
INSERT INTO commits_without_reference SELECT path, seq FROM commits;
DROP TABLE commits;
ALTER TABLE commits_without_reference RENAME TO commits;
