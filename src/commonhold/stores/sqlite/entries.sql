-- The entries of the merge queue.

CREATE TABLE entries (
    id       TEXT PRIMARY KEY,
    number   INTEGER NOT NULL UNIQUE,   -- the event that added it
    is_final INTEGER NOT NULL,          -- 1: landed or returned
    revision TEXT NOT NULL,             -- the commit that is to land
    body     TEXT NOT NULL              -- JSON
) WITHOUT ROWID;
CREATE INDEX entries_waiting ON entries (id) WHERE is_final = 0;
CREATE INDEX entries_by_revision ON entries (revision);
