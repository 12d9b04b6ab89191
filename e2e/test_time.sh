# shellcheck shell=bash disable=SC2154
# The past on the screen: ranges of the strip, trends, comparisons. The load is a service that is released: after USR1 its time
# is spent in another function.

# release_load: starts it; `released` makes it go on with the new code.
# Not of less priority than the tests: windows are short, and must have samples enough.
release_load() {
  cc -O2 -fomit-frame-pointer -o "$work/release" "$root/bench/programs/release.c"
  "$work/release" 900 &
  load=$!
}
released() {
  kill -USR1 "$load"
}

# select_function NAME: here there is room for what its share is of.
select_function() {
  select_frame "^$1\$" "$1"
  wait_for "^ $1 .*%( ±[ 0-9.]+)? of all"
}

# seconds_pass N: of those that the header counts.
seconds_pass() {
  local until
  wait_for 'live [0-9]+:'
  until=$(($(run_seconds) + $1))
  wait_until "$1 s pass" run_reaches $until
}
run_seconds() {
  capture | sed -n '1s/.*live \([0-9]*\):\([0-9]*\).*/\1 \2/p' | awk '{ print $1 * 60 + $2 }'
}
run_reaches() {
  local now
  now=$(run_seconds)
  [ -n "$now" ] && [ "$now" -ge "$1" ]
}

# ground_of TEXT: the colour behind the first cell that shows it, as tmux has it: the last that was set before.
ground_of() {
  tmux_ capture-pane -e -p | sed -n '5,20p' | sed -n "s/$1.*//p" | head -n 1 |
    grep -oE '48;[0-9;]*m' | tail -n 1
}

# column_of REGEX ROW: the column of the screen where it ends, from 1.
column_of() {
  capture | sed -n "$2p" | LC_ALL=C.UTF-8 grep -oE "^.*($1)" | tr -d '\n' | LC_ALL=C.UTF-8 wc -m
}

test_time_a_range_is_what_the_graph_shows() {
  release_load
  open_pane 140 40
  start_screen "-p $load --states on"
  wait_for 'older'
  # What is older than the signal is in the graph of a range before it, and of no later one.
  seconds_pass 3
  released
  keys m m
  wait_for 'all since the start'
  wait_for 'newer'
  seconds_pass 2
  keys t
  wait_for 'to 0 s ago: busy [0-9.]+ cpu, waiting [0-9.]+'
  # The second that is now comes to its end, and the graph stays with it.
  keys '['
  wait_for 'range [0-9]+ s, [0-9]+ s ago'
  wait_for 'the graph shows it'
  wait_gone 'older'
  wait_for 'newer'
  shows '● live'
  keys Home '['
  wait_for 'older'
  keys Enter
  wait_for 'range [0-9]+ s, [1-9][0-9]* s ago'
  # Frozen and live again: the range stays.
  keys Space
  wait_for '❚❚ frozen \+[1-9].*range [0-9]+ s, [0-9]+ s ago'
  keys Space
  wait_for '● live .*range'
  # Other views say whether it is theirs.
  keys 8
  wait_for '^ passes +[0-9,]+ of [0-9,]+ due'
  wait_gone 'range [0-9]+ s'
  keys 1
  wait_for 'range [0-9]+ s'
  keys Escape
  wait_for 'no range any more: all since the start'
  wait_gone 'range [0-9]+ s, '
  wait_for 'newer'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
}

test_time_a_range_is_dragged_and_exported() {
  open_pane 140 40
  start_screen ''
  seconds_pass 6
  right=$(capture | grep -nE 'busy [0-9.]+ cpu' | tail -n 1 | cut -d: -f 1)
  column=$(column_of '▁|▂|▃|▄|▅|▆|▇|█' "$right")
  tmux_ send-keys -l $'\033'"[<0;$((column - 4));${right}M"
  tmux_ send-keys -l $'\033'"[<32;$((column - 5));${right}M"
  tmux_ send-keys -l $'\033'"[<32;$((column - 6));${right}M"
  tmux_ send-keys -l $'\033'"[<0;$((column - 6));${right}m"
  wait_for 'range [0-9]+ s, [0-9]+ s ago'
  keys e
  wait_for 'folded'
  keys Enter
  wait_until "the file is there" is_exported
  contains "the export's window" '^# window: [0-9.]+ s, from .* to .*, a range [0-9.]+ s ago$' \
    "$work"/flametop-*.folded
  keys q
  ended >/dev/null
}

