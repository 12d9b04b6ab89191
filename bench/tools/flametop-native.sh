# shellcheck shell=bash disable=SC2034,SC2154
# The native side and the symbolizer alone: the same session that the JVM opens, its stream thrown away.
counts=nothing
first=7
native='.'
tool_why_not() {
  (cd "$here/../sampler-native" && cargo build -q --release --locked -p flametop-sampler --example session) >&2 || echo "it does not build"
}
tool_start() {
  exec env --default-signal=INT "${CARGO_TARGET_DIR:-$here/../sampler-native/target}/release/examples/session" "$pass_hz" "$cpu_hz" \
    "$here/../target/flametop/flametop-symbolizer"
}
