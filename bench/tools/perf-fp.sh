# shellcheck shell=bash disable=SC2034,SC2154
# perf record, stacks by frame pointers.
counts=cpu
graph=fp
tool_why_not() { command -v perf >/dev/null || echo "package linux-perf"; }
tool_start() {
  exec env --default-signal=INT perf record -N -a -e cpu-clock -F "$cpu_hz" --call-graph "$graph" -k CLOCK_REALTIME -o "$1/data"
}
# Its names come at the end.
tool_finish() {
  perf script --no-inline -i "$1/data" --ns -F comm,tid,time,ip,sym >"$1/script" 2>/dev/null
}
tool_first() { awk '/^[^\t ]/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { print $i + 0; exit } }' OFMT=%.6f CONVFMT=%.6f "$1/script"; }
tool_said() { perf report -i "$1/data" --stats 2>/dev/null | awk '/LOST_SAMPLES|LOST events/ { lost += $NF } END { print lost + 0 }'; }
tool_stacks() {
  awk '
    /^[^\t ]/ { comm = $0; sub(/ +[0-9]+ +[0-9]+\.[0-9]+: *$/, "", comm); gsub(/;/, ":", comm); gsub(/ /, "_", comm); stack = ""; next }
    /^[\t ]/ { name = $2; if ($1 ~ /^ffff/) name = name "_[k]"; sub(/@.*/, "", name); gsub(/;/, ":", name); stack = ";" name stack; next }
    comm != "" { sum[comm stack]++; comm = "" }
    END { if (comm != "") sum[comm stack]++; for (s in sum) print s, sum[s] }' "$1/script"
}
