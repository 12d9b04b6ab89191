# shellcheck shell=bash disable=SC2154
# Functions and tasks in tables, beside what they are compared with; what is selected, from one view to the next.

test_diff_functions_have_both_files_and_the_difference() {
  printf 'app;main;parse 60\napp;main;drain 40\n' >"$work/a"
  printf 'app;main;parse 60\napp;main;layout 140\n' >"$work/b"
  open_pane 100 24
  run_line "'$flametop' diff '$work/a' '$work/b'"
  wait_for 'layout'
  keys 4
  wait_for 'was +self +change +was +total +change +function'
  wait_for ' 0[.]0% +70[.]0% ▲ [+]70[.]0% .*layout'
  wait_for ' 40[.]0% +0[.]0% ▼ -40[.]0% .*drain'
  keys s s
  wait_for 'first by change of self'
  keys Home
  wait_for 'self 0[.]0% → 70[.]0%.* new'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_tables_compare_with_what_was_before() {
  # A name that nothing else on the machine has.
  local known=known$$
  cc -O2 -fomit-frame-pointer -o "$work/$known" "$root/bench/programs/split.c"
  "$work/$known" 600 >/dev/null &
  load=$!
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
  wait_for " gone .* ▼ *-[0-9.]+% .*$known"
  keys 4
  wait_for 'was +self +change +was +total +change'
  wait_for ' 0[.]0% ▼ *-[0-9.]+% .*seventy'
  keys s s
  wait_for 'first by change of self'
  keys B
  wait_gone 'was +self'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_selection_and_zoom_are_there_again_after_the_callers() {
  printf '# first frame: comm\napp;main;left;inner 6\napp;main;right;inner 3\nother;run;inner 1\n' >"$work/a"
  open_pane 100 24
  run_line "'$flametop' view '$work/a'"
  wait_for 'right'
  keys Down Down
  wait_for '^ main +9[0-9.]+%( ±[ 0-9.]+)? of all'
  keys Enter
  wait_gone 'other'
  keys Down Down
  wait_for '^ inner +6[0-9.]+%( ±[ 0-9.]+)? of all'
  keys 2
  wait_for '^─ callers ─'
  wait_for '^ inner +9[0-9.]+%( ±[ 0-9.]+)? of all'
  wait_for ' app .*other'
  keys 1
  wait_gone '^─ callers ─'
  wait_for '^ inner +6[0-9.]+%( ±[ 0-9.]+)? of all'
  wait_gone 'other'
  keys 4
  wait_for '^─ +[0-9]+ functions'
  # The marked row in full.
  wait_for '^ inner$'
  keys q
  equal "exit code" 0 "$(ended)"
}
