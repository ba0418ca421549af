-- What is stored, and how it is looked up and changed.

local run_id, skew, floor, teller, request, fingerprint, command_name, lease_id, holder, said = unpack(ARGV, 1, 10)

-- What a request was answered when it was made first; the client sees whether it is the same request.
local kept = request ~= "" and redis.call("HGET", ANSWERS, request)
if kept then
  local asked, kind, body = unpack(cmsgpack.unpack(kept))
  return { kind, body, floor, teller, asked }
end

local known = redis.call("HMGET", LEASES, COUNT, COUNTER, LINE, SOONEST, lease_id)
local sequence, counter, line_length = tonumber(known[1] or 0), known[2], tonumber(known[3] or 0)
-- No lease and no place in line is over before that; where it is not known, something may be.
local soonest, stored = tonumber(known[4] or 0), known[5]
local clock = redis.call("TIME")
local server_time = clock[1] * 1000000 + clock[2]
local now = server_time + skew

-- Whether the event is gone that the client was told of last, by the server with the run id `teller`: then this is an
-- older state than there was. What the log does not go back to is taken to be there.
local function lacks_event()
  if sequence < tonumber(floor) then
    return true
  end
  if teller == run_id or floor == "0" then
    return false
  end
  local oldest = redis.call("XRANGE", EVENTS, "-", "+", "COUNT", 1)[1]
  local is_logged = oldest and tonumber(oldest[1]:match("^%d+")) <= tonumber(floor)
  return is_logged and #redis.call("XRANGE", EVENTS, floor, floor) == 0
end

local newest, has_lost_events = sequence, lacks_event()

-- Where the count may have been lost (nothing is there, another server answers than the one that counted last, or the
-- client has seen more) it goes on from far above all that can have been given out: see registry.py, "Fences".
if counter ~= run_id or has_lost_events then
  local last = redis.call("XREVRANGE", EVENTS, "+", "-", "COUNT", 1)[1]
  local logged = last and tonumber(last[1]:match("^%d+")) or 0
  local by_clock = math.floor((server_time - FENCES_BEGIN) / 1000) * FENCES_A_MILLISECOND
  sequence = math.max(math.max(sequence, floor, logged) + FENCE_GAP, by_clock)
end

local write = redis.call

-- Record an event, and write what else there is to be written into the hash of leases.
local function record(kind, body, ...)
  sequence = sequence + 1
  newest = sequence
  if counter ~= run_id then
    counter = run_id
    write("HSET", LEASES, COUNTER, run_id)
  end
  local number = string.format("%d", sequence)
  write("HSET", LEASES, COUNT, number, ...)
  write("XADD", EVENTS, number .. "-0", kind, body, "at", seconds(now))
  if sequence % EVENTS_BETWEEN_TRIMS == 0 then
    write("XTRIM", EVENTS, "MAXLEN", "~", MAX_EVENTS)
  end
end

-- The leases that the decision has to see: in their order (those that have ended are marked), and by id.
local leases, lease_of, looked_for = {}, {}, { [lease_id] = true }

local function take(packed)
  local lease = unpacked_lease(cmsgpack.unpack(packed))
  leases[#leases + 1], lease_of[lease.id] = lease, lease
end

-- Whether somebody waits for what was looked for.
local is_contended = false

-- Find the leases with an entry in a range of the index, whose ends are as ZRANGEBYLEX takes them: all, or the first
-- `most` entries. The last part of an entry is the id, which that of a place in line has a mark before.
local function find_between(first, last, most)
  for _, entry in ipairs(redis.call("ZRANGEBYLEX", INDEX, first, last, "LIMIT", 0, most or -1)) do
    local id = entry:match("[^" .. PART .. "]*$")
    if id:sub(1, 1) == WAITS then
      is_contended = true
    elseif not looked_for[id] then
      looked_for[id] = true
      local packed = redis.call("HGET", LEASES, id)
      if packed then
        take(packed)
      end
    end
  end
end

-- What a lease or a place in line is found by when its time is over.
local function due_entry(claim)
  return DUE .. string.format("%016d", claim.ends) .. PART .. (claim.number and WAITS or "") .. claim.id
end

-- Put `entry` and `entries` into the index; what is too much for one command goes into several.
local function add_entries(entry, entries)
  for first = 1, #entries, ENTRIES_AT_ONCE do
    local scored = { 0, entry }
    for at = first, math.min(#entries, first + ENTRIES_AT_ONCE - 1) do
      scored[#scored + 1], scored[#scored + 2] = 0, entries[at]
    end
    write("ZADD", INDEX, unpack(scored))
  end
end

local function drop_entries(entry, entries)
  for first = 1, #entries, ENTRIES_AT_ONCE do
    write("ZREM", INDEX, entry, unpack(entries, first, math.min(#entries, first + ENTRIES_AT_ONCE - 1)))
  end
end

-- Write a lease that is found by new entries; its fence is the number of the event that says so.
local function write_new_lease(lease, kind, body)
  record(kind, body, lease.id, packed_lease(lease))
  if lease.ends < soonest then
    soonest = lease.ends
    write("HSET", LEASES, SOONEST, string.format("%d", soonest))
  end
  add_entries(due_entry(lease), lease.entries)
end

local function forget_lease(lease)
  write("HDEL", LEASES, lease.id)
  drop_entries(due_entry(lease), lease.entries)
end

-- The answer is kept for when the request is repeated; some are dropped that are so old that nobody will do so.
local function answer(kind, body)
  if request ~= "" and kind ~= "Queued" then
    redis.call("HSET", ANSWERS, request, cmsgpack.pack({ fingerprint, kind, body }))
    redis.call("ZADD", ANSWERED, string.format("%d", now), request)
    local long_ago = string.format("%d", now - ANSWERS_KEPT)
    local old = redis.call("ZRANGEBYSCORE", ANSWERED, "-inf", long_ago, "LIMIT", 0, ANSWERS_DROPPED_AT_ONCE)
    if #old > 0 then
      redis.call("HDEL", ANSWERS, unpack(old))
      redis.call("ZREM", ANSWERED, unpack(old))
    end
  end
  return { kind, body, string.format("%d", newest), run_id }
end
