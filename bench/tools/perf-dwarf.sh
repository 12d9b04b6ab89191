# shellcheck shell=bash disable=SC2034,SC2154
# perf record, stacks by unwind tables of 8 KiB copied each time.
# shellcheck source=bench/tools/perf-fp.sh
. "$here/tools/perf-fp.sh"
graph=dwarf
