# shellcheck shell=bash disable=SC2034,SC2154
title="idle, about 220 tasks"
load_start() {
  local tasks
  tasks=$(find /proc -maxdepth 3 -path '/proc/[0-9]*/task/[0-9]*' 2>/dev/null | wc -l)
  load_program sleepers 1 $((tasks < 219 ? 220 - tasks : 1))
}
