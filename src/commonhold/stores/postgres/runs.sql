-- Runs, and their work items beside the tasks.

CREATE TABLE commonhold.runs (
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,           -- the event that began it
    body      json NOT NULL,
    PRIMARY KEY (namespace, id)
);
CREATE TABLE commonhold.run_items (
    namespace text COLLATE "C" NOT NULL,
    run       text COLLATE "C" NOT NULL,
    task      text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,           -- the event that made it an item
    place     integer NOT NULL,          -- its place among the items of that event
    body      json NOT NULL,
    PRIMARY KEY (namespace, run, task)
);
