-- The two questions that every decision asks. As functions, so that the server plans them once a connection and not
-- once a call, which would take longer than answering; and with every plan ruled out but that by index, so that it stays
-- good when tables grow that were empty when it was made.

-- What a transaction learns first: the present instant; the highest number given out; the server's timeline now (null
-- on a standby); whether the number was given out in it, by a state that was not restored since (null where there is no
-- row); and the line, first in line first. It also sees to it that what will be committed is on the disk.
CREATE FUNCTION commonhold.start(
    of_namespace text,
    OUT seconds double precision, OUT last bigint, OUT timeline integer, OUT is_known boolean, OUT line json[]
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    mark record;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    seconds := extract(epoch FROM clock_timestamp());
    last := (SELECT e.seq FROM commonhold.events e WHERE e.namespace = of_namespace ORDER BY e.seq DESC LIMIT 1);
    line := ARRAY(SELECT w.body FROM commonhold.waiters w WHERE w.namespace = of_namespace ORDER BY w.number);
    IF NOT pg_is_in_recovery() THEN
        timeline := ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
    END IF;
    SELECT n.reserved, n.timeline, n.xmin::text::bigint = n.written_by & 4294967295 AS is_as_written
        INTO mark FROM commonhold.namespaces n WHERE n.namespace = of_namespace;
    last := coalesce(greatest(last, mark.reserved), 0);
    is_known := mark.is_as_written AND mark.timeline = timeline;
END $$;

-- The leases with one of some ids; those of some holders; those whose time is over at an instant (null: at present, by a
-- clock that is ahead by `skew`); those at any of some places; and those strictly between some pairs of places, which is
-- below a folder or a prefix. One may come several times. Where a join could be done from either end, an array or a
-- lateral query leaves one. The lower bound of the deadline tells the planner that those are few.
CREATE FUNCTION commonhold.leases_near(
    of_namespace text, ids text[], holders text[], instant double precision, skew double precision, places text[],
    starts text[], stops text[]
) RETURNS TABLE (fence bigint, body json)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    instant := coalesce(instant, extract(epoch FROM clock_timestamp()) + skew);
    RETURN QUERY
    SELECT l.fence, l.body FROM commonhold.leases l WHERE l.id = ANY(
        ids
        || ARRAY(SELECT k.lease_id FROM commonhold.lease_keys k WHERE k.place = ANY(places))
        || ARRAY(
            SELECT k.lease_id FROM unnest(starts, stops) AS below (start, stop) CROSS JOIN LATERAL (
                SELECT k.lease_id FROM commonhold.lease_keys k
                WHERE k.place > below.start AND k.place < below.stop OFFSET 0
            ) AS k
        )
    )
    UNION ALL
    SELECT l.fence, l.body FROM commonhold.leases l WHERE l.holder = ANY(holders)
    UNION ALL
    SELECT l.fence, l.body FROM commonhold.leases l
    WHERE l.namespace = of_namespace AND l.ticks > '-infinity' AND l.ticks <= instant;
END $$;
