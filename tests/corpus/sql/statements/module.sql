-- a note of the file

-- about users
CREATE TABLE IF NOT EXISTS public.users (
  id integer PRIMARY KEY, -- no end; here
  name text DEFAULT 'a;b''c'
);

create unique index users_name on users (name);
CREATE INDEX a ON users (id); CREATE INDEX b ON users (name);
ALTER TABLE ONLY users ADD COLUMN age int;
ALTER TABLE users DROP COLUMN age;
INSERT INTO users VALUES (1, 'x');
UPDATE users SET name = 'y';
DELETE FROM "users" WHERE id = 1;
SELECT 1; SELECT 2
  + 3;
SELECT 4
