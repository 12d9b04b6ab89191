# shellcheck shell=bash disable=SC2154,SC2034
# Files of folded stacks on the screen.

# make_stacks MODE N FILE
make_stacks() {
  [ -x "$work/stacks" ] || cc -O2 -D_GNU_SOURCE -o "$work/stacks" "$root/bench/programs/stacks.c"
  "$work/stacks" "$1" "$2" >"$work/$3"
}

# start_view ARGUMENTS: like start_screen, until all is read; ARGUMENTS begin with the command.
start_view() {
  tty_before=$(tty_state)
  run_line "'$flametop' $1"
  wait_for '[0-9] stacks'
  wait_gone 'reading'
}

test_view_moves_searches_and_quits() {
  printf 'main;parse;lex 30\nmain;parse 10\nmain;run;eval 60\n' >"$work/a.folded"
  open_pane
  start_view 'view a.folded'
  shows 'a\.folded .*3 stacks *100 samples'
  keys Down Down
  wait_for '^ *run  +60\.0% of all'
  keys Left
  wait_for '^ *parse  +40\.0% of all'
  keys Enter
  wait_gone 'eval'
  keys Escape
  wait_for 'eval'
  keys / l e x Enter
  wait_for '^ *lex  +30\.0% of all'
  wait_for 'matched 30\.0%'
  keys Space
  wait_for 'a file holds still'
  keys t
  wait_for 'do not say their time'
  keys 5
  wait_for 'nothing of tasks'
  keys ']'
  wait_for 'the only file'
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

test_view_of_stdin_takes_keys_from_the_terminal() {
  make_stacks sorted 2000 s.folded
  open_pane
  start_view 'view - <s.folded'
  shows 'stdin'
  wait_for '^ *all  +100\.0% of all'
  keys Down
  wait_for '::f[0-9]+\(int\)  .*% of all'
  kill -KILL "$(jvm_pid)"
  equal "exit code" 137 "$(ended)"
  terminal_as_before
}

test_view_paints_what_has_come_of_a_pipe() {
  open_pane
  mkfifo "$work/pipe"
  exec 7<>"$work/pipe"
  printf 'main;first 1\n' >&7
  run_line "'$flametop' view pipe"
  wait_for 'reading 0\.0 MB'
  wait_for '^ *first *$'
  keys Down
  wait_for '^ *main  +100\.0% of all'
  printf 'main;second 1\n' >&7
  wait_for '[▏▎▍▌▋▊▉ ]second'
  exec 7>&-
  wait_gone 'reading'
  keys q
  equal "exit code" 0 "$(ended)"
  rm "$work/pipe"
}

test_view_writes_nothing_while_nothing_changes() {
  make_stacks sorted 2000 s.folded
  open_pane
  start_view 'view s.folded'
  # The end of what it had to paint may come late.
  wait_until "it writes nothing for three seconds" is_silent
  keys q
  ended >/dev/null
}
written() {
  sed -n 's/^wchar: //p' "/proc/$(jvm_pid)/io"
}
is_silent() {
  local before
  before=$(written)
  sleep 3
  [ "$before" = "$(written)" ]
}

test_view_of_hostile_names_shows_them_harmless() {
  make_stacks hostile 1000 h.folded
  open_pane
  local title
  title=$(tmux_ display-message -p '#{pane_title}')
  start_view 'view h.folded'
  wait_for 'lines are no stack and left out, first line 5: no number at its end'
  keys '?'
  wait_for 'not in UTF-8'
  equal "title of the terminal" "$title" "$(tmux_ display-message -p '#{pane_title}')"
  keys q q
  ended >/dev/null
  terminal_as_before
}

test_view_of_wide_deep_and_empty_files_opens() {
  make_stacks wide 50000 wide.folded
  make_stacks deep 100000 deep.folded
  : >"$work/empty.folded"
  open_pane
  start_view 'view wide.folded deep.folded empty.folded'
  wait_for '50000 more'
  keys / '^child04242$' Enter
  wait_for 'match 1 of 1'
  wait_for '^ *child04242 '
  keys ']'
  wait_for ' 2/3 '
  wait_for 'frame20'
  keys ']'
  wait_for ' 3/3 '
  wait_for 'empty\.folded is empty'
  wait_gone 'frame20'
  keys '['
  wait_for ' 2/3 '
  wait_for 'more levels'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_view_of_many_children_leads_to_each() {
  make_stacks wide 50000 wide.folded
  open_pane
  start_view 'view wide.folded'
  keys Down Down
  wait_for '^ *… 50000 more  frames too thin to draw'
  # Each time it holds fewer, until frames have boxes of their own.
  local opened=0 before
  until [[ $(selected) != *'too thin to draw'* ]]; do
    before=$(selected)
    keys Enter
    wait_until "enter opens a run" selects_another "$before"
    opened=$((opened + 1))
    [ $opened -lt 30 ] || fail "runs do not end"
  done
  wait_for '^ *child00000 +0\.0% of all'
  keys Right Right
  wait_for '^ *child00002 '
  keys q
  equal "exit code" 0 "$(ended)"
}

# What is told of the selection.
selected() {
  capture | tail -n 3 | head -n 1
}
selects_another() {
  [ "$(selected)" != "$1" ]
}

test_view_of_a_recorded_stream_replays_it() {
  open_pane
  tty_before=$(tty_state)
  run_line "'$flametop' view '$root/sampler-native/stream/golden/v1.flametop'"
  wait_for 'replay'
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

test_view_of_no_file_says_so() {
  code=0
  "$flametop" view "$work/none.folded" 2>"$work/err" || code=$?
  equal "exit code" 1 $code
  contains "message" 'none.folded does not exist' "$work/err"
}

test_diff_shows_what_changed() {
  printf 'main;same 50\nmain;gone 50\n' >"$work/before"
  printf 'main;same 50\nmain;grown 50\n' >"$work/now"
  open_pane
  start_view 'diff before now'
  shows 'before → now'
  wait_for '[▏▎▍▌▋▊▉ ]gone'
  keys Down Down Right
  wait_for '^ *grown  +0\.0% → 50\.0% of all'
  keys / gone Enter
  wait_for '^ *gone  +50\.0% → 0\.0% of all, gone'
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

test_diff_writes_both_numbers() {
  printf 'main;same 50\nmain;gone_[k] 30\n' >"$work/before"
  printf 'main;same 55\nmain;new 5\n' | gzip >"$work/now.gz"
  rm -f "$work/diff.folded"
  "$flametop" diff "$work/before" "$work/now.gz" -o "$work/diff.folded" 2>"$work/err"
  contains "message" 'diff.folded: 3 stacks' "$work/err"
  equal "stacks" "main;gone_[k] 30 0
main;new 0 5
main;same 50 55" "$(LC_ALL=C sort "$work/diff.folded")"
  equal "the same to a pipe, of one total" "main;same 37 55" \
    "$("$flametop" diff -n "$work/before" "$work/now.gz" | grep same)"
}

test_view_exports_what_it_shows() {
  printf '# unit: us\nmain;a 3000\nmain;b_[k] 5000\nother;c 1\n' >"$work/a.folded"
  open_pane
  start_view 'view a.folded'
  keys Down
  wait_for '^ *main  +100\.0% of all .* 8\.0 ms'
  keys Enter e f o l d Enter
  wait_for 'flametop-a-.*2 stacks'
  keys q
  equal "exit code" 0 "$(ended)"
  local found
  found=$(echo "$work"/flametop-a-*.folded)
  contains "unit" '^# unit: us$' "$found"
  contains "file" '^# file: a.folded' "$found"
  equal "stacks" "main;a 3000
main;b_[k] 5000" "$(grep -v '^# ' "$found")"
}

test_view_takes_other_shapes() {
  printf 'x;main;a;f 6\nx;main;b;b;b 3\ny;main;a 1\n' >"$work/a.folded"
  open_pane
  start_view 'view --comm a.folded'
  keys Down
  wait_for '^ *x +90\.0% of all'
  keys x
  wait_for 'without comm x'
  wait_for '^ *y *$'
  wait_for ' 1 samples'
  keys u
  wait_for 'undone'
  wait_for '10 samples'
  keys r
  wait_for 'recursion merged'
  keys g
  wait_for 'without the outermost frame'
  wait_for '^ *main *$'
  keys 2
  wait_for '─ callers ›'
  wait_for '^ *a .*b .*f *$'
  keys 1
  wait_gone '─ callers ›'
  wait_for '^ *main *$'
  keys e f o l d Enter
  wait_for 'flametop-a-.*3 stacks'
  keys q
  equal "exit code" 0 "$(ended)"
  equal "stacks" "main;a 1
main;a;f 6
main;b 3" "$(grep -v '^# ' "$(echo "$work"/flametop-a-*.folded)")"
  terminal_as_before
}

test_view_has_a_sandwich_and_top_functions() {
  printf 'x;main;a;f 60\nx;main;b;f 30\ny;main;a 10\n' >"$work/a.folded"
  open_pane
  start_view 'view --comm a.folded'
  keys Down Down Down
  wait_for '^ *a +60\.0% of all'
  keys s
  wait_for '^ *a .*self 10\.0%  total 70\.0% of all  70 samples'
  wait_for '^ *main *$'
  wait_for '^ *f '
  keys Tab
  wait_for '4 functions  first by self'
  wait_for '^ *90\.0% +90\.0% .* 90 .*f'
  keys s
  wait_for 'first by total'
  keys s
  wait_for 'first by name'
  keys s
  wait_for 'first by self'
  wait_until "the rows are in this order" is_first f
  # The one of the sandwich is marked.
  keys Home Enter
  wait_for '^ *f .*self 90\.0%  total 90\.0% of all  90 samples'
  keys Escape
  wait_for 'first by self'
  keys 2
  wait_for '─ callers ─'
  wait_for '^ *f  '
  keys 4
  wait_for '^ *90\.0% +90\.0% .* 90 .*f'
  keys Tab
  wait_for '^ *x  '
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}
# is_first FUNCTION: of the table.
is_first() {
  capture | grep -E '^ +[0-9.]+% +[0-9.]+% ' | head -n 1 | grep -qE " $1\$"
}
