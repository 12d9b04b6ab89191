# shellcheck shell=bash disable=SC2154
# Exports of files: what is in them, and that there are no halves.

# large_stacks FILE: 10 MB of them.
large_stacks() {
  awk 'BEGIN { for (i = 0; i < 100000; i++) printf "main;some_long_name_of_a_function_%d;then_another_long_name_%d;leaf_%d %d\n", i / 100, i / 10, i, i % 9 + 1 }' >"$1"
}

# open_large [COMMAND]: opens them in an empty folder, by a command.
open_large() {
  mkdir -p "$work/into"
  large_stacks "$work/large.folded"
  open_pane 240 30
  run_line "cd '$work/into' && ${1:-} '$flametop' view '$work/large.folded'"
  wait_for '[0-9] stacks'
  wait_gone 'reading'
}

test_export_without_room_leaves_nothing() {
  unshare -m mount -t tmpfs -o size=1m tmpfs /mnt 2>/dev/null || skip "no file system can be mounted"
  # It is gone with who sees it.
  open_large "unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs . && cd . && cd \"\$PWD\" && exec \"\$@\"' sh"
  keys e f o l d Enter
  wait_for 'cannot write .*: No space left on device'
  wait_gone 'writing…'
  equal "left" "" "$(ls -A "/proc/$(jvm_pid)/cwd/")"
  keys q
  equal "exit code" 0 "$(ended)"
}

# Whole, or not there.
is_whole_or_gone() {
  local found
  for found in "$work"/into/flametop-*; do
    if [ -e "$found" ]; then
      equal "stacks of $found" 100000 "$(grep -cv '^# ' "$found")"
    fi
  done
}

test_export_quit_in_the_middle_is_whole_or_gone() {
  open_large
  keys e f o l d Enter q
  equal "exit code" 0 "$(ended)"
  is_whole_or_gone
  equal "parts" "" "$(find "$work/into" -name '.flametop-*')"
}

is_begun() {
  [ -n "$(ls -A "$work/into")" ]
}

test_export_killed_in_the_middle_is_whole_or_gone() {
  open_large
  local pid
  pid=$(jvm_pid)
  keys e f o l d Enter
  wait_until "something is written" is_begun
  kill -9 "$pid"
  wait_for 'ended [0-9]+$'
  is_whole_or_gone
}

test_export_of_a_sandwich_of_a_file_has_the_stacks_through_its_function() {
  printf 'main;a;shared;inner 5\nmain;b;shared 3\nmain;other 2\n' >"$work/a.folded"
  open_pane 240 30
  run_line "cd '$work' && '$flametop' view a.folded"
  wait_for '3 stacks'
  keys / s h a r e d Enter
  # While it is typed it is searched for already.
  wait_for '^ *shared  +50\.0% of all'
  keys s
  wait_for '^ *shared .*self .*total 80\.0% of all  8 samples'
  keys e f o l d Enter
  wait_for '2 stacks, 8 samples'
  keys q
  equal "exit code" 0 "$(ended)"
  local found
  found=$(echo "$work"/flametop-a-*.folded)
  equal "stacks" "main;a;shared;inner 5
main;b;shared 3" "$(grep -v '^# ' "$found")"
  contains "filter" '^# filter: .*shared' "$found"
}

test_export_of_a_file_with_a_long_name_has_room_for_its_own() {
  local name
  name=$(printf 'x%.0s' $(seq 240)).folded
  printf 'main;a 5\n' >"$work/$name"
  open_pane 240 30
  run_line "cd '$work' && '$flametop' view x*.folded"
  wait_for '1 stacks'
  keys e f o l d Enter
  wait_for 'kB, 1 stacks, 5 samples'
  keys q
  equal "exit code" 0 "$(ended)"
}
