-- Leases as they are stored, and their JSON, as commonhold.stores.codec has it. cjson keeps 14 digits of a number and
-- cannot tell an empty list from an empty object, so only texts go through it. Instants are whole microseconds.

local function seconds(instant)
  local rest = instant % 1000000
  return string.format("%d.%06d", (instant - rest) / 1000000, rest)
end

-- `said` is the rest of what the client said, which matters only where somebody else is concerned: see requests.py.
local function packed_lease(lease)
  return cmsgpack.pack({
    lease.id,
    lease.holder,
    lease.fence,
    lease.granted_at,
    lease.ends,
    lease.ttl,
    lease.is_claimed,
    lease.fixed,
    lease.worktree,
    lease.bases,
    lease.wish,
    lease.entries,
    lease.said,
    lease.slot or 0,
  })
end

local function unpacked_lease(parts)
  return {
    id = parts[1],
    holder = parts[2],
    fence = parts[3],
    granted_at = parts[4],
    ends = parts[5],
    ttl = parts[6],
    is_claimed = parts[7],
    fixed = parts[8],
    worktree = parts[9],
    bases = parts[10],
    wish = parts[11],
    entries = parts[12],
    said = parts[13],
    slot = parts[14] or 0,
  }
end

-- JSON of a lease between two texts. `fixed` are the fields that never change, as the client wrote them; `worktree`,
-- `bases` and `wish` are JSON, too.
local function lease_json(lease, before, after)
  local ends = seconds(lease.ends)
  local slot = (lease.slot or 0) > 0 and string.format(',"slot":%d', lease.slot) or ""
  return before
    .. "{"
    .. lease.fixed
    .. ',"fence":'
    .. string.format("%d", lease.fence)
    .. ',"holder":'
    .. cjson.encode(lease.holder)
    .. ',"granted_at":'
    .. seconds(lease.granted_at)
    .. ',"deadline":{"epoch":"redis","ticks":'
    .. ends
    .. ',"wall":'
    .. ends
    .. '},"ttl_seconds":'
    .. seconds(lease.ttl)
    .. ',"is_claimed":'
    .. tostring(lease.is_claimed)
    .. ',"worktree":'
    .. lease.worktree
    .. ',"bases":'
    .. lease.bases
    .. ',"wish":'
    .. lease.wish
    .. slot
    .. "}"
    .. after
end
