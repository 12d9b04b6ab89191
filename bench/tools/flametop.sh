# shellcheck shell=bash disable=SC2034,SC2154
# flametop record, the whole machine, all states.
counts=passes
first=7 # the CPU clock's program
native='^(sampler|symbolizer|flametop-.*)$'
tool_why_not() { :; }
tool_start() {
  exec env --default-signal=INT "$here/../flametop" record -F "$pass_hz" --cpu-hz "$cpu_hz" --states all --by comm --unit samples \
    -o "$1/folded" "${budget[@]}"
}
tool_stacks() { cat "$1/folded"; }
# Late passes miss every task of the load.
tool_said() {
  tr -d , <"$1/err" | awk -v tasks="$2" '
    function before(word) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
    /^flametop: passes/ { lost += before("late") * tasks }
    /^flametop: samples/ { lost += before("lost") + before("not fetched") }
    END { print lost + 0 }'
}
tool_passes() {
  tr -d , <"$1/err" | awk '/^flametop: passes/ { if (match($0, /[0-9]+ due/)) due = substr($0, RSTART) + 0; if (match($0, /[0-9]+ made/)) made = substr($0, RSTART) + 0 }
    END { if (due) printf "%.2f\n", 100 * made / due }'
}
