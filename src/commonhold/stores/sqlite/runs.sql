-- Runs, and their work items beside the tasks.

CREATE TABLE runs (
    id     TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,   -- the event that began it
    body   TEXT NOT NULL              -- JSON
) WITHOUT ROWID;
CREATE TABLE run_items (
    run    TEXT NOT NULL,
    task   TEXT NOT NULL,
    number INTEGER NOT NULL,          -- the event that made it an item
    place  INTEGER NOT NULL,          -- its place among the items of that event
    body   TEXT NOT NULL,             -- JSON
    PRIMARY KEY (run, task)
) WITHOUT ROWID;
