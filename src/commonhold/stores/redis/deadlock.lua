-- Who waits for whom, and who must not wait: commonhold.leases.deadlock.

local function waiters_by_holder()
  local found = {}
  for _, waiter in ipairs(waiters) do
    if not waiter.has_ended then
      found[waiter.holder] = found[waiter.holder] or {}
      table.insert(found[waiter.holder], waiter)
    end
  end
  return found
end

-- The holders that a waiter waits for, each once.
local function holders_before(waiter)
  local holders, seen = {}, {}
  for _, claim in ipairs(before(waiter)) do
    if not seen[claim.holder] then
      seen[claim.holder] = true
      holders[#holders + 1] = claim.holder
    end
  end
  return holders
end

local function extended(path, waiter)
  local longer = { unpack(path) }
  longer[#longer + 1] = waiter
  return longer
end

local function may_delay(claim, waiter)
  return is_in_the_way(claim, waiter) or shares_slots(claim, waiter)
end

local function may_delay_any(mine, waiter)
  for _, lease in ipairs(mine) do
    if may_delay(lease, waiter) then
      return true
    end
  end
  return false
end

-- Whether anybody may wait for a holder: most who begin to wait have nothing that others want.
local function is_waited_for(name)
  local mine = leases_of(name)
  for _, waiter in ipairs(waiters) do
    if not waiter.has_ended then
      if may_delay_any(mine, waiter) then
        return true
      end
      for _, other in ipairs(waiters) do
        local is_ahead = other.holder == name and not other.has_ended and other.number < waiter.number
        if is_ahead and may_delay(other, waiter) then
          return true
        end
      end
    end
  end
  return false
end

-- Whether a waiter is still not served when all before it have finished but the `blocked` holders. Who waits for a slot
-- beside its own ones is not barred by itself: another of its processes may release.
local function is_barred(waiter, blocked)
  local staying, sharing = 0, 0
  for _, claim in ipairs(before(waiter)) do
    if blocked[claim.holder] and claim.holder ~= waiter.holder then
      staying = staying + 1
      sharing = sharing + (shares_slots(claim, waiter) and 1 or 0)
    end
  end
  return sharing < staying or (waiter.slots > 0 and sharing >= waiter.slots)
end

-- The holders that may wait for ever: all that wait, unless some wait for slots, of which a few suffice to become free.
-- A holder is not blocked if each of its waits ends once all holders that are not blocked have finished.
local function blocked_holders()
  local blocked, has_slots = {}, false
  for _, waiter in ipairs(waiters) do
    if not waiter.has_ended then
      blocked[waiter.holder] = true
      has_slots = has_slots or waiter.slots > 0
    end
  end
  local has_changed = has_slots
  while has_changed do
    local staying = {}
    for _, waiter in ipairs(waiters) do
      if not waiter.has_ended and is_barred(waiter, blocked) then
        staying[waiter.holder] = true
      end
    end
    has_changed = false
    for name in pairs(blocked) do
      has_changed = has_changed or not staying[name]
    end
    blocked = staying
  end
  return blocked
end

-- Waiters of which each waits for the holder of the next, the last for the holder of `start`; nil where there is none.
local function circle(start)
  local blocked = blocked_holders()
  if not blocked[start.holder] or not is_waited_for(start.holder) then
    return nil
  end
  local waits_of, paths, seen = waiters_by_holder(), { { start } }, { [start.id] = true }
  while #paths > 0 do
    local path = table.remove(paths)
    for _, name in ipairs(holders_before(path[#path])) do
      local is_blocked = blocked[name] and name ~= path[#path].holder
      if is_blocked and name == start.holder then
        return path
      end
      for _, waiter in ipairs(is_blocked and waits_of[name] or {}) do
        if not seen[waiter.id] then
          seen[waiter.id] = true
          paths[#paths + 1] = extended(path, waiter)
        end
      end
    end
  end
end

-- The number of the oldest grant that a holder has, or of its place in line: the lower, the older.
local function age(name)
  local oldest = sequence + 1
  for _, lease in ipairs(leases_of(name)) do
    oldest = math.min(oldest, lease.fence)
  end
  return oldest
end

-- Who must leave the line, so that `waiter` (which stands in it already) waits in no circle: the youngest.
local function victim(waiter)
  local found, found_age
  for _, each in ipairs(circle(waiter) or {}) do
    local its_age = age(each.holder)
    if not found or its_age > found_age or (its_age == found_age and each.number > found.number) then
      found, found_age = each, its_age
    end
  end
  return found
end

-- Who must leave the line because of leases that have ended or changed hands in this turn.
local function stuck()
  for _, waiter in ipairs(waiters) do
    local loser = not waiter.has_ended and shifted[waiter.holder] and victim(waiter)
    if loser then
      return loser
    end
  end
end

-- Serve whose turn it is; where leases that ended or changed hands closed a circle, its youngest gives way.
local function settle()
  if not next(waiter_of) then
    return
  end
  serve()
  local loser = stuck()
  while loser do
    leave(loser, "deadlock")
    serve()
    loser = stuck()
  end
end
