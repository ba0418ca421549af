-- What made a debt owed, and how that is known.

ALTER TABLE debts ADD COLUMN since TEXT NOT NULL DEFAULT '[]';    -- sequences of events, as JSON
ALTER TABLE debts ADD COLUMN evidence TEXT NOT NULL DEFAULT '';
