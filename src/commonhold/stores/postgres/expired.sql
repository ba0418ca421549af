-- The leases that a decision needs to see, as in functions.sql, but of those whose time is over only the first: else
-- whoever comes first after many have expired at once would have to end them all. So many are the domain's ENDED_BESIDE. The
-- sum in `ticks + 0` keeps the planner from looking for a holder's leases by their deadlines.
CREATE OR REPLACE FUNCTION commonhold.leases_near(
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
    SELECT l.fence, l.body FROM commonhold.leases l WHERE l.holder = ANY(holders) AND l.ticks + 0 > instant
    UNION ALL
    (SELECT l.fence, l.body FROM commonhold.leases l
    WHERE l.namespace = of_namespace AND l.ticks > '-infinity' AND l.ticks <= instant ORDER BY l.ticks LIMIT 16);
END $$;
