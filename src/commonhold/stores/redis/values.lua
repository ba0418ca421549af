-- Giving a key a value, if nothing that it was based on has changed: the part of commonhold.leases.decide on values.

-- The version that a key has, and JSON of what it carries. Versions and fences are compared as texts: a client may name
-- numbers of more digits than the numbers of scripts have.
local function value_of(key)
  local packed = redis.call("HGET", VALUES, key)
  if packed then
    local version, value = unpack(cmsgpack.unpack(packed))
    return string.format("%d", version), value
  end
  return "0", ('{"key":%s}'):format(text(key))
end

local function covers(lease, key)
  for _, mine in ipairs(lease.keys) do
    if contains(mine, key) then
      return true
    end
  end
  return false
end

-- The exclusive leases of the holder that cover a key, by fence; and whether there is any.
local function covering(key)
  local fences, has_any = {}, false
  for _, lease in ipairs(leases_of(holder)) do
    if lease.mode == EXCLUSIVE and lease.slots <= 1 and covers(lease, key) then
      fences[string.format("%d", lease.fence)], has_any = true, true
    end
  end
  return fences, has_any
end

local function not_stored(code, why, current, found)
  local body = '{"code":"%s","why":%s,"current":%s,"conflicts":%s}'
  return body:format(code, text(why), list(current or {}), list(found or {}))
end

local function names_of_holders(holders)
  local names, seen = {}, {}
  for _, name in ipairs(holders) do
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return table.concat(names, ", ")
end

local function why_not_authorised()
  local key = command.keys[1]
  local fences, has_any = covering(key)
  if command.fence and not fences[command.fence] then
    local why = "no live exclusive lease of %s with the fence %s covers %s"
    return not_stored("LEASE_LOST", why:format(holder, command.fence, key.text))
  end
  if command.must_hold and not has_any then
    return not_stored("LEASE_REQUIRED", key.text .. " may be changed under an exclusive lease only")
  end
  local found, holders = conflicts({ key }, EXCLUSIVE, holder, leases)
  if #found > 0 then
    return not_stored("LOCK_CONFLICT", names_of_holders(holders) .. " holds " .. key.text, {}, found)
  end
end

local function why_stale()
  local key = command.keys[1].text
  local version, value = value_of(key)
  if version ~= command.expected_version then
    local why = "%s has version %s, not %s"
    return not_stored("VERSION_CHANGED", why:format(key, version, command.expected_version), { value })
  end
  local names, changed = {}, {}
  for _, read in ipairs(command.reads) do
    version, value = value_of(read.key)
    if version ~= read.version then
      names[#names + 1], changed[#changed + 1] = read.key, value
    end
  end
  if #changed > 0 then
    return not_stored("READ_CHANGED", table.concat(names, ", ") .. " changed since you read it", changed)
  end
end

-- Give a key a value, which is JSON; return JSON of both.
local function put_value(name, value)
  local key, by = text(name), text(holder)
  record("value_put", '{"holder":' .. by .. ',"key":' .. key .. ',"text":' .. value .. "}")
  local body = '{"key":%s,"version":%d,"text":%s,"holder":%s,"at":%s}'
  local stored_value = body:format(key, sequence, value, by, seconds(now))
  write("HSET", VALUES, name, cmsgpack.pack({ sequence, stored_value }))
  return stored_value
end

function decisions.put()
  local refused = why_not_authorised() or why_stale()
  if refused then
    return "NotStored", refused
  end
  return "Stored", ('{"value":%s}'):format(put_value(command.keys[1].text, command.text))
end

-- Keep the result of work that is done once for all, and end its lease and the wait of all who want to do it.
function decisions.finish()
  local lease, refused = held(lease_id)
  if not lease then
    return "NotHeld", refused
  end
  if not lease.is_once then
    local why = "the lease " .. lease_id .. " keeps no result: it is not for work done once"
    return "NotHeld", not_held("NOT_ONCE", lease_id, why)
  end
  put_value(RESULTS .. lease.keys[1].text, command.result)
  for _, waiter in ipairs(waiters) do
    if not waiter.has_ended and waiter.is_once and waiter.keys[1].text == lease.keys[1].text then
      leave(waiter, "done")
    end
  end
  release(lease)
  return "Released", about(lease)
end
