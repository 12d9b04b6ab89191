# Busy in middle and leaf, as the other programs of this folder are.
sub leaf {
  my $n = shift;
  my $x = $n;
  $x = ($x * 31 + $_ % 7) % 1000003 for 1 .. 200;
  return $n == 0 ? $x : $x + leaf($n - 1);
}
sub middle { return leaf(5) + leaf(4) }
middle() while 1;
