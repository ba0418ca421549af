-- The entries of the merge queue.

CREATE TABLE commonhold.entries (
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,           -- the event that added it
    is_final  boolean NOT NULL,          -- landed or returned
    revision  text COLLATE "C" NOT NULL, -- the commit that is to land
    body      json NOT NULL,
    PRIMARY KEY (namespace, id)
);
CREATE INDEX entries_waiting ON commonhold.entries (namespace) WHERE NOT is_final;
CREATE INDEX entries_by_revision ON commonhold.entries (namespace, revision);
