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

-- Whether anybody may wait for a holder: most who begin to wait have nothing that others want.
local function is_waited_for(name)
  local mine = leases_of(name)
  for _, waiter in ipairs(waiters) do
    if not waiter.has_ended then
      if waits_for_any(waiter, mine) then
        return true
      end
      for _, other in ipairs(waiters) do
        local is_ahead = other.holder == name and not other.has_ended and other.number < waiter.number
        if is_ahead and is_in_the_way(other, waiter) then
          return true
        end
      end
    end
  end
  return false
end

-- Waiters of which each waits for the holder of the next, the last for the holder of `start`; nil where there is none.
local function circle(start)
  if not is_waited_for(start.holder) then
    return nil
  end
  local waits_of, paths, seen = waiters_by_holder(), { { start } }, { [start.id] = true }
  while #paths > 0 do
    local path = table.remove(paths)
    for _, name in ipairs(holders_before(path[#path])) do
      if name == start.holder then
        return path
      end
      for _, waiter in ipairs(waits_of[name] or {}) do
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
