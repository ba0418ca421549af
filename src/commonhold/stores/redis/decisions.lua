-- The decisions, as in commonhold.leases.decide. Each gives the name of the outcome and its JSON.

local decisions = {}

local function not_held(code, id, why)
  return ('{"code":"%s","lease_id":%s,"why":%s}'):format(code, text(id), text(why))
end

-- The live lease with that id; else JSON that says why not.
local function live(id)
  if lease_of[id] then
    return lease_of[id]
  end
  local why = "there is no live lease " .. id .. ": it was released, has expired, or never was"
  return nil, not_held("LEASE_LOST", id, why)
end

-- The live lease with that id, if the holder holds it; else JSON that says why not.
local function held(id)
  local lease, refused = live(id)
  if lease and lease.holder ~= holder then
    local why = "the lease " .. id .. " is held by " .. lease.holder .. ", not by " .. holder
    return nil, not_held("NOT_HOLDER", id, why)
  end
  return lease, refused
end

local function about(lease)
  return lease_json(lease, '{"lease":', "}")
end

local function key_texts(keys)
  local found = {}
  for at, key in ipairs(keys) do
    found[at] = key.text
  end
  return found
end

local function is_same(known)
  local mine, theirs = key_texts(known.keys), key_texts(command.keys)
  return known.holder == holder
    and known.mode == command.mode
    and known.slots == command.slots
    and known.is_once == command.is_once
    and #mine == #theirs
    and table.concat(mine, "\n") == table.concat(theirs, "\n")
end

local function granted(lease)
  return "Granted", lease_json(lease, '{"lease":', ',"wished":' .. wished(lease.holder) .. "}")
end

local function denied(found, code)
  return "Denied", ('{"conflicts":%s,"code":"%s"}'):format(list(found), code)
end

local function new_lease()
  wanted.fence = sequence + 1
  return wanted
end

local function new_waiter()
  local patience = command.patience or 0
  return {
    id = lease_id,
    holder = holder,
    number = sequence + 1,
    queued_at = now,
    ends = now + patience,
    ttl = wanted.ttl,
    patience = patience,
    fixed = fixed,
    replaces = replaces,
    entries = wanted.entries,
    ranges = slice_of_arguments(first_range, last_range),
    said = said,
    task = command.task,
    mode = command.mode,
    keys = command.keys,
    slots = command.slots,
    is_once = command.is_once,
  }
end

-- Give a lease to the holder that asks (again) for it.
local function take(lease)
  if not lease.is_claimed then
    lease.worktree, lease.bases = worktree, bases
    prolong(lease, ttl)
    local body = '{"holder":%s,"lease_id":%s,"deadline":%s,"worktree":%s,"bases":%s}'
    local id, ends = text(lease.id), deadline(lease.ends)
    record("lease_claimed", body:format(text(holder), id, ends, worktree, bases))
  end
  return granted(lease)
end

local function conflicts_of(waiter, claims)
  return (overlapping_claims(waiter.keys, claims or before(waiter)))
end

local function deny(waiter, code, claims)
  local found, keys = conflicts_of(waiter, claims), {}
  for at, key in ipairs(waiter.keys) do
    keys[at] = text(key.text)
  end
  local body = '{"holder":%s,"task":%s,"keys":%s,"mode":"%s","conflicts":%s}'
  record("lease_denied", body:format(text(waiter.holder), text(waiter.task), list(keys), waiter.mode, list(found)))
  return denied(found, code)
end

local function queued(waiter)
  local position = 1
  for _, claim in ipairs(before(waiter)) do
    position = position + (claim.number and 1 or 0)
  end
  local body = '{"waiter":%s,"position":%d,"conflicts":%s}'
  return "Queued", body:format(waiter_json(waiter), position, list(conflicts_of(waiter)))
end

