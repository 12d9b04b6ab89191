# shellcheck shell=bash disable=SC2034,SC2154
title="10,000 sleeping threads, 100 processes of 100"
comms='load-sleepers'
load_start() { load_program sleepers 100 100; }
