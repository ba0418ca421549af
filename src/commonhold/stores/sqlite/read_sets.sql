-- What sessions have read, and what others have made of it since. The log does not explain it; it has its time, as
-- contents have.

CREATE TABLE sightings (
    holder   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    key      TEXT NOT NULL,
    hash     TEXT NOT NULL,
    seq      INTEGER NOT NULL,      -- the newest event then
    at       REAL NOT NULL,         -- retention counts from here
    PRIMARY KEY (holder, worktree, key)
) WITHOUT ROWID;
CREATE INDEX sightings_of_key ON sightings (worktree, key);

CREATE TABLE overtaken (
    holder   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    key      TEXT NOT NULL,
    at       REAL NOT NULL,         -- the newest change; retention counts from here
    body     TEXT NOT NULL,         -- JSON
    PRIMARY KEY (holder, worktree, key)
) WITHOUT ROWID;
