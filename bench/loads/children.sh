# shellcheck shell=bash disable=SC2034,SC2154
title="50 processes a second that live 20 ms, 5 of them on a CPU"
comms='load-children'
load_start() { load_program load children 50 20; }
# Besides their parent; they count themselves the seconds that they live.
load_threads() { echo 1; }
load_lived() { od -An -td8 -j8 -N8 "$counters" | awk '{ printf "%.6f\n", $1 / 1e9 }'; }
