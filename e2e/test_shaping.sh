# shellcheck shell=bash disable=SC2154
# The shape of the graph: filters, recursion, modules, groups, callers, undo.

# Two programs that do the same, known on the first CPU and other on the last.
two_programs() {
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c"
  cp "$work/known" "$work/other"
  last_cpu=$(($(nproc) - 1))
  busy taskset -c 0 "$work/known" 600 >/dev/null
  known=$load
  busy taskset -c "$last_cpu" "$work/other" 600 >/dev/null
  other=$load
  trap 'tmux_ kill-server 2>/dev/null || :; kill "$known" "$other" 2>/dev/null || :' EXIT
  wait_until "the programs run" both_run
}
both_run() {
  grep -qx known "/proc/$known/comm" && grep -qx other "/proc/$other/comm"
}

# line_of TEXT: the first line of the screen that has it, but for that of the host.
line_of() {
  capture | sed 1s/.*// | grep -n -m 1 -F -- "$1" | cut -d: -f1
}

test_keep_leave_out_undo_redo() {
  two_programs
  open_pane 80 24
  start_screen "-p $known,$other --states on"
  # Either may be seen first.
  wait_for '[ ▏▎▍▌▋▊▉]other'
  wait_for '[ ▏▎▍▌▋▊▉]known'
  select_frame '^known$' known
  keys f
  wait_for 'only service known, its past too'
  wait_for '^─ service known ─'
  wait_gone '[ ▏▎▍▌▋▊▉]other'
  keys u
  wait_for 'undone: service known'
  wait_for '[ ▏▎▍▌▋▊▉]other'
  keys U
  wait_for 'again: service known'
  wait_gone '[ ▏▎▍▌▋▊▉]other'
  keys U
  wait_for 'nothing was undone'
  select_frame '^thirty$' thirty
  keys x
  wait_for 'without thirty, its past too'
  wait_for '^─ service known › not thirty ─'
  wait_gone '[▏▎▍▌▋▊▉] ?thirty'
  keys u
  wait_for 'undone: not thirty'
  wait_for '[▏▎▍▌▋▊▉] ?thirty'
  # All of it in a moment that is held.
  keys Space
  wait_for '❚❚|frozen'
  keys u
  wait_for '[ ▏▎▍▌▋▊▉]other'
  keys U
  wait_gone '[ ▏▎▍▌▋▊▉]other'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_merge_recursion() {
  cat >"$work/deep.c" <<'C'
static volatile unsigned long sink;
__attribute__((noinline)) unsigned long visit(int n)
{
	if (n == 0)
		for (int i = 0; i < 1000000; i++)
			sink += i;
	unsigned long below = n > 0 ? visit(n - 1) : 0;
	return below + sink;
}
int main(void)
{
	while (visit(12) != 1)
		;
}
C
  cc -O1 -fno-optimize-sibling-calls -o "$work/deep" "$work/deep.c"
  busy "$work/deep"
  open_pane
  start_screen "-p $load --states on"
  wait_until "the recursion is on the screen" visits 10
  keys r
  wait_for 'recursion merged: no function calls itself'
  wait_until "the recursion is merged" visits 1 1
  keys r
  wait_for 'recursion as it is'
  wait_until "the recursion is on the screen again" visits 10
  keys q
  ended >/dev/null
}
# visits LEAST [MOST]: so many lines of the graph are visit.
visits() {
  local n
  n=$(capture | grep -cE '^ *[▏▎▍▌▋▊▉]? *visit')
  [ "$n" -ge "$1" ] && [ "$n" -le "${2:-99}" ]
}

test_collapse_group_threads() {
  two_programs
  open_pane
  start_screen "-p $known,$other --states on"
  wait_for 'seventy'
  select_frame '^seventy$' seventy
  keys M
  wait_for '^─ \[(known|other)\] ─'
  wait_for '^ \[(known|other)\] .*%( ±[ 0-9.]+)? of all'
  keys M
  wait_for 'the frames of '
  wait_for 'seventy'
  keys g
  wait_for '^─ by process ─'
  wait_for "known-$known"
  keys H
  wait_for '^─ by thread ─'
  keys g
  wait_for 'by CPU: time on a CPU only; what waits or sleeps belongs to none'
  wait_for '[ ▏▎▍▌▋▊▉]cpu 0( |$)'
  keys H H
  wait_for '^ by service  '
  wait_gone 'by thread ─'
  keys q
  ended >/dev/null
}

test_callers_are_innermost_first() {
  two_programs
  open_pane
  start_screen "-p $known --states on"
  wait_for 'seventy'
  wait_until "the outermost comes first" main_first
  select_frame '^seventy$' seventy
  keys I
  wait_for '^─ callers ─'
  wait_until "the innermost comes first" seventy_first
  # What was selected is so here, too; and what is shown elsewhere is as before.
  wait_for '^ seventy .* of all'
  keys 6
  wait_for '^ CPU +busy +user'
  keys 2
  wait_for '^─ callers ─'
  wait_until "the innermost comes first again" seventy_first
  keys I
  wait_for 'outermost frame first'
  wait_until "the outermost comes first" main_first
  wait_for '^ seventy .* of all'
  keys q
  ended >/dev/null
}
seventy_first() {
  local main seventy
  main=$(line_of main) seventy=$(line_of seventy)
  [ -n "$main" ] && [ -n "$seventy" ] && [ "$seventy" -lt "$main" ]
}
main_first() {
  local main seventy
  main=$(line_of main) seventy=$(line_of seventy)
  [ -n "$main" ] && [ -n "$seventy" ] && [ "$main" -lt "$seventy" ]
}

test_cpus_that_are_marked_filter_the_graph() {
  [ "$(nproc)" -gt 1 ] || skip "one CPU"
  two_programs
  open_pane
  start_screen "-p $known,$other --states on"
  wait_for '[ ▏▎▍▌▋▊▉]other'
  keys 6
  # The rows of the table: CPUs are on the screen before, beside the graph.
  wait_for '^ CPU +busy +user'
  wait_for '^ CPU0 +[0-9.]+%'
  keys Down Up Enter
  wait_for '1 CPU marked: sum and graph are of what ran there'
  wait_for '^●CPU0 +[0-9.]+%'
  keys 1
  wait_for '[ ▏▎▍▌▋▊▉]known'
  wait_for '^─ cpu 0 ─'
  wait_for '^●CPU0'
  wait_gone '[ ▏▎▍▌▋▊▉]other'
  keys u
  wait_for 'undone: cpu 0'
  wait_for '[ ▏▎▍▌▋▊▉]other'
  wait_gone '●CPU0'
  keys P
  wait_for 'all CPUs'
  # No other number contains it.
  tmux_ send-keys -l "$last_cpu"
  keys Enter
  wait_for "only cpu $last_cpu; time off the CPU belongs to none"
  wait_gone '[ ▏▎▍▌▋▊▉]known'
  wait_for '[ ▏▎▍▌▋▊▉]other'
  keys q
  ended >/dev/null
}

test_lists_leave_out_too() {
  two_programs
  open_pane
  start_screen "-p $known,$other --states all"
  wait_for '[ ▏▎▍▌▋▊▉]other'
  keys p
  wait_for '\^X without it'
  tmux_ send-keys -l "$other"
  wait_for '1 of '
  keys C-x
  wait_for "without pid $other other, its past too"
  wait_for "^─ not pid $other ─"
  wait_gone '[ ▏▎▍▌▋▊▉]other *$'
  keys O
  wait_for 'shown, '
  tmux_ send-keys -l run
  keys Enter
  wait_for '^ time shown: run  '
  wait_for '^ flametop .*  on cpu'
  keys q
  ended >/dev/null
}

test_shape_of_a_replay_and_clicks_on_its_steps() {
  two_programs
  "$flametop" record -p "$known,$other" -d 3 --format flametop -o "$work/two.flametop" 2>/dev/null
  open_pane
  run_line "'$flametop' --replay '$work/two.flametop' --replay-speed 0 --states on"
  wait_for 'replay ended'
  wait_for '[ ▏▎▍▌▋▊▉]other'
  select_frame '^known$' known
  keys f
  wait_for '^─ service known ─'
  wait_gone '[ ▏▎▍▌▋▊▉]other'
  keys r g
  wait_for '^─ service known › recursion merged › by process ─'
  # A click on the first step.
  local row
  row=$(line_of '─ service known')
  tmux_ send-keys -l $'\033'"[<0;5;${row}M"
  tmux_ send-keys -l $'\033'"[<0;5;${row}m"
  wait_for 'back to service known'
  wait_for '^─ service known ─'
  keys u
  wait_for '^─ service known › recursion merged › by process ─'
  keys q
  ended >/dev/null
}
