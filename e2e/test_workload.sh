# shellcheck shell=bash disable=SC2154
# Programs that flametop starts: they and what they start are sampled, nothing else, and flametop
# ends with them.

# A program whose child outlives its parent: the busy one has init as its parent when it is sampled.
orphaning_program() {
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c"
  cat >"$work/program" <<END
(setsid "$work/known" "$1" >/dev/null &)
sleep "$1"
exit 7
END
}

test_record_of_a_program_has_its_children_and_its_exit_code() {
  orphaning_program 4
  status=0
  "$flametop" record -o "$work/out.folded" --by comm -- sh "$work/program" 2>"$work/err" || status=$?
  equal "exit code" 7 "$status"
  contains "the child" '^known;.*seventy' "$work/out.folded"
  contains "the program" '^(sh|sleep);' "$work/out.folded"
  equal "others" "" "$(grep -vE '^(known|sh|sleep|setsid)[;_]' "$work/out.folded" | grep -v '^#' || :)"
}

test_program_has_the_environment_of_the_user() {
  # shellcheck disable=SC2016 # the program expands it
  LC_ALL=de_DE.UTF-8 "$flametop" record -o "$work/out.folded" -- \
    sh -c 'env >"$1"; sleep 1' sh "$work/environment" 2>"$work/err"
  contains "the locale" '^LC_ALL=de_DE.UTF-8$' "$work/environment"
  # shellcheck disable=SC2016 # the program expands it
  env -u LC_ALL "$flametop" record -o "$work/out2.folded" -- \
    sh -c 'env >"$1"; sleep 1' sh "$work/environment" 2>"$work/err"
  equal "what is not the user's" "" "$(grep -E '^(LC_ALL|MALLOC_ARENA_MAX)=' "$work/environment" || :)"
}

test_record_that_ends_first_ends_the_program() {
  # No other on this machine sleeps for so long.
  local program=(sleep "60$$")
  status=0
  "$flametop" record -d 1 -o "$work/out.folded" -- "${program[@]}" 2>"$work/err" || status=$?
  equal "exit code" 0 "$status"
  # It was told to end.
  wait_until "the program ends" not_running "${program[*]}"
}
not_running() {
  ! pgrep -f "^$1\$" >/dev/null
}

test_record_tells_a_program_that_does_not_end_only_once() {
  cat >"$work/program" <<'END'
trap 'echo told >>"$2"' TERM
echo $$ >"$1"
while :; do sleep 0.1; done
END
  status=0
  "$flametop" record -d 1 -o "$work/out.folded" -- sh "$work/program" "$work/pid" "$work/told" 2>"$work/err" || status=$?
  # Whoever is told sees to that after the sleep.
  sleep 0.5
  kill -KILL "$(cat "$work/pid")"
  equal "exit code" 0 "$status"
  contains "the line" "has left running: .*\\($(cat "$work/pid")\\)" "$work/err"
  equal "TERMs" 1 "$(wc -l <"$work/told")"
}

# A program that starts two others, one of them in a session of its own, and waits if it is told to.
leaving_program() {
  cat >"$work/program" <<'END'
setsid sleep "61$1" >/dev/null 2>&1 &
echo $! >"$2"
(trap '' HUP; exec sleep "62$1") >/dev/null 2>&1 &
echo $! >>"$2"
sleep "$3"
exit 5
END
}

