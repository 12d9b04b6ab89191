# shellcheck shell=bash disable=SC2034,SC2154
# bpftrace's one-liner, with the kernel's stack beside the user's.
counts=cpu
first=7
tool_why_not() { command -v bpftrace >/dev/null || echo "package bpftrace"; }
tool_start() { exec env --default-signal=INT BPFTRACE_CACHE_USER_SYMBOLS=1 bpftrace -e "profile:hz:$cpu_hz { @[comm, ustack, kstack] = count(); }"; }
tool_said() { awk '/Lost [0-9]+ events/ { lost += $2 } END { print lost + 0 }' "$1/out" "$1/err"; }
tool_stacks() {
  awk '
    /^@\[/ { comm = $0; sub(/^@\[/, "", comm); sub(/, *$/, "", comm); gsub(/;/, ":", comm); gsub(/ /, "_", comm); part = 0; user = kernel = ""; next }
    /^, *$/ { part = 1; next }
    /^(, )?\]: [0-9]+$/ { sum[comm user kernel] += $NF; next }
    /^    / { name = $1; sub(/\+[0-9]+$/, "", name); gsub(/;/, ":", name); if (part) kernel = ";" name "_[k]" kernel; else user = ";" name user }
    END { for (s in sum) print s, sum[s] }' "$1/out"
}
