# shellcheck shell=bash disable=SC2034,SC2154
title="10,000 sleeping threads, one process"
comms='load-sleepers'
load_start() { load_program sleepers 1 10000; }
