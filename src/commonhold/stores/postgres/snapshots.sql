-- The snapshot of the state after the event `seq`, in place of the events up to it; `event` has its digest.

CREATE TABLE commonhold.snapshots (
    namespace text COLLATE "C" PRIMARY KEY,
    seq       bigint NOT NULL,
    event     bigint NOT NULL,
    body      text NOT NULL -- JSON
);
