# shellcheck shell=bash disable=SC2154
# `flametop record` on the machine as it is.

test_record_folded_lines_end_in_numbers() {
  "$flametop" record -d 2 -o "$work/out.folded" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  [ -s "$work/out.folded" ] || fail "empty"
  if grep -vE '^# ' "$work/out.folded" | grep -qvE '^[^ ]+(;.+)* [0-9]+$'; then
    fail "not folded: $(grep -vE '^# ' "$work/out.folded" | grep -vE '^[^ ]+(;.+)* [0-9]+$' | head -n 3)"
  fi
  equal "mode" 600 "$(stat -c %a "$work/out.folded")"
}

# A symbolizer that is slow, as on a machine that has no CPU time left; it does a little all the time.
test_record_that_is_over_waits_for_names() {
  mkdir -p "$work/slow/target"
  cp "$flametop" "$work/slow"
  cp -r "$root/target/flametop" "$work/slow/target"
  mv "$work/slow/target/flametop/flametop-symbolizer" "$work/slow/symbolizer"
  cat >"$work/slow/target/flametop/flametop-symbolizer" <<EOF
#!/bin/sh
for step in 1 2 3 4 5 6 7 8; do /bin/sleep 0.5; done
exec '$work/slow/symbolizer' "\$@"
EOF
  chmod +x "$work/slow/target/flametop/flametop-symbolizer"
  "$work/slow/flametop" record -d 1 --states all -o "$work/out.folded" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  contains "names of kernel functions" '_\[k\]( |;)' "$work/out.folded"
}

test_record_interrupted_writes_and_says_130() {
  open_pane
  run_line "'$flametop' record --states all -o '$work/out.folded'"
  wait_until "flametop samples" sampling
  keys C-c
  equal "exit code" 130 "$(ended)"
  [ -s "$work/out.folded" ] || fail "nothing was written"
}
# What is to be written is begun, which is after signals are handled.
sampling() {
  compgen -G "$work/.*.part" >/dev/null
}

test_record_ended_by_kill_writes_and_says_143() {
  "$flametop" record --states all -o "$work/out.folded" 2>"$work/err" </dev/null &
  launcher=$!
  wait_until "flametop samples" sampling
  # A background command of a script ignores INT; a service manager's TERM is the same request.
  kill -TERM $launcher
  status=0
  wait $launcher || status=$?
  equal "exit code" 143 $status
  [ -s "$work/out.folded" ] || fail "nothing was written"
}

test_recorded_stream_replays_to_the_same_total() {
  "$flametop" record -d 2 --format flametop -o "$work/out.ft" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  "$flametop" record --replay "$work/out.ft" -o "$work/one.folded" 2>>"$work/err" || fail "$(cat "$work/err")"
  "$flametop" record --replay "$work/out.ft" -o "$work/two.folded" 2>>"$work/err" || fail "$(cat "$work/err")"
  cmp "$work/one.folded" "$work/two.folded" || fail "two replays differ"
}

test_record_formats_have_one_total() {
  "$flametop" record -d 2 --format flametop -o "$work/out.ft" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  for format in folded speedscope pprof html; do
    "$flametop" record --replay "$work/out.ft" --states all --by thread --format $format -o "$work/out.$format" \
      2>>"$work/err" || fail "$(cat "$work/err")"
  done
  total=$(awk '!/^# / { sum += $NF } END { printf "%.0f", sum }' "$work/out.folded")
  [ "$total" -gt 0 ] || fail "no total"
  equal "speedscope" "$total" "$(sed -n 's/.*"endValue":\([0-9]*\).*/\1/p' "$work/out.speedscope")"
  equal "html" "$total" "$(sed -n 's/.*"total":\([0-9]*\),"unit":"us".*/\1/p' "$work/out.html")"
  go tool pprof -top -unit=us "$work/out.pprof" >"$work/top" 2>&1 || fail "$(cat "$work/top")"
  contains "pprof" "Total samples = $total(\\.0)?us" "$work/top"
  go tool pprof -tags "$work/out.pprof" >"$work/tags" 2>&1 || fail "$(cat "$work/tags")"
  contains "labels" '^ *tid: Total' "$work/tags"
}

# Long: inferno is compiled.
test_folded_file_opens_in_inferno_with_the_same_total() {
  "$flametop" record -d 2 --states all -o "$work/out.folded" 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
  total=$(grep -v '^# ' "$work/out.folded" | awk '{ sum += $NF } END { printf "%.0f", sum }')
  (cd "$root/sampler-native" && cargo run -q --locked -p flametop-interop -- "$work/out.folded") \
    >"$work/drawn" 2>"$work/err" || fail "$(cat "$work/err")"
  read -r drawn frames <"$work/drawn"
  equal "total" "$total" "$drawn"
  [ "$frames" -gt 10 ] || fail "only $frames frames were drawn"
}

test_record_that_crashes_says_so_in_one_line() {
  (
    cd "$work" || exit
    exec "$flametop" record -o crashed >out 2>err </dev/null
  ) &
  local launcher=$!
  wait_until "flametop samples" sampling
  kill -SEGV "$(pgrep -P "$launcher" java)"
  status=0
  wait "$launcher" || status=$?
  equal "exit code" 134 "$status"
  equal "what stdout got" 0 "$(wc -c <"$work/out")"
  contains "message" 'crashed \(signal 6\); please report' "$work/err"
  # shellcheck disable=SC2144 # at most one
  [ ! -e "$work"/hs_err* ] || fail "a crash report is left"
}

# A program without symbols: its functions have names only while a server, or the cache, has its debug file.
test_record_stripped_program_gets_names_of_debuginfod() {
  local port url id
  cat >"$work/busy.c" <<'EOF'
static __attribute__((noinline)) unsigned long turning(unsigned long x) {
  for (int i = 0; i < 100000; i++) x = x * 6364136223846793005UL + 1;
  return x;
}
int main(void) {
  for (volatile unsigned long x = 1;; x = turning(x)) {}
}
EOF
  mkdir "$work/served"
  cc -g -O1 -Wl,--build-id -o "$work/busy" "$work/busy.c"
  objcopy --only-keep-debug "$work/busy" "$work/served/busy.debug"
  strip --strip-all "$work/busy"
  port=$((20000 + $$ % 20000))
  env -u DEBUGINFOD_URLS HOME="$work" debuginfod -F -p "$port" -d "$work/database" "$work/served" \
    >"$work/server" 2>&1 &
  server=$!
  busy "$work/busy"
  trap 'kill "$server" "$load" 2>/dev/null || :; tmux_ kill-server 2>/dev/null || :' EXIT
  url="http://127.0.0.1:$port"
  id=$(readelf -n "$work/busy" | sed -n 's/.*Build ID: //p')
  wait_until "the server has it" curl -sf -m 5 -o "$work/answer" "$url/buildid/$id/debuginfo"
  export DEBUGINFOD_CACHE_PATH="$work/cache"
  record_busy --no-debuginfod
  contains "no name" 'busy\+fn@0x' "$work/out.folded"
  record_busy "--debuginfod=$url"
  contains "its name" ';turning(;| )' "$work/out.folded"
  contains "what it did" 'debuginfod: 1 of 1 fetched' "$work/err"
  kill "$server"
  record_busy
  contains "its name of the cache" ';turning(;| )' "$work/out.folded"
  contains "what it did" 'debuginfod: 1 from the cache' "$work/err"
  unset DEBUGINFOD_CACHE_PATH
}
record_busy() {
  "$flametop" record -p "$load" -d 2 --force -o "$work/out.folded" "$@" 2>"$work/err" ||
    fail "exit code $?: $(cat "$work/err")"
}
