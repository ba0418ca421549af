-- A copy of the notes of the working trees of one repository. It is a cache: it may be deleted at any time.
CREATE TABLE notes (
    tree       TEXT NOT NULL,       -- the root of the working tree
    path       TEXT NOT NULL,
    stamp      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    date       TEXT NOT NULL,
    by         TEXT NOT NULL,
    applies_to TEXT NOT NULL,       -- JSON list
    problem    TEXT NOT NULL,
    PRIMARY KEY (tree, path)
);

CREATE TABLE sections (
    id     INTEGER PRIMARY KEY,
    tree   TEXT NOT NULL,
    path   TEXT NOT NULL,
    number TEXT NOT NULL,
    anchor TEXT NOT NULL,
    title  TEXT NOT NULL,
    trail  TEXT NOT NULL,           -- JSON list
    line   INTEGER NOT NULL,
    text   TEXT NOT NULL
);
CREATE INDEX sections_of_note ON sections (tree, path, line);

-- The words of each section, under its id.
CREATE VIRTUAL TABLE words USING fts5 (title, trail, text, tokenize = "unicode61 tokenchars '_'");
