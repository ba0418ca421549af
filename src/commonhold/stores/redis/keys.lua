-- Whether two keys overlap, by the rules of commonhold.kernel.keys. The client takes keys apart: `place` is the scheme
-- and the path, `names` are those of the region, each followed by its ordinal.

local function first_name(key)
  return key.names[1] or ""
end

local function is_shared_header(names)
  return #names == 2 and names[1] == HEADER
end

-- Whether two names may mean one definition: one without an ordinal covers all of them.
local function name_overlaps(left, right, at)
  local mine, theirs = left[at + 1], right[at + 1]
  return left[at] == right[at] and (mine == theirs or mine == 0 or theirs == 0)
end

local function names_overlap(left, right)
  if is_shared_header(left) or is_shared_header(right) then
    return true
  end
  for at = 1, math.min(#left, #right), 2 do
    if not name_overlaps(left, right, at) then
      return false
    end
  end
  return true
end

local function is_below(place, above)
  return place:sub(1, #above + 1) == above .. SEGMENT
end

-- Whether two keys may cover a common byte or a common resource.
local function overlaps(left, right)
  if left.place == right.place then
    return left.is_folder or right.is_folder or names_overlap(left.names, right.names)
  end
  local shorter, longer = left, right
  if #left.place > #right.place then
    shorter, longer = right, left
  end
  return is_below(longer.place, shorter.place)
end

local function names_contain(outer, inner)
  if #outer > #inner then
    return false
  end
  for at = 1, #outer, 2 do
    if outer[at] ~= inner[at] or (outer[at + 1] ~= 0 and outer[at + 1] ~= inner[at + 1]) then
      return false
    end
  end
  return true
end

-- Whether `outer` is `inner` or a container of it.
local function contains(outer, inner)
  if outer.place == inner.place then
    return outer.is_folder or (not inner.is_folder and names_contain(outer.names, inner.names))
  end
  return is_below(inner.place, outer.place) and (outer.is_folder or not outer.is_code)
end
