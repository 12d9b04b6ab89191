# shellcheck shell=bash disable=SC2154
# What a wrong or impossible command line says, and the exit codes.

# run ARGUMENTS…: the program without a terminal; sets status, and the files out and err.
run() {
  status=0
  "$flametop" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# said CODE REGEX: one line on stderr, that exit code, no stack trace.
said() {
  [ "$1" = "$status" ] || fail "exit code: expected $1, is $status: $(cat "$work/err")"
  contains "message" "$2" "$work/err"
  ! grep -qE '^\s+at |Exception|panicked' "$work/err" || fail "a stack trace: $(cat "$work/err")"
  # shellcheck disable=SC2312
  equal "lines of the message" 1 "$(wc -l <"$work/err")"
}

test_help_fits_a_screen_and_shows_the_commands() {
  run --help
  equal "exit code" 0 "$status"
  contains "help" 'record' "$work/out"
  contains "help" 'check' "$work/out"
  [ "$(wc -l <"$work/out")" -le 50 ] || fail "help is longer than a screen"
}

test_version_names_the_program() {
  run --version
  equal "exit code" 0 "$status"
  contains "version" 'flametop [0-9]+\.[0-9]+\.[0-9]+' "$work/out"
}

test_screen_without_terminal_says_record() {
  run
  said 2 'flametop record'
}

test_terminal_that_cannot_draw_says_record() {
  open_pane
  run_line "TERM=dumb '$flametop'"
  equal "exit code" 2 "$(ended)"
  shows 'flametop record'
}

test_binary_profile_is_not_for_a_terminal() {
  open_pane
  run_line "'$flametop' record -d 1 --format pprof"
  equal "exit code" 2 "$(ended)"
  shows 'give a file: -o out.pb.gz'
}

test_closed_stdin_records() {
  status=0
  "$flametop" record -i 1 -o "$work/closed" 2>"$work/err" <&- || status=$?
  equal "exit code" 0 "$status"
}

test_without_proc_names_the_remedy() {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  unshare -m true || skip "no mount namespace of its own is to be had here (in a chroot)"
  status=0
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare -m sh -c 'mount -t tmpfs none /proc && exec "$1" record -d 1' sh "$flametop" \
    >"$work/out" 2>"$work/err" </dev/null || status=$?
  said 3 'mount'
}

test_rate_of_zero_is_usage() {
  run record -F 0 -d 1
  said 2 '-F'
}

test_rate_too_high_is_usage() {
  run record -F 1000000000 -d 1
  said 2 '-F'
}

test_rate_not_a_number_is_usage() {
  run record -F x -d 1
  said 2 "x"
}

test_unknown_option_is_usage() {
  run --no-such-option
  equal "exit code" 2 "$status"
  contains "message" 'no-such-option' "$work/err"
}

test_pid_that_does_not_exist_is_target_gone() {
  # One more than there can be.
  run record -p 4194304 -d 1
  said 4 '4194304'
}

# A comm is any bytes: no character, or a line that the kernel seems to have written.
test_pid_with_a_hostile_comm_is_found() {
  local comm
  # They wait without a child, which would outlive them.
  mkfifo "$work/never"
  for comm in '\377\302' '\rTgid:\t1' '\rState:\tZ' '\n'; do
    # shellcheck disable=SC2016 # the program expands it
    bash -c 'printf "$1" >/proc/self/comm; read -r <>"$2"' bash "$comm" "$work/never" &
    load=$!
    wait_until "it has its comm" renamed "$load" "$comm"
    run record -p "$load" -d 1 -o "$work/hostile.folded" --force
    equal "exit code of $comm: $(cat "$work/err")" 0 "$status"
    kill "$load"
  done
}
renamed() {
  printf '%b\n' "$2" | cmp -s - "/proc/$1/comm"
}

test_output_that_exists_is_kept() {
  echo mine >"$work/there"
  run record -d 1 -o "$work/there"
  said 1 'force'
  equal "the file" mine "$(cat "$work/there")"
}

test_output_in_a_missing_folder_is_told_before_sampling() {
  run record -d 1 -o "$work/no/such/folder"
  said 1 'no/such.*mkdir'
}

test_damaged_replay_is_told() {
  head -c 4096 /dev/urandom >"$work/damaged"
  run record --replay "$work/damaged"
  said 1 'damaged'
}

test_not_root_names_the_remedy() {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  status=0
  setpriv --bounding-set=-all --inh-caps=-all "$flametop" record -d 1 >"$work/out" 2>"$work/err" </dev/null || status=$?
  said 3 'sudo'
}

test_check_says_what_is_possible() {
  run check
  equal "exit code" 0 "$status"
  [ "$(wc -l <"$work/out")" -ge 5 ] || fail "check says too little: $(cat "$work/out")"
}

test_paths_outside_of_ascii_in_any_locale() {
  mkdir "$work/größe"
  echo 'main;f 3' >"$work/größe/漢.folded"
  local locale
  for locale in C POSIX '' de_DE.UTF-8 xx_YY.nonsense; do
    status=0
    (cd "$work/größe" && LC_ALL=$locale "$flametop" diff 漢.folded 漢.folded -o "é$locale.folded") 2>"$work/err" || status=$?
    equal "exit code in '$locale': $(cat "$work/err")" 0 "$status"
    [ -s "$work/größe/é$locale.folded" ] || fail "no é$locale.folded: $(ls "$work/größe")"
  done
}

test_folder_that_is_gone_is_told() {
  mkdir "$work/gone"
  status=0
  (cd "$work/gone" && rmdir "$work/gone" && "$flametop" record -d 1) >"$work/out" 2>"$work/err" || status=$?
  equal "exit code" 1 "$status"
  # The shell complains too.
  contains "message" '^flametop: the folder .* is gone' "$work/err"
}

test_too_little_address_space_is_told() {
  status=0
  (ulimit -v 1000000 && "$flametop" --version) >"$work/out" 2>"$work/err" || status=$?
  said 1 'ulimit -v'
}

test_few_open_files_are_made_more_or_told() {
  status=0
  (ulimit -Sn 64 && "$flametop" --yes record -d 2 -o "$work/few.folded") >"$work/out" 2>"$work/err" </dev/null || status=$?
  equal "exit code" 0 "$status"
  [ -s "$work/few.folded" ] || fail "nothing was recorded"
  ! grep -q 'open files' "$work/err" || fail "$(cat "$work/err")"
  # Who may not have more is told before it starts.
  status=0
  (ulimit -n 64 && setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
    "$flametop" --yes record -d 2 -o "$work/none.folded") >"$work/out" 2>"$work/err" </dev/null || status=$?
  said 3 'open files are too few .ulimit -n.'
}

test_few_open_files_and_many_modules_are_sampled_with_fewer_open() {
  local least pid status=0
  # With just as many as flametop needs, and more modules than that.
  (ulimit -n 64 && setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
    "$flametop" --yes record -d 1 -o "$work/none.folded") >"$work/out" 2>"$work/err" </dev/null || :
  least=$(sed -n 's/.*flametop needs \([0-9]*\);.*/\1/p' "$work/err")
  [ -n "$least" ] || fail "$(cat "$work/err")"
  cc -O2 -fomit-frame-pointer -shared -fPIC -o "$work/0.so" "$root/e2e/programs/turn.c"
  cc -O2 -fomit-frame-pointer -o "$work/many" "$root/e2e/programs/many.c"
  for i in $(seq 1 399); do
    cp "$work/0.so" "$work/$i.so"
  done
  "$work/many" "$work" 400 >"$work/ready" &
  pid=$!
  wait_until "it has its libraries" grep -q ready "$work/ready"
  (ulimit -n "$least" && setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
    "$flametop" --yes record -p "$pid" -d 8 -o "$work/many.folded") >"$work/out" 2>"$work/err" </dev/null || status=$?
  kill "$pid"
  equal "exit code" 0 "$status"
  ! grep -q 'reads others\|Too many' "$work/err" || fail "$(cat "$work/err")"
  awk '/^#/ { next } { n = $NF; all += n } /main.*;turn/ { whole += n } END { exit !(all > 0 && whole >= 0.8 * all) }' "$work/many.folded" ||
    fail "few stacks are whole: $(sort -t ' ' -k 2 "$work/many.folded" | tail -20)"
}

test_arguments_arrive_as_they_are() {
  run record -c "two words  \$HOME 'q'" --replay "$work/no such file"
  contains "message" 'no such file' "$work/err"
}

test_through_a_link_from_elsewhere() {
  ln -s "$flametop" "$work/a link"
  status=0
  (cd / && "$work/a link" --version) >"$work/out" 2>"$work/err" || status=$?
  equal "exit code" 0 "$status"
}

test_options_for_other_jvms_are_ignored() {
  status=0
  JAVA_TOOL_OPTIONS=-Xbogus _JAVA_OPTIONS=-Xbogus JDK_JAVA_OPTIONS=-Xbogus \
    "$flametop" --version >"$work/out" 2>"$work/err" </dev/null || status=$?
  equal "exit code" 0 "$status"
  [ ! -s "$work/err" ] || fail "it says $(cat "$work/err")"
}

# What it starts has the user's environment.
test_program_that_is_started_has_the_options_and_the_path() {
  status=0
  # shellcheck disable=SC2016 # expanded by the program
  env PATH="/nowhere:$PATH" JAVA_TOOL_OPTIONS='a  b' "$flametop" record -o "$work/p.folded" -- \
    sh -c 'echo "$JAVA_TOOL_OPTIONS;$PATH;$(env | grep -c ^FLAMETOP_USER_)"' >"$work/out" 2>"$work/err" </dev/null || status=$?
  equal "exit code: $(cat "$work/err")" 0 "$status"
  equal "what it has" "a  b;/nowhere:$PATH;0" "$(cat "$work/out")"
}

test_path_without_the_system_starts() {
  status=0
  env PATH=/nowhere "$flametop" --version >"$work/out" 2>"$work/err" </dev/null || status=$?
  equal "exit code: $(cat "$work/err")" 0 "$status"
}

test_output_that_cannot_be_taken_is_told() {
  local what
  for what in --help --version --print-config check 'record --help'; do
    status=0
    # shellcheck disable=SC2086 # several words
    "$flametop" $what >/dev/full 2>"$work/err" </dev/null || status=$?
    said 1 'cannot write to stdout'
  done
}

test_output_whose_reader_ends_early_ends_without_a_word() {
  local command
  awk 'BEGIN { for (i = 0; i < 40000; i++) print "main;f" i " 1" }' >"$work/many.folded"
  for command in "events tracepoint:" "convert $work/many.folded" "diff $work/many.folded $work/many.folded"; do
    {
      code=0
      # shellcheck disable=SC2086 # several words
      "$flametop" $command 2>"$work/err" </dev/null || code=$?
      echo $code >"$work/code"
    } | head -n 1 >"$work/out"
    equal "messages of $command" '' "$(cat "$work/err")"
    equal "exit code of $command" 141 "$(cat "$work/code")"
    contains "first line of $command" '^(tracepoint:|#|main;f)' "$work/out"
  done
}

test_output_to_nowhere_is_dropped() {
  run record -d 1 -o /dev/null
  equal "exit code: $(cat "$work/err")" 0 "$status"
  contains "what was written" 'wrote /dev/null: [1-9]' "$work/err"
  run record -d 1 --format flametop -o /dev/null
  contains "what was written" 'wrote /dev/null: a stream of [1-9]' "$work/err"
  [ -c /dev/null ] || fail "/dev/null is no device any more"
}

test_signals_give_their_codes() {
  local name number
  for name in INT TERM HUP; do
    number=$(kill -l "$name")
    rm -f "$work/signal.folded"
    # A shell has those that it puts into the background ignore INT, and nohup HUP.
    env --default-signal=INT,HUP "$flametop" record -o "$work/signal.folded" 2>"$work/err" </dev/null &
    load=$!
    wait_until "it records" records "$load"
    kill "-$name" "$load"
    status=0
    wait "$load" || status=$?
    equal "exit code of $name: $(cat "$work/err")" $((128 + number)) "$status"
    [ -s "$work/signal.folded" ] || fail "nothing is written: $(cat "$work/err")"
  done
  load=
}
# It has its own handlers by the time that it has its threads.
records() {
  local jvm
  jvm=$(pgrep -P "$1" java) && grep -qsx 'sampler' "/proc/$jvm/task"/*/comm
}

test_files_behind_two_dashes_are_files() {
  echo 'main;f 3' >"$work/-x"
  echo 'main;f 4' >"$work/@y"
  status=0
  (cd "$work" && "$flametop" diff -- -x @y) >"$work/out" 2>"$work/err" </dev/null || status=$?
  equal "exit code: $(cat "$work/err")" 0 "$status"
  equal "what it wrote" 'main;f 3 4' "$(cat "$work/out")"
  # What stands in a file is no option.
  echo '--version' >"$work/options"
  (cd "$work" && "$flametop" @options) >"$work/out" 2>"$work/err" </dev/null && fail "it took options of a file"
  contains "message" '@options' "$work/err"
}

test_replay_of_stdin_is_that_of_the_file() {
  local stream=$root/sampler-native/stream/golden/v1.flametop
  local expected
  run record --replay "$stream"
  expected=$status
  mv "$work/out" "$work/expected"
  status=0
  # shellcheck disable=SC2002 # a pipe is what is tested
  cat "$stream" | "$flametop" record --replay - >"$work/out" 2>"$work/err" || status=$?
  equal "exit code: $(cat "$work/err")" "$expected" "$status"
  cmp "$work/expected" "$work/out" || fail "another replay"
}

test_paths_of_groups_that_are_none_are_usage() {
  run record -d 1 --cgroup ''
  said 2 'cgroup'
  run record -d 1 --cgroup ..
  said 2 'cgroup'
  run record -d 1 --cgroup /system.slice/../..
  said 2 'cgroup'
  run record -d 1 -c ''
  said 2 '-c takes the name'
}

# In a terminal, with nothing that can be written.
test_self_test_works_and_writes_nothing() {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  open_pane
  # shellcheck disable=SC2016 # the inner shell expands it
  run_line "unshare -m sh -c 'mount -o remount,bind,ro / && exec \"\$1\" --self-test' sh '$flametop'"
  equal "exit code" 0 "$(ended)"
  shows 'ok  stacks on a CPU  *[0-9]+ of [0-9]+ samples are whole'
  shows 'ok  stacks asleep'
  shows 'ok  terminal'
  shows 'ok  themes'
  shows 'flametop works here'
}

test_self_test_without_rights_says_what_is_missing() {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  status=0
  setpriv --bounding-set=-all --inh-caps=-all --reuid 65534 --clear-groups "$flametop" --self-test \
    >"$work/out" 2>"$work/err" </dev/null || status=$?
  equal "exit code: $(cat "$work/err")" 3 "$status"
  contains "what is missing" '^NO  CAP_BPF' "$work/out"
  contains "sum" 'flametop does not work here' "$work/out"
}