# Bursts of 300 ms, each two seconds: the cursor goes back cell by cell until one is of a burst.
test_time_a_burst_is_a_bright_cell_with_a_graph() {
  cc -O2 -fno-omit-frame-pointer -o "$work/bursts" "$root/bench/programs/bursts.c"
  # In real time: beside other tests a burst would be a paler cell.
  chrt -f 1 "$work/bursts" 900 300000 2000000 0 >/dev/null &
  load=$!
  open_pane 140 40
  start_screen "-p $load --states on"
  wait_for 'burst'
  seconds_pass 5
  keys F
  wait_for 'a row is 40 ms'
  wait_for ' s ago: ([0-9.]+ of [0-9]+ cpu|nothing is known)'
  wait_until "a cell of a burst is found" is_on_a_burst
  keys Enter
  wait_for 'range [0-9]+ ms, [0-9]+ s ago'
  wait_for 'the graph'
  wait_for 'burst'
  keys Escape
  wait_for 'no range any more'
  keys F
  wait_gone 'a row is'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
}
is_on_a_burst() {
  capture | grep -qE ' s ago: (0\.[6-9]|1\.)[0-9]* of [0-9]+ cpu' && return 0
  keys Down
  return 1
}

# Long: a window must pass, and the window before it.
test_trend_of_the_selected_frame_has_its_sign() {
  release_load
  open_pane 140 40
  start_screen "-p $load --states on"
  wait_for 'older'
  keys m m m
  wait_for 'the last 10 s'
  select_function older
  wait_for '^ older .* of all · self +[1-9][0-9.]*%'
  # The window before is known, and there is no change.
  wait_for '^ older +[+-][0-9.]+% +[0-9.]+%( ±[ 0-9.]+)? of all'
  released
  # Of three quarters less than half is left: the other one's growth is beyond doubt too.
  wait_for '^ older +▼ -[0-9.]+% +[1-4]?[0-9]\.[0-9]%( ±[ 0-9.]+)? of all'
  keys Space
  wait_for '❚❚ frozen'
  select_function newer
  wait_for '^ newer +▲ \+[0-9.]+% +[0-9.]+%( ±[ 0-9.]+)? of all'
  keys q
  ended >/dev/null
  kill "$load"
}

colours_differ() {
  new=$(ground_of newer)
  [ -n "$new" ] && [ "$new" != "$(ground_of older)" ]
}
test_compare_shows_what_grew_and_what_is_gone() {
  release_load
  open_pane 140 40
  start_screen "-p $load --states on"
  wait_for 'older'
  keys m m m
  wait_for 'the last 10 s'
  seconds_pass 4
  keys B
  wait_for 'nothing is compared'
  keys b
  wait_for 'compared from now on with these [0-9]+ s'
  wait_for 'compared with [0-9]+ s, [0-9]+ s ago .*■ more +■ less +■ the same'
  released
  wait_for 'newer'
  # The window passes: what was there before is a ghost, as wide as it was.
  select_function newer
  wait_for '^ newer +0\.0% → [1-9][0-9.]*% of all, new'
  select_function older
  wait_for '^ older +[1-9][0-9.]*% → 0\.0% of all, gone'
  select_function steady
  wait_until "newer and older are of different colours" colours_differ
  # It goes on in other shapes, frozen, and beside a range.
  keys Space
  wait_for '❚❚ frozen'
  wait_for 'older'
  keys Space
  wait_for '● live'
  keys c
  wait_for 'esc closes'
  tmux_ send-keys -l release
  wait_for 'comm release .* 1 of '
  keys Enter
  wait_gone 'esc closes'
  wait_for 'compared with'
  wait_for 'older'
  keys Escape
  wait_for 'the comparison is over'
  wait_gone 'older'
  keys b
  wait_for '── compared with'
  keys B
  wait_gone '── compared with'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
}

recorded_bytes() {
  [ "$(cat "$work"/.flametop-*.part 2>/dev/null | wc -c)" -gt "$1" ]
}
# Long: half a minute is recorded.
test_compare_works_in_a_replay() {
  release_load
  "$flametop" record -p "$load" --format flametop -o "$work/out.flametop" 2>"$work/err" &
  recorder=$!
  # Half of it before, half of it after: what is long on a slow machine is the start.
  wait_until "it is recorded" recorded_bytes 2000
  sleep 15
  released
  sleep 15
  kill -INT "$(pgrep -P "$recorder" java)"
  wait "$recorder" || equal "exit code" 130 $?
  kill "$load"
  open_pane 140 40
  run_line "'$flametop' --replay '$work/out.flametop' --replay-speed 0 --states on"
  wait_for 'replay ended'
  keys m m
  wait_for 'all since the start'
  # A second of the beginning is the baseline; the end of the replay is compared with it.
  keys t PPage PPage Left Left Left Left '['
  wait_for 'the graph shows it'
  wait_for 'older'
  keys Enter b
  wait_for 'compared with that range'
  wait_for 'compared with [0-9]+ s, [0-9]+ s ago'
  keys t '['
  wait_for 'range [0-9]+ s, 0 s ago .*vs '
  keys Enter
  select_function older
  wait_for '^ older +[1-9][0-9.]*% → 0\.0% of all, gone'
  keys q
  ended >/dev/null
}
