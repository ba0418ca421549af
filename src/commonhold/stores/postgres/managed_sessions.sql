-- Managed sessions; each is supervised under a lease on its key.

CREATE TABLE commonhold.managed_sessions (
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,           -- the event that started it
    is_final  boolean NOT NULL,          -- completed, failed or cancelled
    tenant    text COLLATE "C" NOT NULL,
    claimed   bigint NOT NULL,           -- the event of its last claim; 0: none
    body      json NOT NULL,
    PRIMARY KEY (namespace, id)
);
CREATE INDEX managed_sessions_in_work ON commonhold.managed_sessions (namespace) WHERE NOT is_final;
CREATE INDEX managed_sessions_served ON commonhold.managed_sessions (namespace, tenant, claimed);
