% Busy in middle and leaf.
1;
function x = leaf (n)
  x = n;
  for i = 1:200
    x = mod (x * 31 + mod (i, 7), 1000003);
  end
  if n > 0
    x = x + leaf (n - 1);
  end
end
function x = middle ()
  x = leaf (5) + sum (sum (rand (150) * rand (150))) + leaf (4);
end
while true
  middle ();
end
