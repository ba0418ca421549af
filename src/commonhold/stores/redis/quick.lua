-- Where nothing has run out and nobody else is concerned, there is nothing to decide: an acquire is granted, and a
-- release ends the lease. The rest of the script, which comes to the same, is for all other cases; not to get to it
-- saves more time than all look-ups take.

local function slice_of_arguments(first, last)
  local slice = {}
  for at = first, last do
    slice[#slice + 1] = ARGV[at]
  end
  return slice
end

local function record_release(lease)
  local whose, id = cjson.encode(lease.holder), cjson.encode(lease.id)
  record("lease_released", '{"holder":' .. whose .. ',"lease_id":' .. id .. "}")
end

-- Both ends of all ranges in which there may be a lease of the holder or one that overlaps the keys; then what an
-- acquire says beside, and the entries by which the lease is to be found.
local first_range, last_range = 12, 11 + ARGV[11]
local ttl, fixed, worktree, bases, replaces = unpack(ARGV, last_range + 1, last_range + 5)

if stored then
  take(stored)
end
for at = first_range, last_range, 2 do
  find_between(ARGV[at], ARGV[at + 1])
end

local named = lease_of[lease_id]
local is_quiet = now < soonest and not has_lost_events

-- A lease is at rest if it changes nothing for a command of its holder, nor the command anything for it.
for _, lease in ipairs(leases) do
  local is_ours = lease.holder == holder and lease.wish == "null"
  local is_at_rest = lease == named or (is_ours and lease.ends - now >= SIGN_OF_LIFE * lease.ttl)
  is_quiet = is_quiet and is_at_rest
end

-- Whether somebody waits for what a release makes free: for what is above it, or for anything at its places or below.
if is_quiet and command_name == "release" and named and line_length > 0 then
  for at = 2, #named.entries do
    local place = named.entries[at]:match("^[^" .. PART .. "]*")
    for stop in place:gmatch("()" .. SEGMENT) do
      local above = place:sub(1, stop - 1)
      find_between("[" .. above .. PART, "(" .. above .. AFTER_PART)
    end
    find_between("[" .. place .. PART, "(" .. place .. AFTER_SEGMENT)
  end
end
local is_known = line_length > 0 and redis.call("HEXISTS", WAITERS, lease_id) == 1
is_quiet = is_quiet and not is_contended and not is_known

-- The lease that an acquire asks for, but for its fence.
local wanted = command_name == "acquire"
  and {
    id = lease_id,
    holder = holder,
    granted_at = now,
    ends = now + ttl,
    ttl = tonumber(ttl),
    is_claimed = true,
    fixed = fixed,
    worktree = worktree,
    bases = bases,
    wish = "null",
    entries = slice_of_arguments(last_range + 6, #ARGV),
    said = said,
  }

-- Slots are counted, those of the same holder too; and work that is done once may be done already.
local is_counted = fixed and fixed:find(SLOTS, 1, true)

if is_quiet and wanted and not named and replaces == "" and not is_counted then
  wanted.fence = sequence + 1
  local grant = lease_json(wanted, '{"lease":', "}")
  write_new_lease(wanted, "lease_granted", grant)
  return answer("Granted", grant)
elseif is_quiet and command_name == "release" and named and named.holder == holder then
  forget_lease(named)
  record_release(named)
  return answer("Released", lease_json(named, '{"lease":', "}"))
end
