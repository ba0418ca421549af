-- One decision under way, as commonhold.kernel.lease_table.Turn: what becomes of the leases and places in line, and the
-- events that make it so.

local command = cmsgpack.unpack(said)

local function understand(claim)
  local claimed = cmsgpack.unpack(claim.said)
  claim.task, claim.mode, claim.keys = claimed.task, claimed.mode, claimed.keys
  claim.slots, claim.is_once = claimed.slots or 0, claimed.is_once or false
end

local function is_older(left, right)
  return (left.number or left.fence) < (right.number or right.fence)
end

-- As many wait for the same, no range is looked into twice.
local function find_in(ranges)
  for at = 1, #ranges, 2 do
    local range = ranges[at] .. ranges[at + 1]
    if not looked_for[range] then
      looked_for[range] = true
      find_between(ranges[at], ranges[at + 1])
    end
  end
end

-- Of those that are over, only the first are ended here if the command is not about them: nobody waits long for them.
if command_name ~= "leave" then
  find_between("[" .. DUE, "(" .. DUE .. string.format("%016d", now + 1), ENDED_BESIDE)
end
if wanted and replaces ~= "" and not looked_for[replaces] then
  local replaced = redis.call("HGET", LEASES, replaces)
  if replaced then
    take(replaced)
  end
end
-- In an older state all leases are concerned: whoever held them may have released them since.
if has_lost_events then
  local stored_leases = redis.call("HGETALL", LEASES)
  for at = 1, #stored_leases, 2 do
    local id = stored_leases[at]
    if id:sub(1, 1) ~= MARK and not lease_of[id] then
      looked_for[id] = true
      take(stored_leases[at + 1])
    end
  end
