# shellcheck shell=bash disable=SC2154,SC2016
# `flametop agent` and the stores that it pushes to: programs of e2e/stores, which Go builds from pinned modules.

# build_store NAME: builds it, without optimizing what is compiled to run once, and chooses a port.
build_store() {
  go version >"$work/go" 2>&1 || skip "no go is installed: $(head -n 1 "$work/go")"
  (cd "$root/e2e/stores" && GOFLAGS=-mod=readonly go build -gcflags='all=-N -l -dwarf=false' -ldflags='-s -w' -o "$work/store" "./$1") >"$work/go" 2>&1 ||
    { grep -qE 'requires go >=|no such host|connection refused|dial tcp|toolchain' "$work/go" &&
      skip "go cannot build e2e/stores/$1 here: $(tail -n 1 "$work/go")"; } ||
    fail "$(tail -n 20 "$work/go")"
  port=$((20000 + $$ % 20000))
  pids=()
  # One that was stopped ends when it goes on.
  trap 'kill "${pids[@]}" 2>/dev/null; kill -CONT "${pids[@]}" 2>/dev/null || :' EXIT
}

start_store() {
  "$work/store" "$port" "$@" >"$work/stored" 2>>"$work/store.err" &
  pids+=("$!")
}

# start_agent OPTIONS…: with the metrics on a socket.
start_agent() {
  # nohup has those that it starts ignore HUP.
  env --default-signal=HUP "$flametop" agent --every 1 --metrics "unix:$work/metrics" "$@" 2>>"$work/err" </dev/null &
  agent=$!
  pids+=("$agent")
}

metrics() {
  curl -sf --unix-socket "$work/metrics" http://agent/metrics
}
# metric NAME: its value now; nothing if the agent does not answer.
metric() {
  metrics | sed -n "s/^flametop_agent_$1 //p"
}
at_least() {
  [ "$(metric "$1")" -ge "$2" ] 2>/dev/null
}
settled() {
  metrics >"$work/now" || return 1
  awk '/^flametop_agent_profiles_(made|found)_total/ { due += $2 } /^flametop_agent_profiles_sent_total/ { sent = $2 }
    END { exit !(sent > 0 && sent == due) }' "$work/now"
}

# same_totals AWK: the store's totals of the profiles that were sent by the moment of $work/now, by state, are those of the agent's
# own counters. AWK prints "NUMBER STATE NS" for a line of the store.
same_totals() {
  sent=$(sed -n 's/^flametop_agent_profiles_sent_total //p' "$work/now")
  grep '^profile ' "$work/stored" | awk "$1" | awk -v sent="$sent" '$1 <= sent { sum[$2] += $3 }
    END { for (s in sum) printf "%s %.0f\n", s, sum[s] }' | sort >"$work/totals"
  sed -n 's/^flametop_agent_profiled_nanoseconds_total{state="\([a-z_]*\)"} /\1 /p' "$work/now" | sort >"$work/own"
  cmp "$work/totals" "$work/own" || fail "$(diff "$work/totals" "$work/own")"
  [ "$(awk '$1 == "on_cpu" { print $2 }' "$work/own")" -gt 0 ] || fail "no time on a CPU: $(cat "$work/own")"
}
of_pprof='{ n++; for (i = 4; i <= NF; i++) { split($i, a, /[\/=]/); print n, a[1], a[3] } }'

end_agent() {
  kill -TERM "$agent"
  status=0
  wait "$agent" || status=$?
  equal "exit code" 0 $status
}

test_agent_pushes_to_pyroscope_and_reads_its_settings_again() {
  build_store pyroscope
  start_store secret-word
  echo secret-word >"$work/token"
  printf 'push = http://127.0.0.1:%s\nto = pyroscope\ntoken-file = %s\nlabel = env=one\n' $port "$work/token" >"$work/conf"
  start_agent --config "$work/conf" --states all
  wait_until "three profiles are sent" at_least profiles_sent_total 3
  wait_until "nothing waits" settled
  same_totals "$of_pprof"
  contains "labels" '^profile __name__=flametop,env=one,host=[^,]+,service_name=flametop ' "$work/stored"
  contains "a sample" '^sample on_cpu=[0-9]+ cgroup=[^,]*,comm=[^,]+,host=[^,]+,pid=[0-9]+,process=[^,]+,state=run ' "$work/stored"
  sed -i 's/env=one/env=two/' "$work/conf"
  kill -HUP "$agent"
  wait_until "profiles have the new label" grep -q 'env=two' "$work/stored"
  echo 'label = nothing' >>"$work/conf"
  kill -HUP "$agent"
  wait_until "a wrong line is told" grep -q "the settings stay as they were: label 'nothing'" "$work/err"
  end_agent
  contains "the end" ' profiles made, [0-9]+ sent, 0 dropped; none waits' "$work/err"
  ! grep -r secret-word "$work/err" || fail "the token is in a line"
}

test_agent_keeps_profiles_while_parca_is_away() {
  build_store pyroscope
  start_agent --push http://127.0.0.1:$port --to parca --spool "$work/spool"
  wait_until "two profiles wait" at_least spool_profiles 2
  wait_until "that is told" grep -q 'the store 127.0.0.1:[0-9]* cannot be reached; profiles wait' "$work/err"
  equal "lines about the store" 1 "$(grep -c 'the store' "$work/err")"
  # A crash; the launcher ends with its JVM.
  kill -KILL "$(pgrep -P "$agent" | head -n 1)"
  wait "$agent" || :
  waiting=$(find "$work/spool" -name '*.parca' | wc -l)
  start_store
  start_agent --push http://127.0.0.1:$port --to parca --spool "$work/spool"
  wait_until "a profile of its own is sent" at_least profiles_sent_total $((waiting + 1))
  equal "found" "$waiting" "$(metric profiles_found_total)"
  end_agent
  made=$(sed -n 's/.*flametop: \([0-9,]*\) profiles made, .*/\1/p' "$work/err" | tail -n 1)
  equal "profiles that came" $((waiting + made)) "$(grep -c '^profile ' "$work/stored")"
  equal "files that are left" 0 "$(find "$work/spool" -name '*.parca' | wc -l)"
}

