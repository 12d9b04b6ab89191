# shellcheck shell=bash disable=SC2154
# The sandwich of a function, of a program whose callers have known parts.

known_callers() {
  cc -O2 -fomit-frame-pointer -o "$work/callers" "$root/bench/programs/callers.c"
  busy "$work/callers" 600 >/dev/null
}

# share NAME: whole percents of the function in the middle that the selected frame has.
share() {
  capture | sed -n "s/^ *$1 .* \([0-9]*\)\.[0-9]% of shared .*/\1/p"
}

# between NAME LEAST MOST: the selected frame comes to that: with few samples chance is large.
between() {
  wait_until "$1 has $2 to $3 % of shared" within "$@"
}
within() {
  local is
  is=$(share "$1")
  [ -n "$is" ] && [ "$is" -ge "$2" ] && [ "$is" -le "$3" ]
}

# in_the_middle NAME: with what stands in the callers of all of them.
in_the_middle() {
  wait_for "^ *$1 +.*self .*total "
  wait_for 'left .*right'
}

test_sandwich_of_a_known_function_has_its_callers_in_their_parts() {
  known_callers
  open_pane 160 40
  start_screen "-p $load --states on"
  keys 3
  wait_for 'select a function in the graph, press s'
  keys 1
  wait_for 'shared'
  select_frame '^shared$' shared
  # All since the start.
  keys m m
  wait_for 'all since the start'
  keys s
  in_the_middle shared
  # Three parts to one, half of them below it; a few tenths are the compiler's and chance.
  # Up goes to the heavier one, which among the first samples may be either.
  keys Up Left
  wait_for '^ *left .* of shared'
  between left 68 82
  keys Right
  wait_for '^ *right .* of shared'
  between right 18 32
  keys Down Down
  wait_for '^ *inner .* of shared'
  between inner 42 58
  # Another one in the middle, and back.
  keys s
  in_the_middle inner
  keys Escape
  in_the_middle shared
  keys Up Left
  wait_for '^ *left .* of shared'
  keys Enter
  wait_gone ' right'
  keys 0
  wait_for ' right'
  keys i
  wait_for 'nothing to flip'
  keys Space
  # A second of what waits: the picture is of the held moment.
  wait_for 'frozen \+[1-9]'
  in_the_middle shared
  keys Escape
  wait_gone 'self .*total .*cpu'
  keys 3
  in_the_middle shared
  resize 40 10
  # So narrow, the middle has the share alone.
  wait_for '^ *shared .*%$'
  resize 80 24
  in_the_middle shared
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  terminal_as_before
}

test_sandwich_exports_the_stacks_through_its_function() {
  known_callers
  open_pane 160 40
  start_screen "-p $load --states on"
  wait_for 'inner'
  select_frame '^inner$' inner
  keys s
  in_the_middle inner
  keys e
  wait_for 'export as'
  keys Enter
  wait_for '\.folded: '
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  local file
  file=$(echo "$work"/flametop-*.folded)
  contains "export" ';left;shared;inner [0-9]+$' "$file"
  if grep -v '^#' "$file" | grep -qv ';inner'; then
    fail "stacks without inner: $(grep -v ';inner' "$file")"
  fi
}

test_sandwich_of_a_replay_is_as_recorded() {
  known_callers
  "$flametop" record -p "$load" -d 5 --format flametop -o "$work/known.flametop"
  kill "$load"
  load=
  open_pane 120 34
  run_line "'$flametop' --replay '$work/known.flametop' --states on"
  wait_for 'replay ended'
  select_frame '^shared$' shared
  keys s
  in_the_middle shared
  keys z
  wait_for 'shared was not seen'
  keys q
  equal "exit code" 0 "$(ended)"
}
