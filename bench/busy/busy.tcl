# Busy in middle and leaf.
proc leaf {n} {
  set x $n
  for {set i 0} {$i < 200} {incr i} {
    set x [expr {($x * 31 + $i % 7) % 1000003}]
  }
  if {$n == 0} {
    return $x
  }
  return [expr {$x + [leaf [expr {$n - 1}]]}]
}
proc middle {} {
  return [expr {[leaf 5] + [leaf 4] + [string length [lsort [split "d c b a" " "]]]}]
}
while 1 {
  middle
}
