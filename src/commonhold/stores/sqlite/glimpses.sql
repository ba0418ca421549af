-- Which lines of it a holder saw, where that was not all.

ALTER TABLE sightings ADD COLUMN lines TEXT NOT NULL DEFAULT '';
