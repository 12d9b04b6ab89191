# shellcheck shell=bash disable=SC2154,SC2034
# Two files side by side.

# click COLUMN ROW, from 1.
click() {
  tmux_ send-keys -l "$(printf '\033[<0;%d;%dM' "$1" "$2")"
  tmux_ send-keys -l "$(printf '\033[<0;%d;%dm' "$1" "$2")"
}

# comes_first NAME OTHER: it is on a line above, in the pane at the right.
comes_first() {
  local one other
  one=$(line_of "$1") other=$(line_of "$2")
  [ -n "$one" ] && [ -n "$other" ] && [ "$one" -lt "$other" ]
}
line_of() {
  capture | grep -nE -m 1 -- "│.*$1" | cut -d: -f1
}

test_split_shows_two_files_at_one_place() {
  printf 'x;main;parse;lex 60\nx;main;run;eval 40\n' >"$work/a.folded"
  printf 'x;main;parse;lex 20\nx;main;run;jit 180\n' >"$work/b.folded"
  open_pane 100 30
  tty_before=$(tty_state)
  run_line "'$flametop' view a.folded b.folded"
  wait_for '2 stacks'
  keys '|'
  wait_for '^›a\.folded +100 samples │ +b\.folded +200 samples'
  keys Down Down Down
  wait_for '^ parse  .*60\.0% here · 10\.0% in b\.folded'
  keys Right
  wait_for '^ run  .*40\.0% here · 90\.0% in b\.folded'
  keys Down
  wait_for '^ eval  .*40\.0% here · not in b\.folded'
  # What is not in the other leads it as far as it goes.
  keys Enter
  wait_for '^ eval +│ +jit'
  wait_gone 'parse'
  keys w
  wait_for '^ a\.folded .*│ ›b\.folded'
  wait_for '^ run  .*90\.0% here · 40\.0% in a\.folded'
  keys 0
  wait_for "▍run +│ .*run"
  keys / l e x Enter
  wait_for '^ lex  .*10\.0% here · 60\.0% in a\.folded'
  wait_for 'matched 60\.0% .*│ .*matched 10\.0%'
  keys Escape
  wait_for 'search closed'
  keys f
  wait_for '^ a\.folded +60 samples │ ›b\.folded +20 samples'
  keys u
  wait_for '^ a\.folded +100 samples │ ›b\.folded +200 samples'
  click 3 5
  wait_for '^›a\.folded'
  wait_for '^ main  .*100\.0% here · 100\.0% in b\.folded'
  keys 2
  wait_for '^─ callers'
  wait_until "the innermost come first" comes_first jit main
  keys 1
  wait_gone '^─ callers'
  wait_until "the outermost come first" comes_first main jit
  keys Home Down Down
  wait_for '^ main  .*100\.0% here · 100\.0% in b\.folded'
  keys s
  wait_for 'main .*100\.0%.*│ +main .*100\.0%'
  keys 4 '|'
  wait_for 'two files stand side by side in the graph, its callers, the sandwich'
  keys 1
  wait_for '│'
  resize 79 30
  wait_gone '│'
  keys w
  wait_for 'need 80 columns; there are 79'
  resize 80 30
  wait_for '^›a\.folded .*│ +b\.folded'
  keys '|'
  wait_for 'one file again'
  wait_gone '│'
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

# One is read while it is shown, one is gone from its folder, one empty, one has a bad line.
test_split_shows_files_as_they_are() {
  printf 'main;first 1\nno number\n' >"$work/bad.folded"
  : >"$work/empty.folded"
  open_pane 100 30
  mkfifo "$work/pipe"
  exec 7<>"$work/pipe"
  run_line "'$flametop' view bad.folded pipe empty.folded"
  wait_for 'first'
  rm "$work/bad.folded"
  keys '|'
  wait_for '│ +pipe +reading 0\.0 MB'
  wait_for 'bad\.folded: 1 line is no stack and left out'
  keys Down Down
  wait_for 'first  .*100\.0% here · not yet in pipe'
  printf 'main;first 1\nmain;second 3\n' >&7
  wait_for 'first  .*100\.0% here · 25\.0% in pipe'
  exec 7>&-
  wait_gone 'reading'
  keys w ']'
  wait_for '^ bad\.folded .*│ ›empty\.folded +0 samples'
  wait_for 'empty\.folded is empty'
  keys w
  wait_for '^›bad\.folded .*│ +empty\.folded'
  keys w
  wait_for '│ ›empty\.folded'
  keys q
  equal "exit code" 0 "$(ended)"
  rm "$work/pipe"
}

test_split_shows_a_recording_beside_folded_stacks() {
  printf '# unit: us\nworker;main 5\n' >"$work/a.folded"
  cp "$root/sampler-native/stream/golden/v1.flametop" "$work/b.flametop"
  open_pane 100 30
  run_line "'$flametop' view a.folded b.flametop"
  wait_for '1 stacks'
  keys '|'
  wait_for '│ +b\.flametop +123\.5 ms'
  keys Down
  wait_for '^ worker  .*100\.0% here · 100\.0% in b\.flametop'
  keys q
  equal "exit code" 0 "$(ended)"
  # The recording ends in damage.
  status=0
  "$flametop" diff "$work/a.folded" "$work/b.flametop" -o - 2>"$work/err" >"$work/out" || status=$?
  equal "exit code" 1 $status
  contains "what both have" '^worker;main 5 0$' "$work/out"
}
