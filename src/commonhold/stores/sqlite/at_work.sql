-- Who is at work, and what is about to be written. The log does not explain it: it is about now.

CREATE TABLE presences (
    holder   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    body     TEXT NOT NULL,         -- JSON
    PRIMARY KEY (holder, worktree)
) WITHOUT ROWID;

CREATE TABLE proposals (
    worktree TEXT NOT NULL,
    path     TEXT NOT NULL,
    holder   TEXT NOT NULL,
    call     TEXT NOT NULL,
    body     TEXT NOT NULL,         -- JSON
    PRIMARY KEY (worktree, path, holder, call)
) WITHOUT ROWID;
