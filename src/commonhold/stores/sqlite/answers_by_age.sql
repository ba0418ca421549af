-- Each new answer drops the oldest ones: they are found without a look at the others.

CREATE INDEX answers_by_age ON answers (at);