has_run_four_seconds() {
  [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge $((4 * $(getconf CLK_TCK))) ]
}
is_recording() {
  "$flametop" record --replay "$1" -o - 2>/dev/null | grep -q .
}
# of_seventy FILE: sum of all stacks, and sum of those that end in seventy.
of_seventy() {
  awk '/^#/ { next } { all += $NF } /;seventy [0-9]+$/ { of += $NF } END { printf "%.0f %.0f\n", all, of }' "$1"
}

# A program that is stopped, works, and is stopped again, so that both see all of the work. Its time on a CPU is the kernel's, and the same;
# how it is divided is each sampler's own, within the error of so many samples.
test_agent_sends_the_time_that_record_sees_too() {
  build_store pyroscope
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c" || fail "cc failed"
  "$work/known" 3600 >/dev/null &
  program=$!
  pids+=("$program")
  wait_until "the program runs" grep -qx known "/proc/$program/comm"
  kill -STOP "$program"
  start_store
  start_agent --push http://127.0.0.1:$port --to pyroscope --states all -p "$program"
  "$flametop" record -p "$program" --format flametop -o - >"$work/beside.flametop" 2>"$work/record.err" </dev/null &
  recorder=$!
  pids+=("$recorder")
  wait_until "the agent samples" at_least profiles_made_total 1
  wait_until "record samples" is_recording "$work/beside.flametop"
  kill -CONT "$program"
  wait_until "the program has worked" has_run_four_seconds "$program"
  kill -STOP "$program"
  wait_until "two profiles more are made" at_least profiles_made_total $(($(metric profiles_made_total) + 2))
  # A shell starts what is in the background with INT ignored.
  kill -TERM "$recorder"
  status=0
  wait "$recorder" || status=$?
  equal "exit code of record: $(cat "$work/record.err")" 143 $status
  wait_until "nothing waits" settled
  same_totals "$of_pprof"
  end_agent

  for unit in us samples; do
    "$flametop" record --replay "$work/beside.flametop" --states run --unit $unit -o "$work/$unit.folded" 2>>"$work/err" || fail "no replay"
  done
  sed -n 's/^sample on_cpu=\([0-9]*\)[, ].*,state=run \(.*\)$/\1 \2/p' "$work/stored" |
    awk '{ all += $1 } $2 ~ /^seventy;/ { of += $1 } END { printf "%.0f %.0f\n", all / 1000, of / 1000 }' >"$work/pushed"
  of_seventy "$work/us.folded" >"$work/recorded"
  of_seventy "$work/samples.folded" >"$work/counted"
  paste -d ' ' "$work/pushed" "$work/recorded" "$work/counted" | tee "$work/both" | awk '{
    p = $4 / $3; n = $5; bound = 4 * sqrt(2 * p * (1 - p) / n); apart = $2 / $1 - p; sums = $1 / $3 - 1
    exit !(n > 100 && p > 0.6 && p < 0.8 && apart < bound && -apart < bound && sums < 0.001 && -sums < 0.001) }' ||
    fail "pushed: all, seventy; recorded: all, seventy; samples: all, seventy: $(cat "$work/both")"
}

# Long: the Collector is compiled.
test_agent_pushes_to_the_collector_of_opentelemetry() {
  build_store collector
  start_store
  start_agent --push http://127.0.0.1:$port --to otlp --states all --label service_name=shop
  wait_until "three profiles are sent" at_least profiles_sent_total 3
  wait_until "nothing waits" settled
  same_totals '$2 == "other" { n++ } { print n, $2, $5 }'
  contains "labels" '^profile on_cpu nanoseconds [0-9]+ [0-9]+ [^ ]+ shop$' "$work/stored"
  contains "a sample" '^sample on_cpu [0-9]+ flametop\.process=[^,]+,flametop\.state=run,process\.executable\.name=[^,]+,process\.linux\.cgroup=[^,]+,process\.pid=[0-9]+ ' "$work/stored"
  end_agent
  equal "errors of the store" 0 "$(grep -c . "$work/store.err" || :)"
}

test_agent_samples_with_the_capabilities_of_its_unit() {
  unit=$root/setup/bundle/systemd/flametop-agent.service
  if systemd-analyze --version >/dev/null 2>&1; then
    sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|; /^Documentation=/d' "$unit" >"$work/flametop-agent.service"
    systemd-analyze verify "$work/flametop-agent.service" >"$work/verify" 2>&1 || fail "$(cat "$work/verify")"
  fi
  set=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr '[:upper:]' '[:lower:]' | sed 's/ *cap_/,+/g')
  setpriv --no-new-privs --bounding-set "$set" --inh-caps "$set" \
    "$flametop" record -d 2 --states all -o "$work/out.folded" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  ! grep -E 'missing|no kernel symbols' "$work/err" || fail "a capability is missing"
  contains "names of the kernel" '_\[k\]' "$work/out.folded"
  contains "names of programs" '__libc_start_main|start_thread' "$work/out.folded"
}
