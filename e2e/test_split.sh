# shellcheck shell=bash disable=SC2154,SC2034
# Two files side by side.

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
