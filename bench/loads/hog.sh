# shellcheck shell=bash disable=SC2034,SC2154
title="mprotect over 3 GiB in a loop, 24 sleeping threads beside it"
comms='load-hog'
roots='main|sleeping'
load_why_not() { awk '/^MemAvailable/ && $2 < 4194304 { print "4 GiB of free memory" }' /proc/meminfo; }
load_start() { load_program load hog 3 24; }
