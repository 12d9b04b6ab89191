# shellcheck shell=bash disable=SC2154
# The tables of functions and tasks.

known_split() {
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c"
  "$work/known" 600 >/dev/null &
  load=$!
}

# first_row REGEX: whether the row below the heads shows it.
first_row() {
  capture | grep -A 1 -E '^ +(self +total|[pt]id)' | tail -n 1 | grep -qE -- "$1"
}

# row REGEX: the row of the screen that matches.
row() {
  capture | grep -E -- "$1" | head -n 1
}

test_top_first_is_the_hot_function_with_its_share() {
  known_split
  open_pane
  start_screen "-p $load --states on"
  wait_for 'seventy'
  keys 4
  wait_for '[0-9]+ functions  first by self'
  wait_until "the hot function is first, with about 70 %" \
    first_row '^ +(6[4-9]|7[0-6])\.[0-9]% .* seventy +known'
  keys s
  wait_for 'first by total'
  wait_until "the outermost function has all" first_row '^ +0\.[0-9]% +(100\.0|99\.[0-9])%'
  keys s
  wait_for 'first by time on a CPU'
  keys s s s s s
  wait_for 'first by self'
  keys q
  equal "exit code" 0 "$(ended)"
  kill $load
}

test_top_rows_are_filtered_kept_left_out_and_opened() {
  known_split
  open_pane
  tmux_ set-option -s set-clipboard on
  start_screen "-p $load --states on"
  wait_for 'seventy'
  keys 4
  wait_for 'thirty'
  # By regular expression, as it is typed; from the names in sight.
  keys /
  tmux_ send-keys -l '^thi'
  wait_for ' 1 of [0-9]+ functions'
  wait_gone ' seventy '
  keys Tab
  wait_for '^ */\^thirty'
  keys Enter
  keys y
  wait_for 'copied, .*: thirty'
  wait_until "the name is in the clipboard" buffer_is thirty
  # Without what passes through it; then all again.
  keys x
  wait_for 'without .*thirty'
  wait_for 'no function matches; esc shows all|[^,0-9]0 of'
  keys Escape
  wait_for 'all functions'
  wait_for ' seventy '
  wait_gone '▌ thirty '
  keys 'u'
  wait_for '▌ thirty '
  wait_until "the hot function is first" first_row 'seventy'
  keys Home
  keys f
  wait_for 'only .*seventy'
  wait_gone '▌ thirty '
  keys Escape
  wait_for '[0-9]+% of all'
  keys q
  equal "exit code" 0 "$(ended)"
  kill $load
}
buffer_is() {
  [ "$(tmux_ show-buffer 2>/dev/null)" = "$1" ]
}

test_top_moves_freezes_and_shows_other_states() {
  known_split
  open_pane
  start_screen "-p $load --states on"
  wait_for 'seventy'
  keys 4
  wait_until "the hot function is first" first_row 'seventy'
  keys Up
  keys Home
  keys Up
  wait_for 'already at the top'
  keys End
  keys Down
  wait_for 'nothing below'
  keys o
  wait_for 'time shown: off cpu'
  keys m
  wait_for 'the last 5 min'
  keys Space
  wait_for '❚❚|frozen'
  keys Space
  wait_for 'live again'
  keys e
  wait_for 'svg'
  keys Escape
  keys '?'
  wait_for 'in the function itself'
  keys x
  keys Tab
  wait_for 'first by time on a CPU'
  keys q
  equal "exit code" 0 "$(ended)"
  kill $load
}

# waiter: a parent that waits for the child that it shares its memory with, in D; waiter and child.
waiter() {
  cc -O2 -o "$work/waiter" -x c - <<'C'
#include <unistd.h>
int main(void)
{
	if (vfork() == 0) {
		sleep(600);
		_exit(0);
	}
	return 0;
}
C
  "$work/waiter" &
  waiter=$!
  wait_until "the waiter has a child" pgrep -P $waiter
  waits_for=$(pgrep -P $waiter)
}

