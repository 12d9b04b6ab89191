<?php
// Busy in middle and leaf.
function leaf($n) {
  $x = $n;
  for ($i = 0; $i < 200; $i++) {
    $x = ($x * 31 + $i % 7) % 1000003;
  }
  return $n == 0 ? $x : $x + leaf($n - 1);
}
function middle() {
  return leaf(5) + strlen(preg_replace('/(\w+) \1/', '$1', str_repeat('a b ', 50))) + leaf(4);
}
set_time_limit(0);
while (true) {
  middle();
}
