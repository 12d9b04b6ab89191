-- Busy in middle and leaf.
local function leaf(n)
  local x = n
  for i = 1, 200 do
    x = (x * 31 + i % 7) % 1000003
  end
  if n == 0 then
    return x
  end
  return x + leaf(n - 1)
end
local function middle()
  local words = {}
  for word in ("a bc def "):rep(20):gmatch("%w+") do
    words[#words + 1] = word
  end
  table.sort(words)
  return leaf(5) + #words + leaf(4)
end
while true do
  middle()
end
