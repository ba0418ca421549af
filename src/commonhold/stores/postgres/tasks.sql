-- Tasks; each is claimed by a lease on its key.

CREATE TABLE commonhold.tasks (
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,           -- the event that added it
    is_final  boolean NOT NULL,          -- landed, failed or cancelled
    body      json NOT NULL,
    PRIMARY KEY (namespace, id)
);
CREATE INDEX tasks_in_work ON commonhold.tasks (namespace) WHERE NOT is_final;
