# shellcheck shell=bash disable=SC2034,SC2154
# profile-bee, a crate: built below target/bench, by unwind tables.
counts=cpu
first=7
bee=$here/../target/bench/profile-bee
bee_version=0.3.13
tool_why_not() {
  [ -x "$bee/bin/probee" ] ||
    cargo install profile-bee --version $bee_version --locked --no-default-features --root "$bee" --target-dir "$bee-build" \
      >"$bee.log" 2>&1 || echo "it does not build: $(grep -m 1 '^error' "$bee.log")"
}
# It looks for tracepoints below debugfs, which is not mounted everywhere: in a mount namespace of its own it is.
tool_start() {
  # shellcheck disable=SC2016
  exec unshare --mount env --default-signal=INT sh -c '
    [ -d /sys/kernel/debug/tracing ] || mount -t debugfs debugfs /sys/kernel/debug && exec "$@"' - \
    "$bee/bin/probee" --dwarf true --skip-idle -f "$cpu_hz" -t 0 -o "$1/profile.folded"
}
tool_said() { echo 0; }
tool_stacks() { cat "$1/profile.folded"; }
