# Busy in middle and leaf.
def leaf(n)
  x = n
  200.times { |i| x = (x * 31 + i % 7) % 1_000_003 }
  n.zero? ? x : x + leaf(n - 1)
end

def middle = leaf(5) + leaf(4)

loop { middle }
