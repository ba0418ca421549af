-- name: summary_of
-- The number of the summary of some bytes.
SELECT id FROM summaries WHERE hash = ? AND maker = ?;

-- name: body_of
-- A summary.
SELECT body FROM summaries WHERE id = ?;

-- name: add_summary
-- Keep a summary, unless another process was faster.
INSERT INTO summaries (hash, maker, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING id;

-- name: add_use
-- A summary uses a name.
INSERT OR IGNORE INTO uses (name, summary) VALUES (?, ?);

-- name: add_offer
-- A summary offers a name.
INSERT OR IGNORE INTO offers (name, summary) VALUES (?, ?);

-- name: users_of
-- The summaries that use a name.
SELECT summary FROM uses WHERE name = ?;

-- name: definers_of
-- The summaries that offer a name.
SELECT summary FROM offers WHERE name = ?;

-- name: root_of
-- A working tree.
SELECT id, turn, rules FROM roots WHERE path = ? AND makers = ?;

-- name: add_root
-- A new working tree.
INSERT INTO roots (path, makers, turn, rules) VALUES (?, ?, 0, x'') RETURNING id;

-- name: write_root
-- What decides on the files of a working tree, in a new turn.
UPDATE roots SET turn = turn + 1, rules = ? WHERE id = ?;

-- name: files_of
-- The files of a working tree.
SELECT path, stamp, summary FROM files WHERE root = ?;

-- name: put_file
-- A file, new or changed.
INSERT OR REPLACE INTO files (root, path, stamp, summary) VALUES (?, ?, ?, ?);

-- name: drop_file
-- A file that is gone.
DELETE FROM files WHERE root = ? AND path = ?;

-- name: drop_files
-- All files of a working tree.
DELETE FROM files WHERE root = ?;

-- name: folders_of
-- The folders of a working tree.
SELECT path, stamp, marks, others FROM folders WHERE root = ?;

-- name: put_folder
-- A folder, new or changed.
INSERT OR REPLACE INTO folders (root, path, stamp, marks, others) VALUES (?, ?, ?, ?, ?);

-- name: drop_folder
-- A folder that is gone.
DELETE FROM folders WHERE root = ? AND path = ?;

-- name: drop_folders
-- All folders of a working tree.
DELETE FROM folders WHERE root = ?;

-- name: summary_of_blob
-- The number of the summary of one of git's objects.
SELECT summary FROM blobs WHERE object = ? AND maker = ?;

-- name: put_blob
-- The summary of one of git's objects.
INSERT OR REPLACE INTO blobs (object, maker, summary) VALUES (?, ?, ?);

-- name: counts
-- How many summaries there are, and how many of them the files of a working tree have.
SELECT (SELECT count(*) FROM summaries), (SELECT count(DISTINCT summary) FROM files);

-- name: roots
-- All working trees.
SELECT id, path FROM roots;

-- name: drop_root
-- A working tree that is gone.
DELETE FROM roots WHERE id = ?;

-- name: oldest
-- The oldest summaries that no file has.
SELECT id, body FROM summaries WHERE id NOT IN (SELECT summary FROM files) ORDER BY id LIMIT ?;

-- name: drop_summary
-- A summary.
DELETE FROM summaries WHERE id = ?;

-- name: drop_use
-- A summary is gone that used a name.
DELETE FROM uses WHERE name = ? AND summary = ?;

-- name: drop_offer
-- A summary is gone that offered a name.
DELETE FROM offers WHERE name = ? AND summary = ?;

-- name: drop_blobs
-- Objects whose summary is gone.
DELETE FROM blobs WHERE summary <> 0 AND summary NOT IN (SELECT id FROM summaries);
