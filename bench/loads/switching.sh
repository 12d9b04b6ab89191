# shellcheck shell=bash disable=SC2034,SC2154
title="500 threads in pairs, 40 pipe trips a second each"
comms='load-switching'
roots='main|asking|answering'
load_start() { load_program load switching 250 40; }
