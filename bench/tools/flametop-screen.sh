# shellcheck shell=bash disable=SC2034,SC2154
# The open screen, 200 x 60 cells, four pictures a second, in a tmux that is not counted.
counts=nothing
first=7
native='^(sampler|symbolizer|flametop-.*)$'
tool_why_not() { command -v tmux >/dev/null || echo "package tmux"; }
tool_start() {
  local command
  printf -v command '%q ' "$here/../flametop" -F "$pass_hz" --cpu-hz "$cpu_hz" --refresh 0.25 "${budget[@]}"
  env -u TMUX LC_ALL=C.UTF-8 tmux -L "flametop-bench-$$" -f /dev/null new-session -d -x 200 -y 60 \
    "echo \$\$ >'$groups/tool/cgroup.procs'; exec $command 2>'$1/err'"
}
outside=yes
tool_stop() { tmux -L "flametop-bench-$$" send-keys q; }
