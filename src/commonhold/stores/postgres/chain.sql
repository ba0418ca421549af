-- The hash of each event, which covers the one before it; null in events that an older version has recorded.

ALTER TABLE commonhold.events ADD COLUMN hash bytea;
