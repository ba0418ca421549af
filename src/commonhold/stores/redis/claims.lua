-- What stands against what: commonhold.kernel.lease and the questions of commonhold.kernel.lease_table.

-- The places in line, as the leases: in their order (those that have ended are marked), and by id.
local waiters, waiter_of = {}, {}

-- Whether a claim excludes that somebody else has an overlapping key in `mode`.
local function stands_against(claim, mode, name)
  return claim.holder ~= name and not (COMPATIBLE):find("," .. claim.mode .. " " .. mode .. ",", 1, true)
end

local function any_overlap(left, right)
  for _, mine in ipairs(left) do
    for _, theirs in ipairs(right) do
      if overlaps(mine, theirs) then
        return true
      end
    end
  end
  return false
end

-- Whether both count slots of the same key, of which each has only one: `same` says whether they must count as many.
local function are_of_slots(claim, other, same)
  local are_counted = claim.slots > 0 and other.slots > 0 and (claim.slots == other.slots) == same
  return are_counted and claim.keys[1].text == other.keys[1].text
end

-- Whether both count among the same slots of the same key: then only their number matters.
local function shares_slots(claim, other)
  return are_of_slots(claim, other, true)
end

-- Whether a waiter cannot have its keys while the other has its own.
local function is_in_the_way(claim, waiter)
  return not shares_slots(claim, waiter) and stands_against(claim, waiter.mode, waiter.holder) and any_overlap(claim.keys, waiter.keys)
end

local function leases_of(name)
  local found = {}
  for _, lease in ipairs(leases) do
    if lease.holder == name and not lease.has_ended then
      found[#found + 1] = lease
    end
  end
  return found
end

-- Whether a waiter waits for one of `mine`: to stand behind it would be a deadlock.
local function waits_for_any(waiter, mine)
  for _, lease in ipairs(mine) do
    if is_in_the_way(lease, waiter) then
      return true
    end
  end
  return false
end

-- What stands between a waiter and its lease: leases of others, and those before it in line.
local function before(waiter)
  local found, sharing = {}, {}
  local function look_at(claim)
    if is_in_the_way(claim, waiter) then
      found[#found + 1] = claim
    elseif shares_slots(claim, waiter) then
      sharing[#sharing + 1] = claim
    end
  end
  for _, lease in ipairs(leases) do
    if not lease.has_ended then
      look_at(lease)
    end
  end
  local mine = #waiters > 0 and leases_of(waiter.holder)
  for _, other in ipairs(waiters) do
    local is_ahead = not other.has_ended and other.number < waiter.number
    if is_ahead and not waits_for_any(other, mine) then
      look_at(other)
    end
  end
  if #sharing >= waiter.slots then
    for _, claim in ipairs(sharing) do
      found[#found + 1] = claim
    end
  end
  return found
end

-- The claims that count the slots of the same key, but another number of them.
local function dividing_otherwise(waiter)
  local found = {}
  for _, claims in ipairs({ leases, waiters }) do
    for _, claim in ipairs(claims) do
      if not claim.has_ended and are_of_slots(claim, waiter, false) then
        found[#found + 1] = claim
      end
    end
  end
  return found
end

-- An index of claimed keys by place and first name, so that many keys against many claims is no product of both.
local function new_index()
  return { names_at = {}, below = {} }
end

local function names_of(index, place)
  local names = index.names_at[place]
  if not names then
    names = { order = {}, entries = {} }
    index.names_at[place] = names
    for stop in place:gmatch("()" .. SEGMENT) do
      local above = place:sub(1, stop - 1)
      index.below[above] = index.below[above] or {}
      table.insert(index.below[above], place)
    end
  end
  return names
end

local function add_to(index, claim)
  for _, key in ipairs(claim.keys) do
    local names, name = names_of(index, key.place), first_name(key)
    if not names.entries[name] then
      names.entries[name] = {}
      table.insert(names.order, name)
    end
    table.insert(names.entries[name], { key = key, claim = claim })
  end
end

local function visit_named(index, place, wanted, visit)
  local names = index.names_at[place] or { order = {} }
  for _, name in ipairs(wanted or names.order) do
    for _, entry in ipairs(names.entries and names.entries[name] or {}) do
      visit(entry)
    end
  end
end

-- Call `visit` with all that may overlap `key`: first above it, then at its place, then below it.
local function visit_near(index, key, visit)
  local place, name = key.place, first_name(key)
  for stop in place:gmatch("()" .. SEGMENT) do
    visit_named(index, place:sub(1, stop - 1), nil, visit)
  end
  local is_part = name ~= "" and name ~= HEADER
  visit_named(index, place, is_part and { name, "", HEADER } or nil, visit)
  for _, other in ipairs(index.below[place] or {}) do
    visit_named(index, other, nil, visit)
  end
end

-- Each claim with a key that overlaps `key`, once, with that key.
local function overlapping(index, key)
  local found, seen = {}, {}
  visit_near(index, key, function(entry)
    if not seen[entry.claim.id] and overlaps(entry.key, key) then
      seen[entry.claim.id] = true
      found[#found + 1] = entry
    end
  end)
  return found
end

local function conflict_json(key, held, claim)
  return string.format(
    '{"key":%s,"held":%s,"holder":%s,"task":%s,"mode":"%s","expires_at":%s,"is_waiting":%s}',
    text(key.text),
    text(held.text),
    text(claim.holder),
    text(claim.task),
    claim.mode,
    seconds(claim.ends),
    tostring(claim.number ~= nil)
  )
end

-- JSON of the claims that overlap `keys`, up to a limit, and whose they are. A holder that claims one key several times
-- in one mode is named once, with the claim that ends last.
local function overlapping_claims(keys, claims)
  local index, named, at = new_index(), {}, {}
  for _, claim in ipairs(claims) do
    add_to(index, claim)
  end
  for _, key in ipairs(keys) do
    for _, entry in ipairs(overlapping(index, key)) do
      local claim = entry.claim
      local same = table.concat({ key.text, entry.key.text, claim.holder, claim.mode, tostring(claim.number ~= nil) }, "\0")
      local known = named[at[same] or 0]
      if known and claim.ends > known.claim.ends then
        known.claim = claim
      elseif not known and #named < MAX_CONFLICTS then
        named[#named + 1] = { key = key, held = entry.key, claim = claim }
        at[same] = #named
      end
    end
  end
  local found, holders = {}, {}
  for number, each in ipairs(named) do
    found[number] = conflict_json(each.key, each.held, each.claim)
    holders[number] = each.claim.holder
  end
  return found, holders
end

-- The same of those that stand against somebody having `keys` in `mode`.
local function conflicts(keys, mode, name, claims)
  local against = {}
  for _, claim in ipairs(claims) do
    if not claim.has_ended and stands_against(claim, mode, name) then
      against[#against + 1] = claim
    end
  end
  return overlapping_claims(keys, against)
end
