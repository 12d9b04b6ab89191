# shellcheck shell=bash disable=SC2034,SC2154
title="50 processes a second that live 20 ms, 5 of them on a CPU"
comms='load-children'
load_start() { load_program load children 50 20; }
# Children count what they live; their parent is there all the time.
load_task_seconds() { od -An -td8 -j8 -N8 "$counters" | awk -v seconds="$1" '{ printf "%.6f\n", $1 / 1e9 + seconds }'; }
