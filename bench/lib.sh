# shellcheck shell=bash disable=SC2154
# What bench/run measures with: control groups, the BPF programs of a process, folded stacks, the table.

# now: seconds since 1970, with microseconds.
now() {
  REPLY=${EPOCHREALTIME/,/.}
}

# calc EXPRESSION: of awk.
calc() {
  awk "BEGIN { printf \"%.9g\", ($1) }"
}

# Control groups of version 2 count the CPU time of all that ran in them, ended or not. Where the hierarchy is not mounted, as on systems
# that use version 1, it is mounted aside: there is only one.
groups_open() {
  groups_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  groups_mounted=
  if [ -z "$groups_root" ]; then
    groups_mounted=$work/cgroup
    mkdir "$groups_mounted"
    mount -t cgroup2 none "$groups_mounted" || {
      echo "bench/run: control groups of version 2 cannot be mounted, and CPU time is counted by them" >&2
      exit 3
    }
    groups_root=$groups_mounted
  fi
  groups=$groups_root/flametop-bench-$$
  mkdir "$groups" "$groups/load" "$groups/tool"
}

groups_close() {
  [ -n "${groups-}" ] || return 0
  group_end load
  group_end tool
  rmdir "$groups/load" "$groups/tool" "$groups"
  [ -z "$groups_mounted" ] || umount "$groups_mounted"
}

# group_join GROUP: this subshell, and what it starts.
group_join() {
  echo "$BASHPID" >"$groups/$1/cgroup.procs"
}

group_empty() {
  ! grep -q 'populated 1' "$groups/$1/cgroup.events"
}

# group_end GROUP: kills what is left in it.
group_end() {
  local pid
  until group_empty "$1"; do
    while read -r pid; do
      kill -KILL "$pid" 2>/dev/null
    done <"$groups/$1/cgroup.procs"
    sleep 0.05
  done
}

# group_cpu GROUP: CPU time so far, microseconds.
group_cpu() {
  local key value
  while read -r key value; do
    if [ "$key" = usage_usec ]; then
      REPLY=$value
      return
    fi
  done <"$groups/$1/cpu.stat"
}

# group_memory GROUP: most resident memory of each process so far, together, KiB.
group_memory() {
  local pid
  while read -r pid; do
    grep -s '^VmHWM' "/proc/$pid/status"
  done <"$groups/$1/cgroup.procs" | awk '{ sum += $2 } END { print sum + 0 }'
}

# group_threads GROUP REGEX: CPU time so far of the threads of these names, nanoseconds.
group_threads() {
  local pid task name
  while read -r pid; do
    for task in "/proc/$pid/task/"*; do
      { read -r name <"$task/comm"; } 2>/dev/null || continue
      [[ $name =~ $2 ]] && cut -d' ' -f1 "$task/schedstat" 2>/dev/null
    done
  done <"$groups/$1/cgroup.procs" | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# group_bpf GROUP TYPE: of the BPF programs that it holds open: runs of those of this type, nanoseconds of those that run in the time of
# others (an iterator's are its reader's own), bytes of its maps, and runs of its iterators.
group_bpf() {
  local pid
  while read -r pid; do
    grep -s . "/proc/$pid/fdinfo/"* | sed "s|^|$pid |"
  done <"$groups/$1/cgroup.procs" | awk -v type="$2" '
    { file = $0; sub(/:[a-z_-]+:.*/, "", file); key = $0; sub(/^[^:]*:/, "", key); sub(/:.*/, "", key); value = $NF; of[file, key] = value; files[file] }
    END {
      for (f in files)
        if (of[f, "link_type"] == "iter") reader[of[f, "prog_id"]]
      for (f in files) {
        if ((f, "map_id") in of) maps[of[f, "map_id"]] = of[f, "memlock"]
        else if ((f, "run_cnt") in of) {
          id = of[f, "prog_id"]
          if (of[f, "prog_type"] == type) runs[id] = of[f, "run_cnt"]
          if (id in reader) visits[id] = of[f, "run_cnt"]
          else time[id] = of[f, "run_time_ns"]
        }
      }
      for (id in runs) all += runs[id]
      for (id in time) ns += time[id]
      for (id in maps) bytes += maps[id]
      for (id in visits) visited += visits[id]
      printf "%d %d %d %d\n", all, ns, bytes, visited
    }'
}

# bpf_stats on|off: whether the kernel counts and times the runs of BPF programs.
bpf_stats() {
  case $1 in
    on) echo 1 ;;
    off) echo "$bpf_stats_before" ;;
  esac >/proc/sys/kernel/bpf_stats_enabled
}

# of_stacks COMMS ROOTS NAME: of folded stacks: how many are of these comms, the share that reaches a root, and the share with this function.
of_stacks() {
  awk -v comms="^($1)$" -v roots="^($2)$" -v name="$3" '
    /^#/ { next }
    {
      count = $NF
      sub(/ [0-9]+$/, "")
      frames = split($0, frame, ";")
      if (frame[1] !~ comms) next
      all += count
      for (i = 2; i <= frames; i++) {
        if (frame[i] ~ /_\[k\]$/) break
        if (frame[i] ~ roots) { whole += count; break }
      }
      for (i = 2; i <= frames; i++)
        if (frame[i] == name) { named += count; break }
    }
    END { if (all) printf "%d %.2f %.2f\n", all, 100 * whole / all, 100 * named / all; else print "0 - -" }'
}
