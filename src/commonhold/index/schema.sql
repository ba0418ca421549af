-- Summaries by the hash of the bytes they were made from. `maker` is what made it: a language, an edition, a Python.
-- A number is never given twice: a process may still ask for one that another has dropped.
CREATE TABLE summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    maker TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (hash, maker)
);

-- Which summaries use, and which offer, a name. Names go by numbers, see packing.py.
CREATE TABLE uses (name INTEGER NOT NULL, summary INTEGER NOT NULL, PRIMARY KEY (name, summary)) WITHOUT ROWID;
CREATE TABLE offers (name INTEGER NOT NULL, summary INTEGER NOT NULL, PRIMARY KEY (name, summary)) WITHOUT ROWID;

-- Working trees. `turn` counts the times that one was written: who knows another turn knows nothing of what is kept.
-- `makers` are all that make summaries: others would have looked at other files.
CREATE TABLE roots (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    makers TEXT NOT NULL,
    turn INTEGER NOT NULL,
    rules BLOB NOT NULL,
    UNIQUE (path, makers)
);

-- The files of a working tree, and what they were when they were read; summary 0: read, and it has none.
CREATE TABLE files (
    root INTEGER NOT NULL,
    path TEXT NOT NULL,
    summary INTEGER NOT NULL,
    stamp BLOB,
    PRIMARY KEY (root, path)
) WITHOUT ROWID;

-- The folders of a working tree, and what is in them beside files and folders that are known.
CREATE TABLE folders (
    root INTEGER NOT NULL,
    path TEXT NOT NULL,
    stamp BLOB,
    marks BLOB NOT NULL,
    others BLOB NOT NULL,
    PRIMARY KEY (root, path)
) WITHOUT ROWID;

-- The summaries of git's objects; 0: it has none.
CREATE TABLE blobs (
    object BLOB NOT NULL,
    maker TEXT NOT NULL,
    summary INTEGER NOT NULL,
    PRIMARY KEY (object, maker)
) WITHOUT ROWID;
