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
    if lease.mode == EXCLUSIVE and covers(lease, key) then
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

function decisions.put()
  local refused = why_not_authorised() or why_stale()
  if refused then
    return "NotStored", refused
  end
  local key, by = text(command.keys[1].text), text(holder)
  record("value_put", ('{"holder":%s,"key":%s,"text":%s}'):format(by, key, command.text))
  local body = '{"key":%s,"version":%d,"text":%s,"holder":%s,"at":%s}'
  local value = body:format(key, sequence, command.text, by, seconds(now))
  write("HSET", VALUES, command.keys[1].text, cmsgpack.pack({ sequence, value }))
  return "Stored", ('{"value":%s}'):format(value)
end
