# shellcheck shell=bash disable=SC2154
# The live screen, by a person's keys.

test_quit_leaves_the_terminal_as_it_was() {
  open_pane
  start_screen ''
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

test_ctrl_c_quits() {
  open_pane
  start_screen ''
  keys C-c
  ended >/dev/null
  terminal_as_before
}

# signalled SIGNAL WHOM: the screen is ended by a signal to the launcher or the JVM.
signalled() {
  open_pane
  start_screen ''
  kill "-$1" "$("$2")"
  ended >/dev/null
  terminal_as_before
}
test_int_to_the_launcher() {
  signalled INT launcher_pid
}
test_term_to_the_launcher() {
  signalled TERM launcher_pid
}
test_hup_to_the_launcher() {
  signalled HUP launcher_pid
}
test_quit_to_the_launcher() {
  signalled QUIT launcher_pid
}
test_int_to_the_jvm() {
  signalled INT jvm_pid
}
test_term_to_the_jvm() {
  signalled TERM jvm_pid
}
test_hup_to_the_jvm() {
  signalled HUP jvm_pid
}
test_kill_to_the_jvm() {
  signalled KILL jvm_pid
}

test_quit_to_the_jvm_prints_nothing() {
  open_pane
  start_screen ''
  tmux_ pipe-pane "cat >'$work/written'"
  kill -QUIT "$(jvm_pid)"
  # Of two signals the JVM takes this one last, and the other is done with then.
  resize 100 30
  wait_for "$header_to_the_edge"
  keys q
  ended >/dev/null
  wait_until "all that was written is there" grep -q 'ended [0-9]' "$work/written"
  ! grep -qi 'thread dump' "$work/written" || fail "a thread dump on the screen"
  terminal_as_before
}
# After the terminal became narrower, which cut it: it was drawn anew.
header_to_the_edge='^ flametop .*( s +[0-9]+|cost +[0-9.]+%)$'

test_kill_to_the_launcher_ends_the_jvm() {
  open_pane
  start_screen ''
  jvm=$(jvm_pid)
  kill -KILL "$(launcher_pid)"
  wait_until "the JVM ends" no_process "$jvm"
}
no_process() {
  ! kill -0 "$1" 2>/dev/null
}

test_terminal_that_goes_away_ends_everything() {
  open_pane
  start_screen ''
  launcher=$(launcher_pid)
  jvm=$(jvm_pid)
  tmux_ kill-server
  wait_until "the launcher ends" no_process "$launcher"
  wait_until "the JVM ends" no_process "$jvm"
}

# Tests look at processes of their own (by -p or -c): the machine may run ten thousand others.

# known_load NAME SECONDS: a busy program of that comm: main, work, then seventy and thirty.
known_load() {
  cc -O2 -fomit-frame-pointer -o "$work/$1" "$root/bench/programs/split.c"
  busy "$work/$1" "$2" >/dev/null
}

test_move_zoom_and_back() {
  known_load known 600
  open_pane
  start_screen "-p $load --states on"
  wait_for 'thirty'
  keys /
  tmux_ send-keys -l '^seventy$'
  wait_for '^ /\^seventy\$'
  wait_for 'matched *[67][0-9]'
  keys Enter
  wait_for '^ *seventy .* of all'
  keys Enter
  wait_gone 'thirty'
  # Esc closes the search, then goes back one level.
  keys Escape
  wait_for 'search closed'
  keys Escape
  wait_for 'thirty'
  keys 0
  wait_for 'already at the root'
  keys Home
  wait_for '^ *all  *100'
  keys Down
  wait_for '^ *known .*%( ±[ 0-9.]+)? of all'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  terminal_as_before
}

test_six_spinners_on_one_cpu_are_queueing_in_words() {
  local pids=
  for _ in 1 2 3 4 5 6; do
    known_load known 600
    taskset -pc 0 "$load" >/dev/null
    pids=${pids:+$pids,}$load
  done
  open_pane 80 24
  start_screen "-p $pids --states busy"
  # Beside long numbers at the right there is room for nothing behind the words.
  wait_for ' [5-9][0-9] % waits for a CPU( |$)'
  wait_for '^ all .* of it: run [1-4]?[0-9]%  queued [5-9][0-9]%  disk 0%'
  # By CPU there is work alone, and no box for what waits.
  keys H g
  wait_for 'by CPU: time on a CPU only'
  wait_for '[ ▏▎▍▌▋▊▉]cpu 0'
  wait_gone '% waits'
  wait_gone "no cpu"
  keys q
  equal "exit code" 0 "$(ended)"
  # shellcheck disable=SC2086 # a list
  kill ${pids//,/ }
  terminal_as_before
}

test_freeze_and_thaw() {
  open_pane
  start_screen '--states all -c bash -c unseen'
  wait_for "$bash_drawn"
  keys Space
  wait_for 'frozen \+'
  known_load unseen 600
  wait_until "the load has run" ran_a_second
  # The header counts what waits; the graph stands still.
  wait_until "it counts on" frozen_otherwise "$(frozen_for)"
  # Beside the header and the step, which name what is asked for.
  if capture | sed -e 1d -e '/^─ comm /d' | grep -q unseen; then fail "the frozen graph shows what came later"; fi
  keys Space
  wait_gone '❚❚|frozen'
  select_frame '^unseen$' unseen
  keys q
  ended >/dev/null
  kill "$load"
}
# A hundred ticks of user time.
ran_a_second() {
  [ "$(cut -d ' ' -f 14 "/proc/$load/stat")" -ge 100 ]
}
frozen_for() {
  capture | grep -o 'frozen +[0-9]* [a-z]*'
}
frozen_otherwise() {
  local now
  now=$(frozen_for)
  [ -n "$now" ] && [ "$now" != "$1" ]
}

test_search_that_matches_nothing_yet_selects_the_first_match_that_comes() {
  open_pane
  start_screen '--states all'
  keys /
  tmux_ send-keys -l '^comeslater$'
  wait_for '^ /\^comeslater\$'
  keys Enter
  wait_for 'no match yet'
  known_load comeslater 30
  wait_for 'match 1 of 1'
  wait_for '^ comeslater '
  kill "$load"
  # Of a picture that stands still no later match comes.
  keys Escape
  wait_for 'search closed'
  keys Space
  wait_for 'frozen'
  keys /
  tmux_ send-keys -l '^nothing of this name$'
  wait_for '^ /\^nothing of this name\$'
  keys Enter
  wait_for 'no match( |$)'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_filter_by_comm_shows_the_past() {
  open_pane
  start_screen '--states all'
  known_load pastprog 3
  wait "$load"
  load=
  # However thin it is, a search finds it as soon as it is known.
  keys /
  tmux_ send-keys -l '^pastprog$'
  wait_for '^ /\^pastprog\$'
  wait_for 'matched'
  keys Escape
  wait_gone 'matched'
  keys c
  tmux_ send-keys -l pastprog
  keys Enter
  wait_for 'only comm pastprog'
  wait_for '^─ comm pastprog ─'
  # Nothing beside it.
  wait_for '^[ ▏▎▍▌▋▊▉]*pastprog *$'
  wait_for 'seventy'
  # The first row of the list lifts the filter.
  keys c
  wait_for 'all comms'
  keys Enter
  wait_gone '^─ comm pastprog ─'
  wait_gone '^[ ▏▎▍▌▋▊▉]*pastprog *$'
  keys q
  equal "exit code" 0 "$(ended)"
}

# The comm of the pane's shell as a frame, which needs no luck to be seen.
bash_drawn='^[ ▏▎▍▌▋▊▉]*bash *$'

# export_as TYPED ANSWER: chooses a format by what is typed, and waits for the answer.
export_as() {
  keys e
  wait_for 'export as'
  tmux_ send-keys -l -- "$1"
  wait_for "export as $1"
  keys Enter
  wait_for "$2"
}
exported() {
  find "$work" -maxdepth 1 -name "flametop-*$1" -type f
}

test_export_says_where() {
  open_pane 160 40
  start_screen '--states all -c bash'
  wait_for "$bash_drawn"
  keys e
  wait_for 'export as'
  # Enter takes the last choice, folded at first.
  keys Enter
  wait_for '\.folded: [0-9,]+ kB, [0-9,]+ stacks, [0-9.]+ s of task time'
  keys e
  wait_for 'export as'
  keys Escape
  wait_gone 'export as'
  keys q
  equal "exit code" 0 "$(ended)"
  found=$(exported .folded)
  [ -s "$found" ] || fail "no export in $work"
  equal "mode" 600 "$(stat -c %a "$found")"
  contains "provenance" '^# window: [0-9.]+ s, from .* UTC' "$found"
  contains "provenance" '^# filter: comm bash$' "$found"
}

test_export_formats_have_one_total() {
  open_pane 200 40
  start_screen '--states all -c bash'
  wait_for "$bash_drawn"
  keys Space
  wait_for 'frozen \+'
  export_as folded '\.folded: '
  export_as speedscope '\.speedscope\.json: '
  export_as pprof '\.pb\.gz: '
  export_as html '\.html: '
  export_as svg '\.svg: [0-9,]+ kB, the screen, 200×40'
  export_as text '\.txt: [0-9,]+ kB, the screen, 200×40'
  keys q
  equal "exit code" 0 "$(ended)"
  total=$(awk '!/^# / { sum += $NF } END { printf "%.0f", sum }' "$(exported .folded)")
  [ "$total" -gt 0 ] || fail "no total"
  equal "speedscope" "$total" "$(sed -n 's/.*"endValue":\([0-9]*\).*/\1/p' "$(exported .json)")"
  equal "html" "$total" "$(sed -n 's/.*"total":\([0-9]*\),"unit":"us".*/\1/p' "$(exported .html)")"
  go tool pprof -top -unit=us "$(exported .pb.gz)" >"$work/top" 2>&1 || fail "$(cat "$work/top")"
  contains "pprof" "Total samples = $total(\\.0)?us" "$work/top"
  contains "svg" '^states: all$' "$(exported .svg)"
  contains "svg" '>flametop' "$(exported .svg)"
  contains "text" '^# states: all$' "$(exported .txt)"
  contains "text" '^ flametop .*frozen' "$(exported .txt)"
}

test_export_of_nothing_leaves_no_file() {
  open_pane
  sleep 600 &
  local sleeper=$!
  wait_until "it sleeps" grep -q '^State:.S' "/proc/$sleeper/status"
  wait_until "it is a sleep" grep -qx sleep "/proc/$sleeper/comm"
  start_screen "-p $sleeper --states on"
  keys e
  wait_for 'export as'
  keys Enter
  wait_for 'nothing to export'
  kill $sleeper
  keys q
  ended >/dev/null
  terminal_as_before
  # shellcheck disable=SC2144 # at most one
  [ ! -e "$work"/flametop-*.folded ] || fail "an empty export"
}

test_resize_down_to_too_small_and_back() {
  open_pane
  start_screen ''
  resize 80 24
  wait_for "$header_to_the_edge"
  resize 30 8
  wait_for 'it needs 40×10'
  resize 200 50
  wait_for ' live '
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

test_hostile_process_name_changes_nothing() {
  mkfifo "$work/never"
  # A comm that would set the title, switch the screen and ring the bell.
  bash -c "printf '\033]0;X\007\033[?1l' >/proc/self/comm; read -r _ <'$work/never'" &
  load=$!
  open_pane
  start_screen "-p $load --states all"
  wait_for ']0;X.*\[\?1l'
  equal "title" "$(hostname)" "$(tmux_ display-message -p '#{pane_title}')"
  keys q
  ended >/dev/null
  kill "$load"
  terminal_as_before
}

test_shell_stops_and_continues_it() {
  open_pane
  start_screen ''
  local jvm
  jvm=$(jvm_pid)
  kill -STOP "$jvm"
  wait_until "it is stopped" grep -q '^State:.T' "/proc/$jvm/status"
  kill -CONT "$jvm"
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

test_source_shows_lines_live_and_in_a_replay() {
  cc -g -O2 -o "$work/lined" "$root/bench/programs/split.c"
  busy "$work/lined" 300 >/dev/null
  open_pane
  start_screen "-p $load"
  wait_for 'seventy'
  select_frame '^seventy$' seventy
  keys S
  wait_for 'source +seventy'
  wait_for 'seventy .*split\.c:[0-9]+'
  keys Escape
  wait_gone 'S closes'
  keys q
  equal "exit code" 0 "$(ended)"

  "$flametop" record --format flametop --lines -p "$load" -d 2 -o "$work/lined.flametop"
  kill "$load"
  run_line "'$flametop' --replay '$work/lined.flametop' --replay-speed 0"
  wait_for 'replay ended'
  wait_for 'seventy'
  select_frame '^seventy$' seventy
  keys S
  wait_for 'seventy .*split\.c:[0-9]+'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_java_has_source_lines_and_its_own_threads_apart() {
  (cd "$root/sampler-native/sampler/tests/programs" && exec java Busy.java) >/dev/null 2>&1 &
  load=$!
  open_pane
  start_screen "-p $load"
  wait_for ' GC .*JIT comp.*VM '
  select_frame '^JIT compiler$' 'JIT compiler'
  wait_for 'threads of the JVM that compile'
  keys o
  wait_for 'time shown: busy'
  # Before, the JVM compiles the source.
  wait_for 'Busy\.leaf'
  select_frame '^Busy\.leaf$' 'Busy\.leaf'
  keys S
  wait_for 'Busy\.leaf .*Busy\.java:([5-9]|10)'
  keys Escape
  wait_gone 'S closes'
  keys 5 H
  wait_for ' JIT '
  wait_for ' GC .*GC Thread'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_cpus_and_idle_views_are_of_this_machine() {
  open_pane
  start_screen ''
  keys 6
  wait_for '^ CPU +busy +user'
  wait_for '^ all +[0-9.]+%'
  wait_for '^ CPU0 +[0-9.]+%'
  if [[ ! -e /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq ]]; then
    wait_for 'no frequencies: the kernel has no cpufreq driver'
  fi
  keys Enter
  wait_for '1 CPU marked'
  wait_for '^ marked +[0-9.]+%'
  keys s
  wait_for 'first by busy'
  keys Escape
  wait_for 'no CPU marked'
  keys Tab
  wait_for 'idle states  as requested'
  wait_for '^ all +[A-Za-z].* [0-9.]+%'
  wait_for '^ CPU0 +[A-Za-z].* [0-9.]+%'
  keys Escape
  wait_gone 'as requested'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_time_a_range_has_its_means() {
  open_pane
  start_screen ''
  wait_for 'busy [0-9.]+ cpu'
  keys t
  wait_for "$means"
  local column
  column=$(chosen_seconds)
  keys ']'
  wait_for "$means.* the graph"
  keys Left Left Left '['
  wait_until "the range is longer" chosen_longer "$column"
  wait_for "$means"
  keys Enter
  keys Escape
  wait_for 'no range any more'
  keys q
  equal "exit code" 0 "$(ended)"
}

# How long ago it ends grows while one looks, and a second has means when it is over.
means='[0-9]+ s, from [0-9]+ s to [0-9]+ s ago: busy [0-9.]+ cpu, waiting [0-9.]+'
chosen_seconds() {
  capture | sed -nE 's/.* ([0-9]+) s, from [0-9]+ s to .*/\1/p'
}
chosen_longer() {
  local now
  now=$(chosen_seconds)
  [ -n "$now" ] && [ "$now" -gt "$1" ]
}

test_quality_view_lists_processes_and_modules_and_filters() {
  known_load known 600
  open_pane
  start_screen "-p $load"
  wait_for 'seventy'
  keys 8
  wait_for ' [0-9,]+, whole 100.0%.* in all'
  wait_for "$load known +[0-9,]+ +100.0%"
  wait_for '^ passes +[0-9,]+ of [0-9,]+ due'
  wait_for '^ cost +[0-9.]+% of a CPU .*passes'
  wait_for 'memory flametop [0-9]+ MiB, .*symbolizer [0-9]+ MiB'
  keys b
  wait_for '^ known +[0-9,]+ +100.0%'
  keys b
  wait_for '^ native +[0-9,]+ +100.0%'
  keys b
  wait_for 'pid process'
  keys Enter
  wait_for "only pid $load known"
  wait_for 'seventy'
  keys q
  ended >/dev/null
  kill "$load"
}

# A program whose packed symbols are more than flametop unpacks, beside one that has its names.
test_quality_view_says_whose_names_are_over_the_limit() {
  known_load known 600
  innocent=$load
  head -c 64M /dev/zero | xz -0 >"$work/packed"
  cp "$work/known" "$work/bomb"
  objcopy --strip-all --add-section .gnu_debugdata="$work/packed" "$work/bomb"
  busy "$work/bomb" 600 >/dev/null
  open_pane 200 40
  start_screen "-p $innocent,$load"
  wait_for 'seventy'
  keys 8
  wait_for 'other name limit$'
  wait_for "^ +$load bomb .* [1-9][0-9,]*\$"
  wait_for "^ +$innocent known .* ·\$"
  wait_for ', name limit [0-9.]+% in '
  keys b
  wait_for '^ bomb .* [1-9][0-9,]*$'
  wait_for '^ known .* ·$'
  keys q
  ended >/dev/null
  kill "$load" "$innocent"
}

test_events_view_shows_the_graph_of_a_source_and_of_time_again() {
  known_load known 600
  open_pane
  start_screen "-p $load -e switch -e tracepoint:sched:sched_swich"
  wait_for 'seventy'
  keys 9
  wait_for '› time of tasks'
  wait_for '^   switch +[0-9.,]+ +[0-9,]+ +[0-9,]+ '
  keys j Enter
  wait_for 'shows switch'
  wait_for 'all +100.0%.* events'
  keys 9
  wait_for '› switch'
  keys j j Enter
  wait_for 'did you mean sched_switch\?'
  keys k k Enter
  wait_for 'seventy'
  keys q
  ended >/dev/null
  kill "$load"
}

test_budget_lowers_the_rates_and_raises_them_again() {
  cc -O2 -pthread -o "$work/stirrers" "$root/bench/programs/stirrers.c"
  "$work/stirrers" 1500 >"$work/ready" &
  load=$!
  sleep 900 &
  quiet=$!
  wait_until "the load runs" grep -q ready "$work/ready"
  open_pane 160 40
  start_screen "-p $load,$quiet --refresh 0.5 --budget 10"
  wait_for 'budget 10%'
  wait_for ' ([0-9]/[0-9]+|[0-9]+/(49|24|19)) Hz'
  kill "$load"
  wait_for '19/99 Hz'
  wait_gone 'budget'
  keys q
  ended >/dev/null
  kill $quiet
}

test_budget_rates_that_were_given_are_kept() {
  cc -O2 -pthread -o "$work/stirrers" "$root/bench/programs/stirrers.c"
  "$work/stirrers" 1500 >"$work/ready" &
  load=$!
  wait_until "the load runs" grep -q ready "$work/ready"
  open_pane 200 40
  start_screen "-p $load --refresh 0.5 --budget 2 -F 19 --cpu-hz 99"
  wait_for 'budget 2%: over it, rates as given +19/99 Hz'
  keys q
  ended >/dev/null
  kill "$load"
}