end
for _, packed in ipairs(redis.call("HVALS", WAITERS)) do
  local waiter = unpacked_waiter(cmsgpack.unpack(packed))
  waiters[#waiters + 1], waiter_of[waiter.id] = waiter, waiter
  understand(waiter)
  find_in(waiter.ranges)
end
for _, lease in ipairs(leases) do
  understand(lease)
end
table.sort(leases, is_older)
table.sort(waiters, is_older)

-- All is in sight now. From here on nothing is written before everything is decided.
local effects = {}
write = function(...)
  effects[#effects + 1] = { ... }
end

local function take_effect()
  for _, effect in ipairs(effects) do
    redis.call(unpack(effect))
  end
  local first = redis.call("ZRANGEBYLEX", INDEX, "[" .. DUE, "(" .. AFTER_DUE, "LIMIT", 0, 1)[1]
  local ends = first and tonumber(first:sub(2, 17)) or NEVER
  if ends ~= soonest then
    redis.call("HSET", LEASES, SOONEST, string.format("%d", ends))
  end
end

-- Whether somebody may be served; and the holders of which a lease has ended or changed hands, whose places in line may
-- be behind others now.
local has_room, shifted = false, {}

local function end_lease(lease)
  lease.has_ended = true
  lease_of[lease.id] = nil
  forget_lease(lease)
  has_room, shifted[lease.holder] = true, true
end

-- What is kept of a lease that its holder did not give up: there may be partial work under it.
local lost = {}

local function lose_lease(lease, kind, body)
  if lease.bases ~= "[]" then
    local kept = { lease.id, lease_json(lease, "", ""), text(lease.holder), text(lease.task), lease.worktree }
    lost[lease.id] = cmsgpack.pack(kept)
    write("HSET", LOST, lease.id, lost[lease.id])
  end
  end_lease(lease)
  record(kind, body)
end

local function expire(lease)
  local body = '{"holder":%s,"lease_id":%s,"deadline":%s}'
  lose_lease(lease, "lease_expired", body:format(text(lease.holder), text(lease.id), deadline(lease.ends)))
end

local function release(lease)
  end_lease(lease)
  record_release(lease)
end

local function write_lease(lease)
  write("HSET", LEASES, lease.id, packed_lease(lease))
end

local function end_at(claim, ends)
  write("ZREM", INDEX, due_entry(claim))
  claim.ends = ends
  write("ZADD", INDEX, 0, due_entry(claim))
end

-- Let a lease last for a time from now on, by somebody who claims it.
local function prolong(lease, lasting)
  end_at(lease, now + lasting)
  lease.is_claimed = true
  write_lease(lease)
end

-- Let a lease last so long from now. `asked` says that the holder asked for this time to live; else it is its own.
local function renew(lease, lasting, asked)
  lease.ttl = lasting
  prolong(lease, lasting)
  local body = '{"holder":%s,"lease_id":%s,"deadline":%s,"ttl_seconds":%s}'
  local time_to_live = asked and seconds(lasting) or "null"
  record("lease_renewed", body:format(text(lease.holder), text(lease.id), deadline(lease.ends), time_to_live))
end

local function free_slot(wanted_lease)
  local taken, slot = {}, 1
  for _, lease in ipairs(leases) do
    if not lease.has_ended and shares_slots(lease, wanted_lease) then
      taken[lease.slot] = true
    end
  end
  while taken[slot] do
    slot = slot + 1
  end
  return slot
end

-- Begin a lease, which has the next event's number as its fence; it takes the place of the one that it replaces. If it
-- counts among slots, it gets the lowest free one.
local function grant(lease, replaced_id)
  understand(lease)
  if lease.slots > 0 then
    lease.slot = free_slot(lease)
  end
  leases[#leases + 1], lease_of[lease.id] = lease, lease
  write_new_lease(lease, "lease_granted", lease_json(lease, '{"lease":', "}"))
  local replaced = lease_of[replaced_id]
  if replaced and replaced.holder == lease.holder then
    release(replaced)
  end
  return lease
end

local function write_waiter(waiter)
  write("HSET", WAITERS, waiter.id, packed_waiter(waiter))
end

-- What a place in line is found by: each key, with a mark. The first entry of the lease to be is for its holder.
local function entries_of(waiter)
  local entries = {}
  for at = 2, #waiter.entries do
    entries[at - 1] = waiter.entries[at]:sub(1, -#waiter.id - 1) .. WAITS .. waiter.id
  end
  return entries
end

local function end_waiter(waiter)
  waiter.has_ended = true
  waiter_of[waiter.id] = nil
  write("HDEL", WAITERS, waiter.id)
  drop_entries(due_entry(waiter), entries_of(waiter))
end

local function leave(waiter, why)
  end_waiter(waiter)
  local body = '{"holder":%s,"lease_id":%s,"why":"%s"}'
  record("waiter_left", body:format(text(waiter.holder), text(waiter.id), why))
  has_room = true
end

local function queue(waiter)
  waiters[#waiters + 1], waiter_of[waiter.id] = waiter, waiter
  write_waiter(waiter)
  add_entries(due_entry(waiter), entries_of(waiter))
  record("lease_queued", ('{"waiter":%s}'):format(waiter_json(waiter)))
end

local function count_line()
  local length = 0
  for _ in pairs(waiter_of) do
    length = length + 1
  end
  return length
end

-- Let a waiter that showed a sign of life keep its place.
local function see(waiter)
  if waiter.ends - now < SIGN_OF_LIFE * waiter.patience then
    end_at(waiter, now + waiter.patience)
    write_waiter(waiter)
    local body = '{"holder":%s,"lease_id":%s,"deadline":%s}'
    record("waiter_seen", body:format(text(waiter.holder), text(waiter.id), deadline(waiter.ends)))
  end
end

-- End what is over: leases and places in line whose time has run out.
local function clear()
  for _, lease in ipairs(leases) do
    if now >= lease.ends then
      expire(lease)
    end
  end
  for _, waiter in ipairs(waiters) do
    if now >= waiter.ends then
      leave(waiter, "timed_out")
    end
  end
end

-- End all leases and places in line of an older state, as commonhold.stores.reset_events.
local function end_all()
  if #leases + #waiters > 0 then
    record("state_reset", ('{"holder":%s}'):format(text(ITSELF)))
  end
  for _, waiter in ipairs(waiters) do
    leave(waiter, "cancelled")
  end
  for _, lease in ipairs(leases) do
    local body = '{"holder":%s,"lease_id":%s,"by":%s,"reason":%s}'
    local whose, id = text(lease.holder), text(lease.id)
    lose_lease(lease, "lease_broken", body:format(whose, id, text(ITSELF), text(REASON)))
  end
end

-- A write slot is for one moment, whoever lives.
local function is_for_slots(lease)
  return lease.fixed:find(KEYS_OF_SLOTS, 1, true) ~= nil
end

-- Let the leases of a holder that showed a sign of life last on; `besides` is one to leave alone.
local function hear(name, besides)
  for _, lease in ipairs(leases_of(name)) do
    local is_short = lease.is_claimed and lease.ends - now < SIGN_OF_LIFE * lease.ttl
    if lease.id ~= besides and is_short and not is_for_slots(lease) then
      renew(lease, lease.ttl)
    end
  end
end

-- The lease that was waited for. It lasts as the place in line did, until the waiter shows that it is there.
local function unclaimed(waiter)
  return {
    id = waiter.id,
    holder = waiter.holder,
    fence = sequence + 1,
    granted_at = now,
    ends = now + waiter.patience,
    ttl = waiter.ttl,
    is_claimed = false,
    fixed = waiter.fixed,
    worktree = '""',
    bases = "[]",
    wish = "null",
    entries = waiter.entries,
    said = waiter.said,
  }
end

-- Whether somebody waits for just what it has, in another mode.
local function is_upgrade(waiter, replaced)
  if not replaced.is_claimed or replaced.holder ~= waiter.holder then
    return false
  end
  understand(replaced)
  for at = 1, math.max(#waiter.keys, #replaced.keys) do
    local mine, theirs = waiter.keys[at], replaced.keys[at]
    if not mine or not theirs or mine.text ~= theirs.text then
      return false
    end
  end
  return true
end

local function grant_waiter(waiter)
  end_waiter(waiter)
  local lease, replaced = unclaimed(waiter), lease_of[waiter.replaces]
  -- What takes the place of a lease that its holder has need not be come for, and goes on from the same.
  if replaced and is_upgrade(waiter, replaced) then
    lease.ends, lease.is_claimed = now + lease.ttl, true
    lease.worktree, lease.bases = replaced.worktree, replaced.bases
  end
  return grant(lease, waiter.replaces)
end

local function is_free(waiter, index)
  local mine, slots_left = leases_of(waiter.holder), waiter.slots
  for _, key in ipairs(waiter.keys) do
    for _, entry in ipairs(overlapping(index, key)) do
      local claim = entry.claim
      local is_sharing = shares_slots(claim, waiter)
      local is_passed = claim.number and waits_for_any(claim, mine)
      if (is_sharing or stands_against(claim, waiter.mode, waiter.holder)) and not is_passed then
        slots_left = slots_left - 1
        if not is_sharing or slots_left == 0 then
          return false
        end
      end
    end
  end
  return true
end

local function serve_once()
  local index = new_index()
  for _, lease in ipairs(leases) do
    if not lease.has_ended then
      add_to(index, lease)
    end
  end
  for _, waiter in ipairs(waiters) do
    if not waiter.has_ended then
      add_to(index, is_free(waiter, index) and grant_waiter(waiter) or waiter)
    end
  end
end

-- Grant what has become free, to whoever waited longest for it.
local function serve()
  while has_room do
    has_room = false
    serve_once()
  end
end

-- JSON of the leases of a holder that somebody asks it to release.
local function wished(name)
  local found = {}
  for _, lease in ipairs(leases_of(name)) do
    if lease.wish ~= "null" then
      found[#found + 1] = lease_json(lease, "", "")
    end
  end
  return list(found)
end
