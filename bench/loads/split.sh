# shellcheck shell=bash disable=SC2034,SC2154
title="2 busy threads, 70 % in one function, no frame pointers"
comms='load-split'
roots='main|splitting'
function=seventy
load_start() { load_program load split 2; }
