-- What is over is ended first (in an older state all is), and who waits for it is served first and last. Leaving work is about the holder, who may
-- be long dead; all else is a sign of life.

if has_lost_events then
  end_all()
else
  clear()
end
if command_name ~= "leave" then
  hear(holder, lease_id)
end
settle()
local kind, body = decisions[command_name]()
settle()
if count_line() ~= line_length then
  write("HSET", LEASES, LINE, count_line())
end
take_effect()
return answer(kind, body)