test_record_that_ends_first_ends_what_the_program_has_started() {
  leaving_program
  # A stranger of the same name, in the group of the shell, is not told.
  sleep "61$$" &
  stranger=$!
  status=0
  "$flametop" record -d 1 -o "$work/out.folded" -- sh "$work/program" $$ "$work/pids" 600 2>"$work/err" || status=$?
  equal "exit code" 0 "$status"
  while read -r pid; do
    wait_until "$pid ends" is_over "$pid"
  done <"$work/pids"
  kill -0 "$stranger" || fail "the stranger was told too"
  kill "$stranger"
  if grep -q 'has left running' "$work/err"; then fail "nothing is left: $(cat "$work/err")"; fi
}
# Also one that nobody has asked for its exit code.
is_over() {
  ! [ -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

test_record_of_a_program_names_what_it_left_running_and_leaves_it() {
  leaving_program
  status=0
  "$flametop" record -o "$work/out.folded" -- sh "$work/program" $$ "$work/pids" 1 2>"$work/err" || status=$?
  equal "exit code" 5 "$status"
  while read -r pid; do
    contains "the line" "has left running: .*sleep \\($pid\\)" "$work/err"
    kill -0 "$pid" || fail "$pid was ended"
    kill "$pid"
  done <"$work/pids"
  contains "the line" "; to end them: kill [0-9]+ [0-9]+$" "$work/err"
}

test_screen_that_is_left_ends_the_program_and_what_it_has_started() {
  leaving_program
  open_pane
  run_line "'$flametop' -- sh program $$ pids 600"
  wait_for 'sleep'
  keys q
  equal "exit code" 0 "$(ended)"
  while read -r pid; do
    wait_until "$pid ends" is_over "$pid"
  done <"$work/pids"
}

test_program_that_is_killed_gives_the_code_of_its_signal() {
  status=0
  # shellcheck disable=SC2016 # the shell that is started expands it
  "$flametop" record -o "$work/out.folded" -- sh -c 'kill -SEGV $$' 2>"$work/err" || status=$?
  equal "exit code" 139 "$status"
  if grep -q 'it crashed' "$work/err"; then fail "it is not flametop that crashed"; fi
}

test_program_that_is_not_there_says_so() {
  status=0
  "$flametop" record -o "$work/out.folded" -- /nowhere/to/be/found 2>"$work/err" || status=$?
  equal "exit code" 127 "$status"
  contains "message" 'not found' "$work/err"
}

test_screen_of_a_program_ends_with_it() {
  orphaning_program 600
  open_pane
  # shellcheck disable=SC2034 # terminal_as_before reads it
  tty_before=$(tty_state)
  mkfifo "$work/end"
  cat >"$work/ending" <<END
"$work/known" 600 >/dev/null &
read -r line <"$work/end"
kill %1
wait
exit 9
END
  run_line "'$flametop' -- bash ending"
  wait_for 'seventy'
  wait_for 'flametop .* bash ending'
  echo now >"$work/end"
  equal "exit code" 9 "$(ended)"
  terminal_as_before
}

test_screen_of_a_program_names_what_it_left_running_and_leaves_it() {
  leaving_program
  open_pane
  run_line "'$flametop' -- sh program $$ pids 1"
  equal "exit code" 5 "$(ended)"
  while read -r pid; do
    wait_for "has left running: .*sleep \\($pid\\)"
    kill -0 "$pid" || fail "$pid was ended"
    kill "$pid"
  done <"$work/pids"
}

test_program_and_another_target_is_usage() {
  for arguments in '-p 1' '--replay nothing'; do
    status=0
    # shellcheck disable=SC2086 # words
    "$flametop" record $arguments -o "$work/out" -- true 2>"$work/err" || status=$?
    equal "exit code" 2 "$status"
    contains "message" 'are different targets' "$work/err"
  done
  status=0
  "$flametop" record -- true 2>"$work/err" || status=$?
  equal "exit code" 2 "$status"
  contains "message" 'give a file: -o' "$work/err"
}

# Titles come from anybody: they neither write on the terminal nor fill the picture with names.
test_titles_that_change_and_lines_of_megabytes_leave_a_small_screen_readable() {
  cc -O2 -o "$work/titles" "$root/e2e/programs/titles.c" || fail "cc failed"
  open_pane 40 10
  start_screen "--refresh 0.25 -- ./titles 600"
  # Ten columns are few for a name.
  wait_for 'long[-…]'
  wait_for 'no-'
  # By process, thread, group, ancestor; the tables; help.
  keys g g g 4 5 4
  wait_for 'self +total'
  keys Escape
  wait_gone 'self +total'
  keys '?'
  wait_for 'one step back'
  keys Escape
  resize 80 24
  wait_for ' live [0-9]+:[0-9]'
  if tmux_ display-message -p '#{pane_title}' | grep -q owned; then fail "a title was written to the terminal"; fi
  keys q
  equal "exit code" 0 "$(ended)"
  "$flametop" record -d 3 --states busy -o "$work/out.folded" -- "$work/titles" 600 2>"$work/err"
  contains "the long line" '^long-line[; ]' "$work/out.folded"
  equal "control characters" "" "$(LC_ALL=C grep $'[\001-\010\013-\037]' "$work/out.folded" | head -n 3)"
  equal "names longer than sixty characters" "" "$(grep -v '^#' "$work/out.folded" | cut -d ';' -f 1 | grep -E '^.{64}' | head -n 3)"
}
