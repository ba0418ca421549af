-- Managed sessions; each is supervised under a lease on its key.

CREATE TABLE managed_sessions (
    id       TEXT PRIMARY KEY,
    number   INTEGER NOT NULL UNIQUE,   -- the event that started it
    is_final INTEGER NOT NULL,          -- 1: completed, failed or cancelled
    tenant   TEXT NOT NULL,
    claimed  INTEGER NOT NULL,          -- the event of its last claim; 0: none
    body     TEXT NOT NULL              -- JSON
) WITHOUT ROWID;
CREATE INDEX managed_sessions_in_work ON managed_sessions (id) WHERE is_final = 0;
CREATE INDEX managed_sessions_served ON managed_sessions (tenant, claimed);
