-- One consistent look: the number of the last event, and JSON of all leases, places in line, lost leases and partial
-- work, each in its order.

-- The second part of each record of a hash, in the order of the first; `read` makes a record of what is stored.
local function all(hash, read)
  local found, stored = {}, redis.call("HGETALL", hash)
  for at = 1, #stored, 2 do
    if stored[at]:sub(1, 1) ~= MARK then
      found[#found + 1] = read(stored[at + 1])
    end
  end
  table.sort(found, function(left, right)
    return left[1] < right[1]
  end)
  for at, each in ipairs(found) do
    found[at] = each[2]
  end
  return found
end

local function read_lease(packed)
  local lease = unpacked_lease(cmsgpack.unpack(packed))
  return { lease.fence, lease_json(lease, "", "") }
end

local function read_waiter(packed)
  local waiter = unpacked_waiter(cmsgpack.unpack(packed))
  return { waiter.number, waiter_json(waiter) }
end

return {
  redis.call("HGET", LEASES, COUNT) or "0",
  all(LEASES, read_lease),
  all(WAITERS, read_waiter),
  all(LOST, cmsgpack.unpack),
  all(WORKS, cmsgpack.unpack),
}
