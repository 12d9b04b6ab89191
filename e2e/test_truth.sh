# shellcheck shell=bash disable=SC2154
# What flametop shows, held against what is known or what others see.

# Alone: the shares that it holds against the truth are of a CPU that nobody else uses.
test_split_of_seventy_and_thirty_is_seen_as_it_is() {
  "$root/bench/split" 17 997 >"$work/out" 2>&1 || fail "$(cat "$work/out")"
  equal "loads measured" 2 "$(grep -c seventy_true "$work/out")"
}

# Long: the programs run in bursts for 20 s.
test_times_of_a_bursting_thread_add_up_and_agree_with_the_kernel() {
  "$root/bench/bursts" 20 >"$work/out" 2>&1 || fail "$(cat "$work/out")"
}

end_sleepers() {
  # shellcheck disable=SC2046,SC2086
  kill ${pids-} $(pgrep -P "${shell-0}") 2>/dev/null || :
}
# Long: eu-stack reads the stacks one program after the other.
test_sleepers_have_the_frames_that_eu_stack_shows() {
  command -v eu-stack >/dev/null || fail "eu-stack is missing (package elfutils)"
  mkfifo "$work/fifo"
  shell=0 pids=
  trap end_sleepers EXIT
  sleep 900 &
  perl -e 'sleep 900' &
  bash -c 'read -r line <"$1"' bash "$work/fifo" &
  tail -f /dev/null &
  sh -c 'sleep 900; true' &
  shell=$!
  pids=$(jobs -p)
  # shellcheck disable=SC2086
  java -Dflametop="$flametop" "$root/bench/WholeStacks.java" -v $pids >"$work/out" 2>&1 ||
    fail "$(cat "$work/out")"
  share=$(sed -n 's/^all .* in order: \([0-9]*\)\..*/\1/p' "$work/out")
  threads=$(sed -n 's/^all *\([0-9]*\) threads.*/\1/p' "$work/out")
  [ "${threads:-0}" -ge 5 ] || fail "too few threads: $(cat "$work/out")"
  [ "${share:-0}" -ge 95 ] || fail "under 95 %: $(cat "$work/out")"
}