test_tasks_have_exact_times_states_and_ages() {
  known_split
  waiter
  sleep 900 &
  sleeper=$!
  open_pane 160 40
  start_screen "-p $load,$sleeper,$waiter"
  keys 5
  wait_for ' 3 processes  first by time on a CPU'
  # It is on a CPU or waits for one, all the time, below one of its functions.
  wait_for "^ +$load (run|queued) .* known .* (seventy|thirty)"
  wait_until "its times add up to all of the time" adds_up "$load"
  wait_for "^ +$sleeper asleep +([3-9]|[1-9][0-9]) s +0\.0% .* clock_nanosleep"
  wait_for "^ +$waiter disk +([3-9]|[1-9][0-9]) s +0\.0% .* waiter"
  keys s
  wait_for 'first by time queued'
  keys s
  wait_for 'first by longest in its state'
  wait_until "who runs is last" last_row_has "$load"
  keys s
  wait_for 'first by pid'
  keys s
  wait_for 'first by time on a CPU'
  keys Home
  keys y
  wait_for "copied, .*: $work/known 600"
  keys /
  tmux_ send-keys -l 'sleep 900'
  wait_for ' 1 of 3 processes'
  keys Enter
  keys Escape
  wait_for 'all tasks'
  keys H
  wait_for 'a row for each thread'
  wait_for '^ +tid '
  keys H
  wait_for 'a row for each process'
  wait_until "who runs is first" first_row "^ +$load "
  # Whoever ends stays in the list, dim, with what it had.
  kill $sleeper
  wait_for "^ +$sleeper ended "
  keys Home
  keys x
  wait_for "without pid $load"
  wait_gone "^ +$load "
  keys u
  wait_for "^ +$load "
  keys Home
  keys Enter
  wait_for "only pid $load"
  wait_for '▌? ?seventy'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load" "$waits_for"
}

# adds_up PID: whether CPU and queue of its row make the whole window.
adds_up() {
  row "^ +$1 (run|queued)" | awk '
    { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+%$/ && n < 2) { n++; sum += $i } }
    END { exit !(n == 2 && sum > 90 && sum < 104) }'
}
last_row_has() {
  capture | grep -E '^ +[0-9]+ (run|queued|disk|asleep)' | tail -n 1 | grep -qE "^ +$1 "
}

test_tables_of_thousands_of_threads_scroll_to_the_end() {
  cc -O2 -pthread -o "$work/sleepers" "$root/bench/programs/sleepers.c"
  "$work/sleepers" 1 3000 >"$work/ready" &
  load=$!
  wait_until "the sleepers are there" grep -q ready "$work/ready"
  open_pane
  pid=$(pgrep -P $load)
  start_screen "-p $pid"
  keys 5
  wait_for ' 1 process '
  keys H
  wait_for ' 3,000 threads'
  keys End
  wait_until "the last row is marked, and nothing is below" at_the_end
  last=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
  wait_for "^ +$last asleep"
  keys Home
  keys Up
  wait_for 'already at the top'
  keys q
  equal "exit code" 0 "$(ended)"
  kill $load
}
at_the_end() {
  keys Down
  capture | grep -q 'nothing below'
}

test_tables_of_a_recording_are_those_of_its_time() {
  known_split
  "$flametop" record -p $load -d 4 --format flametop -o "$work/known.flametop" 2>"$work/err" ||
    fail "$(cat "$work/err")"
  kill $load
  open_pane
  type_line "clear; '$flametop' --replay $work/known.flametop --replay-speed 0; echo \"ended \$?\""
  wait_for 'replay ended'
  keys 4
  wait_until "the hot function is first" first_row ' seventy +known'
  keys 5
  wait_for "^ +$load (run|queued) .* known"
  wait_until "its times add up to all of the time" adds_up "$load"
  keys q
  equal "exit code" 0 "$(ended)"
}
