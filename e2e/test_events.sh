# shellcheck shell=bash disable=SC2154
# Sources of events on the machine as it is.

test_events_of_page_faults_are_counted_to_the_digit() {
  page_faults
  "$flametop" record -p "$load" -e fault -d 4 --by none -o "$work/out.folded" 2>"$work/err" </dev/null 9>&- &
  launcher=$!
  wait_until "the source is on" grep -q 'the recording begins' "$work/err"
  echo go >&9
  wait $launcher || fail "exit code $?: $(cat "$work/err")"
  exec 9>&-
  contains "unit" '^# unit: events$' "$work/out.folded"
  total=$(sed -n 's/^# exact total: //p' "$work/out.folded")
  sum=$(grep -v '^#' "$work/out.folded" | awk '{ sum += $NF } END { print sum + 0 }')
  equal "sum of the stacks" "$total" "$sum"
  # A few more are of the program's own stack and of stdin.
  if [ "$total" -lt 1000 ] || [ "$total" -gt 1050 ]; then
    fail "$total page faults: $(cat "$work/out.folded")"
  fi
  large=$(grep -v '^#' "$work/out.folded" | awk '/;large;/ { sum += $NF } END { print sum + 0 }')
  # Some 40 stacks stand for the 1,000: four standard errors.
  if [ "$large" -lt 400 ] || [ "$large" -gt 950 ]; then
    fail "$large of 700 page faults are below large: $(cat "$work/out.folded")"
  fi
}

test_events_that_cannot_be_had_say_why_and_others_go_on() {
  status=0
  "$flametop" record -e tracepoint:sched:sched_swich -d 5 -o "$work/out.folded" 2>"$work/err" || status=$?
  equal "exit code" 3 $status
  contains "what was meant" 'did you mean sched_switch' "$work/err"
  "$flametop" record -e switch -e tracepoint:sched:sched_swich -d 1 -o "$work/out.folded" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  contains "what was meant" 'did you mean sched_switch' "$work/err"
  contains "unit" '^# unit: events$' "$work/out.folded"
  status=0
  "$flametop" record -e switch --measure fault -d 1 -o "$work/out.folded" --force 2>"$work/err" || status=$?
  equal "exit code" 2 $status
}

test_events_that_cannot_be_read_end_it_before_the_start() {
  status=0
  "$flametop" record -e switch -e fault,weigth=bytes -d 5 -o "$work/out.folded" 2>"$work/err" || status=$?
  equal "exit code" 2 $status
  contains "the column" '-e fault,weigth=bytes: column 7: .*did you mean weight\?' "$work/err"
  [ ! -e "$work/out.folded" ] || fail "a file was written"
}

test_events_are_listed_with_fields_and_what_they_lack() {
  "$flametop" events fault >"$work/out" || fail "exit code $?"
  contains "a counter" "^fault$(printf '\t')page faults: where memory grows$(printf '\t')\$" "$work/out"
  "$flametop" events 'tracepoint:sched:sched_process_*' >"$work/out" || fail "exit code $?"
  contains "a tracepoint" "^tracepoint:sched:sched_process_exit$(printf '\t').*pid_t pid" "$work/out"
  status=0
  "$flametop" events no-such-source-at-all >"$work/out" 2>"$work/err" || status=$?
  equal "exit code" 4 $status
  contains "what mends it" 'flametop events lists all' "$work/err"
  status=0
  "$flametop" events '/(/' >"$work/out" 2>"$work/err" || status=$?
  equal "exit code" 2 $status
}

# waits PATTERN: µs of the lines that hold it.
waits() {
  grep -v '^#' "$work/wake.folded" | grep -E -- "$1" | awk '{ sum += $NF } END { print sum + 0 }'
}

test_events_of_wake_have_the_stacks_of_both_threads() {
  cc -O1 -g -pthread -o "$work/wakes" "$root/sampler-native/sampler/tests/programs/wakes.c" || fail "cc failed"
  mkfifo "$work/told"
  "$work/wakes" pingpong 1000000 <"$work/told" >/dev/null &
  load=$!
  exec 9>"$work/told"
  echo go >&9
  "$flametop" record -p $load -e wake -d 4 -o "$work/wake.folded" 2>"$work/err" </dev/null 9>&- || fail "exit code $?: $(cat "$work/err")"
  exec 9>&-
  kill "$load"
  contains "unit" '^# unit: us$' "$work/wake.folded"
  total=$(sed -n 's/^# exact total: //p' "$work/wake.folded")
  equal "sum of the stacks" "$total" "$(waits .)"
  contains "both stacks" '^wakes;.*;take_turn;.*;--;try_to_wake_up_\[k\];.*;give_turn;pong;.*;pong' "$work/wake.folded"
  contains "the clock" ';--;.*;asm_sysvec_[a-z_]*_\[k\];\[interrupt\] ' "$work/wake.folded"
  all=$(waits ';ping;take_turn;')
  right=$(waits ';ping;take_turn;.*;--;.*;give_turn;pong;[^-]*;pong[; ]')
  if [ "$all" -eq 0 ] || [ $((right * 100)) -lt $((all * 95)) ]; then
    fail "pong woke ping in $right of $all us: $(cat "$work/wake.folded")"
  fi
}

test_events_of_a_program_begin_with_the_program() {
  cc -g -O2 -fno-optimize-sibling-calls -o "$work/jumps" "$root/sampler-native/sampler/tests/programs/jumps.c" || fail "cc failed"
  echo gg | "$flametop" record -e longjmp --by none -o "$work/out.folded" -- "$work/jumps" 5 20 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  contains "when it began" '1 of 1 sources of events attached: the recording begins' "$work/err"
  contains "exact total" '^# exact total: 20$' "$work/out.folded"
  contains "what is left" ';main;lands;\[left by longjmp\];one;two;three;four;five;' "$work/out.folded"
}
