-- Which branch an entry of the merge queue is to land on, and when it has landed.

ALTER TABLE commonhold.entries
    ADD COLUMN onto text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN landed_at double precision;   -- a Unix time; NULL: it has not landed
UPDATE commonhold.entries SET
    onto = body #>> '{entry,onto}',
    landed_at = CASE body ->> 'state' WHEN 'landed' THEN (body ->> 'since')::double precision END;
CREATE INDEX entries_landed ON commonhold.entries (namespace, onto, landed_at);
CREATE INDEX entries_by_number ON commonhold.entries (namespace, number);
