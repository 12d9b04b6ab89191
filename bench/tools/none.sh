# shellcheck shell=bash disable=SC2034
# Nothing: how much the measure of the load's own work varies by itself.
counts=nothing
tool_why_not() { :; }
tool_start() { exec env --default-signal=INT sleep infinity; }
