-- Leases that many machines share. `events` is the truth, `namespaces` says where its numbers go on after the server
-- was set back; the other tables are the projection of the events. Text compares by its bytes, whatever the database's
-- own order is: ranges of places need that, and no update of the system's locales can damage an index.
--
-- What leases are found by is one text that begins with the namespace, so that only one index can answer each question:
-- plans are made and kept while the tables may be empty, and must be right when they are not. For the same reason there
-- are no foreign keys: the server's plans for checking them are kept too, and nobody can say by which index.

CREATE TABLE commonhold.namespaces (
    namespace  text COLLATE "C" PRIMARY KEY,
    reserved   bigint NOT NULL,  -- numbers up to this one are not given out
    timeline   integer NOT NULL, -- the server's history in which they were given out
    written_by bigint NOT NULL   -- the transaction that wrote this row: a restored copy of it was written by another
);

CREATE TABLE commonhold.events (
    namespace text COLLATE "C" NOT NULL,
    seq       bigint NOT NULL,           -- the newest row is never deleted, so no number is given out twice
    at        double precision NOT NULL, -- wall time, for people
    kind      text COLLATE "C" NOT NULL,
    holder    text COLLATE "C" NOT NULL,
    lease_id  text COLLATE "C",
    body      json NOT NULL,
    PRIMARY KEY (namespace, seq)
);
CREATE INDEX events_of_lease ON commonhold.events (namespace, lease_id, seq) WHERE lease_id IS NOT NULL;

CREATE TABLE commonhold.leases (
    id        text COLLATE "C" PRIMARY KEY, -- namespace and id
    namespace text COLLATE "C" NOT NULL,
    fence     bigint NOT NULL,
    holder    text COLLATE "C" NOT NULL,    -- namespace and holder
    ticks     double precision NOT NULL,    -- when it ends
    body      json NOT NULL
);
CREATE INDEX leases_of_holder ON commonhold.leases (holder);
CREATE INDEX leases_by_deadline ON commonhold.leases (namespace, ticks);

CREATE TABLE commonhold.lease_keys (
    place    text COLLATE "C" NOT NULL, -- namespace, scheme and path, without the names inside the file
    lease_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (place, lease_id)
);

CREATE TABLE commonhold.waiters (
    namespace text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    body      json NOT NULL,
    PRIMARY KEY (namespace, number)
);

CREATE TABLE commonhold.key_values (
    namespace text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    text      text COLLATE "C",
    holder    text COLLATE "C" NOT NULL,
    at        double precision NOT NULL,
    PRIMARY KEY (namespace, key)
);

CREATE TABLE commonhold.lost (
    namespace text COLLATE "C" NOT NULL,
    lease_id  text COLLATE "C" NOT NULL,
    body      json NOT NULL,             -- the lease
    PRIMARY KEY (namespace, lease_id)
);

CREATE TABLE commonhold.works (
    namespace text COLLATE "C" NOT NULL,
    lease_id  text COLLATE "C" NOT NULL,
    seq       bigint NOT NULL,
    body      json NOT NULL,
    PRIMARY KEY (namespace, lease_id)
);

CREATE TABLE commonhold.answers (
    namespace   text COLLATE "C" NOT NULL,
    holder      text COLLATE "C" NOT NULL,
    request_id  text COLLATE "C" NOT NULL,
    at          double precision NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    answer      json NOT NULL,
    PRIMARY KEY (namespace, holder, request_id)
);
