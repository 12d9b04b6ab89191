# shellcheck shell=bash disable=SC2154
# Functions and tasks in tables, beside what they are compared with.

test_tables_compare_with_what_was_before() {
  # A name that nothing else on the machine has.
  local known=known$$
  cc -O2 -fomit-frame-pointer -o "$work/$known" "$root/bench/programs/split.c"
  busy "$work/$known" 600 >/dev/null
  open_pane 160 45
  start_screen "-c $known"
  wait_for 'seventy'
  keys m m m
  wait_for 'the last 10 s'
  keys b
  wait_for 'compared with'
  keys 5
  wait_for 'was +cpu +change .*comm'
  wait_for " run .*$known"
  kill "$load"
  # The arrow is of a change that samples can tell: on a busy machine the load has too few.
  wait_for " gone .* (▼ *)?-[0-9.]+% .*$known"
  keys 4
  wait_for 'was +self +change +was +total +change'
  wait_for ' 0[.]0% +(▼ *)?-[0-9.]+% .*seventy'
  keys s s
  wait_for 'first by change of self'
  keys B
  wait_gone 'was +self'
  keys q
  equal "exit code" 0 "$(ended)"
}
