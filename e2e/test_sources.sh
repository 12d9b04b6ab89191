# shellcheck shell=bash disable=SC2154
# Sources of events on the screen: added, looked at, switched off, exported; and all operations of a graph for their measures.

# add SPEC: types it into the list of sources, and Enter.
add() {
  keys a
  wait_for 'add a source'
  tmux_ send-keys -l -- "$1"
  keys Enter
}

# The window of all time.
all_time() {
  wait_until "the window is all time" next_window
}
next_window() {
  keys m
  sleep 0.5
  capture | grep -q 'all since the start'
}

test_sources_are_added_looked_at_switched_off_and_exported() {
  page_faults
  open_pane 120 40
  start_screen "-p $load"
  keys 9
  wait_for 'no source of events is on'
  keys a
  wait_for 'the first 200 of|[0-9] sources'
  wait_for 'page faults'
  tmux_ send-keys -l -- 'fault,weigth=1'
  keys Enter
  wait_for '▲'
  wait_for 'no option is called weigth; did you mean weight'
  wait_for 'add a source fault,weigth=1'
  # The cursor is at the column that is meant.
  keys C-e C-u
  tmux_ send-keys -l -- fault
  keys Enter
  wait_for 'it counts; enter shows its graph'
  add "uprobe:$work/faults:touch,weight=arg0"
  # Not its notice: the one of the source before has the same words.
  wait_for 'touch,weight=arg0 +0 +0 +0 '
  wait_gone 'add a source'
  echo go >&9
  # Two calls, which touch 1,000 pages: the counts of the kernel, and the weights by powers of two.
  wait_for 'touch,weight=arg0 .* 2 +1,000 '
  wait_for 'half weigh less than 512 events, 99 of 100 less than 1,024 events'
  keys Up
  wait_for 'each event weighs 1 events'
  keys Enter
  wait_for 'shows fault'
  wait_for ' large '
  wait_for 'fault +in events|events .*1 stack per|all sampled'
  keys 9 Space
  wait_for 'off: fault; what it counted stays'
  wait_for '› fault +off '
  counted=$(capture | sed -nE 's/.*› fault +off +[0-9,]+ +([0-9,]+) .*/\1/p')
  keys 1
  all_time
  # What has no stack of its own is placed within two seconds.
  wait_for "^ all .* of all +$counted events"
  keys e
  wait_for 'export as'
  keys Enter
  # Not its notice: that of a long path is cut.
  wait_until "the file is there" is_exported
  exported=$(echo "$work"/flametop-*.folded)
  contains "unit" '^# unit: events$' "$exported"
  contains "measure" '^# measure: fault, in events$' "$exported"
  total=$(sed -n 's/^# exact total: //p' "$exported")
  sum=$(grep -v '^#' "$exported" | awk '{ sum += $NF } END { print sum + 0 }')
  equal "sum of the stacks" "$total" "$sum"
  large=$(grep -v '^#' "$exported" | awk '/;large;/ { sum += $NF } END { print sum + 0 }')
  # Some 45 stacks stand for the 1,000: four standard errors.
  if [ "$large" -lt 400 ] || [ "$large" -gt 950 ]; then
    fail "$large of 700 page faults are below large: $(cat "$exported")"
  fi
  keys 9 x
  wait_for 'removed: fault'
  wait_gone '› fault'
  wait_for '› time of tasks'
  exec 9>&-
  keys q
  equal "exit code" 0 "$(ended)"
}

test_measures_have_all_operations_of_a_graph() {
  cc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$work/pages" "$root/e2e/programs/pages.c" || fail "cc failed"
  "$flametop" record --format flametop -e fault,weight=bytes -e switch --force -o "$work/two.flametop" -- "$work/pages" 8 2>"$work/err" \
    || fail "exit code $?: $(cat "$work/err")"
  open_pane 120 40
  run_line "'$flametop' --replay '$work/two.flametop' --replay-speed 100"
  wait_for 'replay ended'
  keys 9 Space
  wait_for 'switched only where this machine is sampled'
  keys 1 v
  wait_for 'shows fault,weight=bytes'
  operations 'bytes' '[0-9.]+ [KM]iB' many
  keys v
  wait_for 'shows switch'
  operations 'events' '[0-9,]+ events' usleep
  keys v
  wait_for 'shows the time of tasks'
  keys q
  equal "exit code" 0 "$(ended)"
}

# operations UNIT AMOUNT FUNCTION: goes through all operations of the measure that is shown, and back to its whole graph.
operations() {
  local unit=$1 amount=$2 function=$3
  all_time
  select_frame "^$function" "$function"
  shows "$amount"
  keys 2
  wait_for 'callers'
  wait_for " $function"
  keys 1
  select_frame "^$function" "$function"
  keys s
  wait_for 'sandwich'
  wait_for "$amount"
  keys 4
  wait_for "self +total .*$unit"
  # Not among the first ones: nothing is spent in the function itself.
  keys /
  tmux_ send-keys -l -- "^$function"
  wait_for "▌ $function"
  keys Escape
  wait_gone "\^$function"
  keys 5
  wait_for "pid .* $unit .*comm"
  wait_for "first by $unit"
  wait_for "$amount|[0-9]+ .*pages"
  keys H
  wait_for 'a row for each thread'
  keys H 1 g
  wait_for 'process'
  keys u f
  wait_for "only"
  wait_for " $function"
  keys u u /
  tmux_ send-keys -l -- "^$function"
  wait_for 'matched '
  keys Escape t
  wait_for '/s '
  keys Left Left [ Left Left ]
  wait_for 'range '
  keys Escape m
  wait_gone 'range '
  keys b
  wait_for 'compared with'
  keys B
  wait_gone 'compared with'
  keys Space
  wait_for 'frozen'
  keys Space
  wait_gone 'frozen \+'
  keys o
  wait_for "only time has states; this graph is of $unit"
}
