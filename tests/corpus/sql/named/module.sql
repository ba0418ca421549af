-- name: get_user :one
-- by its id
SELECT * FROM users
WHERE id = $1;

-- name: list-users^
SELECT * FROM users;

/* a note; /* of two; */ apart; */

/* about t */
COPY t FROM stdin;
1	a;b
\.
SELECT 1;
GO
