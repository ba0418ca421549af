-- Kept answers by their age, so that the oldest are found and dropped.

CREATE INDEX answers_by_age ON commonhold.answers (namespace, at);
