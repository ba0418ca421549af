-- Tasks; each is claimed by a lease on its key.

CREATE TABLE tasks (
    id       TEXT PRIMARY KEY,
    number   INTEGER NOT NULL UNIQUE,   -- the event that added it
    is_final INTEGER NOT NULL,          -- 1: landed, failed or cancelled
    body     TEXT NOT NULL              -- JSON
) WITHOUT ROWID;
CREATE INDEX tasks_in_work ON tasks (id) WHERE is_final = 0;