-- Who must leave the line so that `waiter` can wait; nil if it must not wait itself: then nobody else leaves.
local function losers_for(waiter)
  local losers = {}
  waiters[#waiters + 1] = waiter
  local loser = victim(waiter)
  while loser and loser ~= waiter do
    losers[#losers + 1] = loser
    loser.has_ended = true
    loser = victim(waiter)
  end
  table.remove(waiters)
  for _, each in ipairs(losers) do
    each.has_ended = nil
  end
  return not loser and losers or nil
end

-- Stand in line, unless that would close a circle: then its youngest member gives way.
local function wait()
  local waiter = new_waiter()
  local losers = losers_for(waiter)
  if not losers then
    return deny(waiter, "DEADLOCK")
  end
  for _, loser in ipairs(losers) do
    leave(loser, "deadlock")
  end
  waiter = new_waiter()
  if #before(waiter) == 0 then
    return granted(grant(new_lease(), replaces))
  end
  queue(waiter)
  return queued(waiter)
end

local function take_known(known)
  if not is_same(known) then
    return denied({}, "ID_IN_USE")
  end
  if not known.number then
    return take(known)
  end
  see(known)
  return queued(known)
end

function decisions.acquire()
  local known = lease_of[lease_id] or waiter_of[lease_id]
  if known then
    return take_known(known)
  end
  local done = command.is_once and redis.call("HGET", VALUES, RESULTS .. command.keys[1].text)
  if done then
    return "Done", ('{"value":%s}'):format(cmsgpack.unpack(done)[2])
  end
  if replaces ~= "" then
    local _, refused = held(replaces)
    if refused then
      return "NotHeld", refused
    end
  end
  local waiter = new_waiter()
  local dividing = dividing_otherwise(waiter)
  if #dividing > 0 then
    return deny(waiter, "SLOTS_DIFFER", dividing)
  end
  if #before(waiter) == 0 then
    return granted(grant(new_lease(), replaces))
  end
  if command.patience then
    return wait()
  end
  return deny(waiter, "LOCK_CONFLICT")
end

function decisions.renew()
  local lease, refused = held(lease_id)
  if not lease then
    return "NotHeld", refused
  end
  renew(lease, tonumber(ttl), true)
  return "Renewed", about(lease)
end

function decisions.release()
  local waiter = waiter_of[lease_id]
  if waiter and waiter.holder == holder then
    leave(waiter, "cancelled")
    return "Cancelled", ('{"waiter":%s}'):format(waiter_json(waiter))
  end
  local lease, refused = held(lease_id)
  if not lease then
    return "NotHeld", refused
  end
  release(lease)
  return "Released", about(lease)
end

decisions["break"] = function()
  local lease, refused = live(lease_id)
  if not lease then
    return "NotHeld", refused
  end
  local body = '{"holder":%s,"lease_id":%s,"by":%s,"reason":%s}'
  local whose, id, by = text(lease.holder), text(lease.id), text(holder)
  lose_lease(lease, "lease_broken", body:format(whose, id, by, text(command.reason)))
  return "Broken", about(lease)
end

function decisions.ask()
  local lease, refused = live(lease_id)
  if not lease then
    return "NotHeld", refused
  end
  lease.wish = ('{"by":%s,"why":%s}'):format(text(holder), text(command.why))
  write_lease(lease)
  local body = '{"holder":%s,"lease_id":%s,"wish":%s}'
  record("release_asked", body:format(text(lease.holder), text(lease.id), lease.wish))
  return "Asked", about(lease)
end

local function others_than(lease)
  local found = {}
  for _, each in ipairs(leases) do
    if each ~= lease and not shares_slots(each, lease) then
      found[#found + 1] = each
    end
  end
  return found
end

-- Give a lease away, unless what the giver (or anybody) holds beside it stands against the new holder.
function decisions.hand_over()
  local lease, refused = held(lease_id)
  if not lease then
    return "NotHeld", refused
  end
  local found = conflicts(lease.keys, lease.mode, command.to, others_than(lease))
  if #found > 0 then
    return denied(found, "LOCK_CONFLICT")
  end
  if command.to ~= holder then
    has_room, shifted[holder], shifted[command.to] = true, true, true
  end
  forget_lease(lease)
  lease.holder, lease.fence, lease.wish = command.to, sequence + 1, "null"
  lease.entries[1] = command.entry
  local body = '{"holder":%s,"lease_id":%s,"to":%s}'
  write_new_lease(lease, "lease_handed_over", body:format(text(holder), text(lease.id), text(command.to)))
  return "HandedOver", about(lease)
end

function decisions.show()
  return "Acknowledged", "{}"
end

local function nothing_left()
  return "NothingLeft", ('{"lease_id":%s}'):format(text(lease_id))
end

function decisions.leave()
  local packed = redis.call("HGET", LOST, lease_id)
  if not packed then
    return nothing_left()
  end
  local id, changes = text(lease_id), command.changes
  record("work_left", ('{"holder":%s,"lease_id":%s,"changes":%s}'):format(text(holder), id, changes))
  write("HDEL", LOST, lease_id)
  if changes ~= "[]" then
    local _, _, whose, task, worktree = unpack(cmsgpack.unpack(lost[lease_id] or packed))
    local body = '{"lease_id":%s,"holder":%s,"task":%s,"worktree":%s,"changes":%s,"found_at":%s}'
    local work = body:format(id, whose, task, worktree, changes, seconds(now))
    write("HSET", WORKS, lease_id, cmsgpack.pack({ sequence, work }))
  end
  return "Acknowledged", "{}"
end

function decisions.review()
  local packed = redis.call("HGET", WORKS, lease_id)
  if not packed then
    return nothing_left()
  end
  local body = '{"holder":%s,"lease_id":%s,"note":%s}'
  record("work_reviewed", body:format(text(holder), text(lease_id), text(command.note)))
  write("HDEL", WORKS, lease_id)
  return "Acknowledged", ('{"work":%s}'):format(cmsgpack.unpack(packed)[2])
end
