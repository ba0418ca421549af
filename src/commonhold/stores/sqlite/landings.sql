-- Which branch an entry of the merge queue is to land on, and when it has landed.

ALTER TABLE entries ADD COLUMN onto TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN landed_at REAL;   -- a Unix time; NULL: it has not landed
UPDATE entries SET
    onto = json_extract(body, '$.entry.onto'),
    landed_at = CASE json_extract(body, '$.state') WHEN 'landed' THEN json_extract(body, '$.since') END;
CREATE INDEX entries_landed ON entries (onto, landed_at);
