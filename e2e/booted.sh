# shellcheck shell=bash disable=SC2154
# The agent as a service of a system that systemd has booted, installed from the Debian package. The tests follow each other in one system.
# Sourced by e2e/bundle, which sets root, out, work, deb and here (the root of that system, which is changed).

boot=
# pid_1: of that system's systemd, by the numbers of this one.
pid_1() {
  local starter
  starter=$(pgrep -P "$boot") && pgrep -P "$starter"
}
# booted COMMAND…: in that system.
booted() {
  nsenter --target "$(pid_1)" --all --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
}
# up: boots it.
up() {
  "$root/e2e/boot" "$here" >"$out/boot.log" 2>&1 </dev/null &
  boot=$!
}
# end_of_boot: at once, and of the stores in its network.
end_of_boot() {
  local file
  for file in "$work"/store-*/pid; do
    [ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null || :
  done
  if [ -n "$boot" ]; then
    pgrep -P "$boot" | xargs --no-run-if-empty kill -KILL 2>/dev/null || :
    wait "$boot" || :
    boot=
  fi
}

# store_starts PORT; what it takes is in $work/store-PORT.
store_starts() {
  local at=$work/store-$1
  mkdir -p "$at"
  rm -f "$at/ready"
  nsenter --target "$(pid_1)" --net python3 "$root/e2e/stores/kept.py" "$1" secret-word "$at" >"$at/log" 2>&1 </dev/null &
  echo $! >"$at/pid"
  wait_until "the store is ready" test -s "$at/ready"
}
store_ends() {
  kill "$(cat "$work/store-$1/pid")"
  rm "$work/store-$1/pid"
}
taken() {
  [ -e "$work/store-$1/taken" ] && [ "$(wc -l <"$work/store-$1/taken")" -ge "$2" ]
}
# settings LINE…: beside those that all tests have.
settings() {
  printf '%s\n' "token-file = /etc/flametop/token" "to = parca" "every = 1" "metrics = 127.0.0.1:9464" "$@" >"$here/etc/flametop/agent.conf"
}
# shown PROPERTY: of the service.
shown() {
  booted systemctl show --value --property "$1" flametop-agent
}
is_shown() {
  [ "$(shown "$1")" = "$2" ]
}
# journal [OPTIONS…]: into a file, the lines of the service since it was started last.
journal() {
  booted journalctl --no-pager --output cat --unit flametop-agent "$@" >"$work/journal-of-all" || return
  awk '/^Starting flametop-agent/ { lines = "" } { lines = lines $0 "\n" } END { printf "%s", lines }' "$work/journal-of-all" >"$work/journal"
}
is_told() {
  journal && grep -qE -- "$1" "$work/journal"
}
# metric NAME: its value; nothing while the agent does not answer.
metric() {
  # shellcheck disable=SC2016 # the inner shell expands it
  nsenter --target "$(pid_1)" --net bash -c 'exec 3<>/dev/tcp/127.0.0.1/9464 && printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 && cat <&3' 2>/dev/null |
    sed -n "s/^flametop_agent_$1 \([0-9]*\).*/\1/p"
}
# is_metric NAME VALUE, reaches NAME VALUE: now.
is_metric() {
  [ "$(metric "$1")" = "$2" ]
}
reaches() {
  local value
  value=$(metric "$1") && [ "${value:-0}" -ge "$2" ]
}

comes_up() {
  local state
  wait_until "systemd answers" booted true
  wait_until "systemd takes commands" booted systemctl is-system-running --wait
  state=$(booted systemctl is-system-running)
  equal "state: $(booted systemctl --failed --no-pager)" running "$state"
}
is_installed_switched_off() {
  cp "$deb" "$here/root/flametop.deb"
  booted dpkg -i /root/flametop.deb || fail "exit code $?"
  equal "the unit" disabled "$(booted systemctl is-enabled flametop-agent || :)"
  booted systemctl start flametop-agent || fail "exit code $?"
  equal "without settings" "inactive no" "$(shown ActiveState) $(shown ConditionResult)"
}
# Of a program of another user, in a group of its own; and of the kernel.
sends_profiles_by_its_settings() {
  booted install -D -m 600 /usr/share/doc/flametop/agent.conf /etc/flametop/agent.conf || fail "exit code $?"
  (umask 077 && echo secret-word >"$here/etc/flametop/token")
  settings "push = http://127.0.0.1:7070"
  cp "$work/known" "$here/usr/bin/known"
  booted systemd-run --quiet --unit known --uid daemon /usr/bin/known 3600
  store_starts 7070
  booted systemctl start flametop-agent || fail "exit code $?"
  wait_until "five profiles are taken: $(booted systemctl status --no-pager --full flametop-agent)" taken 7070 5
  contains "a function of another user's program" '^seventy$' "$work/store-7070/names"
  contains "its control group" '^/.*/known\.service$' "$work/store-7070/names"
  contains "a function of the kernel" '^[a-z_0-9]+_\[k\]$' "$work/store-7070/names"
  contains "labels" ' host=flametop-boot$' "$work/store-7070/taken"
  contains "labels" ' service_name=flametop( |$)' "$work/store-7070/taken"
  equal "state" "active running" "$(shown ActiveState) $(shown SubState)"
}
writes_plain_lines_to_the_journal() {
  journal
  contains "the start" '^flametop: profiles go to 127\.0\.0\.1, none waits$' "$work/journal"
  ! grep -nP '[^\x20-\x7e]|^\s|Exception|secret-word' "$work/journal" || fail "lines that are not plain"
  ! grep -v -e '^flametop: ' -e 'flametop-agent\.service' "$work/journal" || fail "lines that do not say whose they are"
}
answers_with_its_metrics() {
  reaches profiles_sent_total 5 || fail "profiles sent: '$(metric profiles_sent_total)'"
  reaches last_success_timestamp_seconds 1 || fail "no time of a success"
}
# No more than the unit says, and what systemd makes of that.
has_few_rights() {
  local pid missing
  pid=$(shown MainPID)
  booted cat "/proc/$pid/status" >"$work/status"
  # PTRACE, DAC_READ_SEARCH, KILL, SETGID, SETUID, SETPCAP, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE.
  contains "rights that it may have" '^CapBnd:.0*1c4000801e4$' "$work/status"
  contains "no new ones" '^NoNewPrivs:.1$' "$work/status"
  missing=$(booted systemd-analyze security --no-pager --threshold 45 flametop-agent) || fail "$missing"
  equal "rights of the spool" "700 root" "$(booted stat -c '%a %U' /var/lib/flametop)"
}
sends_elsewhere_after_a_reload() {
  local pid
  pid=$(shown MainPID)
  store_starts 7071
  settings "push = http://127.0.0.1:7071" "label = env=two"
  booted systemctl reload flametop-agent || fail "exit code $?"
  wait_until "the other store takes profiles" taken 7071 2
  wait_until "they have the new label" grep -q 'env=two' "$work/store-7071/taken"
  settings "push = nothing"
  booted systemctl reload flametop-agent || fail "exit code $?"
  wait_until "wrong settings are told" is_told '^flametop: the settings stay as they were: '
  equal "the process" "$pid" "$(shown MainPID)"
  settings "push = http://127.0.0.1:7071"
  store_ends 7070
}
# Each interval begins where the one before ended; at each of the two starts there is a gap, and there alone. Awk's numbers are too short for
# nanoseconds since 1970.
keeps_profiles_over_a_restart_and_sends_them_in_order() {
  local spool=$here/var/lib/flametop
  store_ends 7071
  rm "$work/store-7071/taken"
  booted systemctl restart flametop-agent || fail "exit code $?"
  wait_until "two profiles wait" reaches spool_profiles 2
  booted systemctl restart flametop-agent || fail "exit code $?"
  wait_until "those of before are found" reaches profiles_found_total 2
  wait_until "more wait" reaches spool_profiles 5
  store_starts 7071
  wait_until "all are sent" is_metric spool_profiles 0
  booted systemctl stop flametop-agent || fail "exit code $?"
  equal "files that are left" "" "$(find "$spool" -name '*.parca')"
  awk '{ begun = substr($1, 5) + 0; late += NR > 1 && begun < end; gaps += NR > 1 && begun > end; end = begun + $2 } END { print late + 0, gaps + 0 }' \
    "$work/store-7071/taken" >"$work/order"
  equal "out of order, gaps: $(cut -d' ' -f1,2 "$work/store-7071/taken")" "0 2" "$(cat "$work/order")"
}
stops_cleanly() {
  local begun
  booted systemctl start flametop-agent || fail "exit code $?"
  begun=$(wc -l <"$work/store-7071/taken")
  wait_until "it works" taken 7071 $((begun + 2))
  booted systemctl stop flametop-agent || fail "exit code $?"
  equal "state" "inactive success 0" "$(shown ActiveState) $(shown Result) $(shown ExecMainStatus)"
  journal
  ! grep -iE 'timed out|killing|SIGKILL|left-over' "$work/journal" || fail "it does not end by itself"
  contains "the end" '^flametop: [0-9,]* profiles made, [0-9,]* sent, 0 dropped; none waits$' "$work/journal"
  equal "processes of flametop" "" "$(booted sh -c 'cat /proc/[0-9]*/comm' | grep flametop || :)"
}
is_started_again_after_a_crash() {
  settings "push = http://127.0.0.1:7071"
  booted systemctl start flametop-agent || fail "exit code $?"
  wait_until "it works" reaches profiles_sent_total 1
  booted sh -c "kill -KILL $(shown MainPID)"
  wait_until "systemd waits to start it again" is_shown SubState auto-restart
  equal "processes of flametop" "" "$(booted sh -c 'cat /proc/[0-9]*/comm' | grep flametop || :)"
  booted systemctl stop flametop-agent
}
is_not_started_again_by_wrong_settings() {
  settings "push = nothing"
  booted systemctl start flametop-agent || fail "exit code $?"
  wait_until "it ends" is_shown SubState failed
  equal "exit code, starts" "2 0" "$(shown ExecMainStatus) $(shown NRestarts)"
  journal
  contains "what is wrong" "^flametop: push: 'nothing' is no URL " "$work/journal"
  booted systemctl reset-failed flametop-agent
}
# The store is in the network of what was booted, so the last profiles wait for the next boot.
comes_back_with_the_next_boot() {
  settings "push = http://127.0.0.1:7071"
  booted systemctl enable --now flametop-agent || fail "exit code $?"
  wait_until "it works" reaches profiles_sent_total 1
  kill -RTMIN+4 "$(pid_1)"
  store_ends 7071
  wait_until "the system is off" has_ended "$boot"
}
was_ended_well_and_is_back() {
  local begun
  begun=$(wc -l <"$work/store-7071/taken")
  store_starts 7071
  wait_until "it works" taken 7071 $((begun + 2))
  journal --boot -1
  contains "the end" '^flametop: [0-9,]* profiles made, ' "$work/journal"
  ! grep -iE 'timed out|SIGKILL|left-over' "$work/journal" || fail "it does not end by itself"
}
is_the_new_one_after_an_upgrade() {
  local pid
  pid=$(shown MainPID)
  booted dpkg -i /root/flametop.deb || fail "exit code $?"
  equal "state" active "$(shown ActiveState)"
  [ "$(shown MainPID)" != "$pid" ] || fail "it is the old one: $pid"
  wait_until "it works" reaches profiles_sent_total 1
}
is_purged_with_all_that_it_made() {
  booted dpkg -P flametop || fail "exit code $?"
  equal "the unit" not-found "$(shown LoadState)"
  equal "processes of flametop" "" "$(booted sh -c 'cat /proc/[0-9]*/comm' | grep flametop || :)"
  # Settings and token are the user's own.
  find "$here"/{etc,run,usr,var} -xdev -name '*flametop*' ! -path '*/etc/flametop*' ! -path '*/var/log/*' >"$work/left"
  [ ! -s "$work/left" ] || fail "it leaves: $(cat "$work/left")"
}

# in_the_booted ROOT TITLE: a copy of that root is booted.
in_the_booted() {
  local title=$2 what
  here=$out/booted
  rm -rf "$here" "$work"/store-*
  cp -a "$1" "$here"
  echo flametop-boot >"$here/etc/hostname"
  # Kept from one boot to the next.
  mkdir -p "$here/var/log/journal"
  up
  for what in comes_up is_installed_switched_off sends_profiles_by_its_settings writes_plain_lines_to_the_journal answers_with_its_metrics \
    has_few_rights sends_elsewhere_after_a_reload keeps_profiles_over_a_restart_and_sends_them_in_order stops_cleanly \
    is_started_again_after_a_crash is_not_started_again_by_wrong_settings comes_back_with_the_next_boot; do
    try "$title" "$what"
  done
  end_of_boot
  up
  for what in comes_up was_ended_well_and_is_back is_the_new_one_after_an_upgrade is_purged_with_all_that_it_made; do
    try "$title" "$what"
  done
  end_of_boot
  rm -rf "$here"
}
