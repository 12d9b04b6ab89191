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
  # Eight different keys without a pause between them are taken for pasted text, which starts no export: so this waits for the list.
  keys e
  wait_for 'export as'
  keys f o l d Enter
  wait_for 'flametop-a-.*3 stacks'
  keys q
  equal "exit code" 0 "$(ended)"
  equal "stacks" "main;a 1
main;a;f 6
main;b 3" "$(grep -v '^# ' "$(echo "$work"/flametop-a-*.folded)")"
  terminal_as_before
}
