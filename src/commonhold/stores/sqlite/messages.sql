-- What sessions are to be told once, at their next call.

CREATE TABLE messages (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    holder   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    text     TEXT NOT NULL,
    at       REAL NOT NULL,         -- wall time; retention counts from here
    body     TEXT NOT NULL,         -- JSON
    UNIQUE (holder, worktree, text)
);
