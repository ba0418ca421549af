-- Leases as JSON beside what they are found by; places in line; values; partial work.

CREATE TABLE old_leases AS SELECT * FROM leases;
CREATE TABLE old_lease_keys AS SELECT * FROM lease_keys;
DROP TABLE lease_keys;
DROP TABLE leases;

CREATE TABLE leases (
    fence  INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL,
    epoch  TEXT NOT NULL,           -- the boot in which `ticks` counts
    ticks  REAL NOT NULL,
    body   TEXT NOT NULL            -- JSON
);
CREATE INDEX leases_of_holder ON leases (holder);
CREATE INDEX leases_by_deadline ON leases (epoch, ticks);

CREATE TABLE lease_keys (
    place TEXT NOT NULL,            -- scheme and path, without the names inside the file
    fence INTEGER NOT NULL REFERENCES leases (fence) ON DELETE CASCADE ON UPDATE CASCADE,
    PRIMARY KEY (place, fence)
) WITHOUT ROWID;
CREATE INDEX lease_keys_of_lease ON lease_keys (fence);

INSERT INTO leases (fence, id, holder, epoch, ticks, body)
SELECT fence, id, holder, epoch, ticks, json_object(
    'id', id, 'fence', fence, 'holder', holder, 'task', task, 'keys', json(keys), 'mode', mode,
    'acquisition_id', acquisition_id, 'granted_at', granted_at,
    'deadline', json_object('epoch', epoch, 'ticks', ticks, 'wall', expires_at)
) FROM old_leases;
INSERT INTO lease_keys (place, fence) SELECT place, fence FROM old_lease_keys;
DROP TABLE old_leases;
DROP TABLE old_lease_keys;

CREATE TABLE waiters (
    number INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    body   TEXT NOT NULL            -- JSON
);

CREATE TABLE key_values (
    key     TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    text    TEXT,
    holder  TEXT NOT NULL,
    at      REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE lost (
    lease_id TEXT PRIMARY KEY,
    body     TEXT NOT NULL          -- JSON: the lease
) WITHOUT ROWID;

CREATE TABLE works (
    lease_id TEXT PRIMARY KEY,
    seq      INTEGER NOT NULL,
    body     TEXT NOT NULL          -- JSON
) WITHOUT ROWID;
