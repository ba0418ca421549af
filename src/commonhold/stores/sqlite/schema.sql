-- The state of one repository. `events` is the truth; leases, lease_keys, debts and commits are its projection.

CREATE TABLE events (
    seq      INTEGER PRIMARY KEY,   -- the newest row is never deleted, so no number is given out twice
    at       REAL NOT NULL,         -- wall time, for people
    kind     TEXT NOT NULL,
    holder   TEXT NOT NULL,
    lease_id TEXT,
    body     TEXT NOT NULL          -- JSON
);
CREATE INDEX events_of_lease ON events (lease_id) WHERE lease_id IS NOT NULL;

CREATE INDEX events_of_commits ON events (seq) WHERE kind = 'committed';

CREATE TABLE leases (
    fence          INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    holder         TEXT NOT NULL,
    task           TEXT NOT NULL,
    keys           TEXT NOT NULL,   -- JSON list
    mode           TEXT NOT NULL,
    acquisition_id TEXT NOT NULL,
    granted_at     REAL NOT NULL,
    epoch          TEXT NOT NULL,   -- the boot in which `ticks` counts
    ticks          REAL NOT NULL,
    expires_at     REAL NOT NULL
);

CREATE INDEX leases_by_deadline ON leases (epoch, ticks);

CREATE TABLE lease_keys (
    place TEXT NOT NULL,            -- scheme and path, without the names inside the file
    fence INTEGER NOT NULL REFERENCES leases (fence) ON DELETE CASCADE,
    PRIMARY KEY (place, fence)
) WITHOUT ROWID;
CREATE INDEX lease_keys_of_lease ON lease_keys (fence);

CREATE TABLE debts (
    worktree TEXT NOT NULL,
    key      TEXT NOT NULL,
    holder   TEXT NOT NULL,
    why      TEXT NOT NULL,
    PRIMARY KEY (worktree, key)
) WITHOUT ROWID;

CREATE TABLE commits (
    path TEXT NOT NULL,
    seq  INTEGER NOT NULL REFERENCES events (seq),
    PRIMARY KEY (path, seq)
) WITHOUT ROWID;

CREATE TABLE contents (
    hash TEXT PRIMARY KEY,
    at   REAL NOT NULL,             -- when it was kept, or written once more; retention counts from here
    data BLOB NOT NULL              -- zlib
) WITHOUT ROWID;

CREATE TABLE answers (
    holder      TEXT NOT NULL,
    request_id  TEXT NOT NULL,
    at          REAL NOT NULL,
    fingerprint TEXT NOT NULL,
    kind        TEXT NOT NULL,
    answer      TEXT NOT NULL,      -- JSON
    PRIMARY KEY (holder, request_id)
) WITHOUT ROWID;

CREATE TABLE journal (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,  -- names staged files, so never reused
    body TEXT NOT NULL                       -- JSON
);
