# shellcheck shell=bash disable=SC2034,SC2154
# offcputime of libbpf-tools: time off the CPU, counted when a thread comes back to it.
counts='time'
first=26 # a program on the switch of tasks
tool_why_not() { [ -x /usr/sbin/offcputime ] || echo "package libbpf-tools"; }
tool_start() { exec env --default-signal=INT /usr/sbin/offcputime --stack-storage-size=16384; }
tool_said() { awk '/could not be displayed|lost/ { for (i = 1; i <= NF; i++) if ($i + 0 > 0) lost += $i } END { print lost + 0 }' "$1/err"; }
tool_stacks() {
  awk '
    /^    -  / { comm = $0; sub(/^ *- */, "", comm); sub(/ \([0-9]+\)$/, "", comm); gsub(/;/, ":", comm); gsub(/ /, "_", comm); next }
    /^        [0-9]+$/ { sum[comm stack] += $1; stack = ""; next }
    /^    / { name = $1; gsub(/;/, ":", name); stack = ";" name stack; next }
    END { for (s in sum) print s, sum[s] }' OFMT=%.0f CONVFMT=%.0f "$1/out"
}
