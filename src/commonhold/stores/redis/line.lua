-- Places in line as they are stored, and their JSON; and JSON of what else there is.

local text = cjson.encode

local function list(parts)
  return "[" .. table.concat(parts, ",") .. "]"
end

local function deadline(instant)
  local number = seconds(instant)
  return '{"epoch":"redis","ticks":' .. number .. ',"wall":' .. number .. "}"
end

local function packed_waiter(waiter)
  return cmsgpack.pack({
    waiter.id,
    waiter.holder,
    waiter.number,
    waiter.queued_at,
    waiter.ends,
    waiter.ttl,
    waiter.patience,
    waiter.fixed,
    waiter.replaces,
    waiter.entries,
    waiter.ranges,
    waiter.said,
  })
end

local function unpacked_waiter(parts)
  return {
    id = parts[1],
    holder = parts[2],
    number = parts[3],
    queued_at = parts[4],
    ends = parts[5],
    ttl = parts[6],
    patience = parts[7],
    fixed = parts[8],
    replaces = parts[9],
    entries = parts[10],
    ranges = parts[11],
    said = parts[12],
  }
end

local function waiter_json(waiter)
  return string.format(
    '{%s,"number":%d,"holder":%s,"queued_at":%s,"deadline":%s,"patience_seconds":%s,"ttl_seconds":%s,"replaces":%s}',
    waiter.fixed,
    waiter.number,
    text(waiter.holder),
    seconds(waiter.queued_at),
    deadline(waiter.ends),
    seconds(waiter.patience),
    seconds(waiter.ttl),
    waiter.replaces ~= "" and text(waiter.replaces) or "null"
  )
end
