# shellcheck shell=bash
# Tests that fail and pass when they are run once more. Sourced by what runs tests, which sets `root` to the repository.

# How many tests that flaky.txt does not list one run may have. Thousands of tests drive real processes on a real kernel, beside whatever
# else the machine does: one of them failing once tells of the machine more often than of the change; many tell of the change.
unlisted_flaky_allowed=3

# forget_flaky: at the begin of a run.
forget_flaky() {
  # shellcheck disable=SC2154
  rm -f "$root/target/test/flaky"
}

# may_be_flaky NAME: whether a test that failed, then passed, counts as passed: flaky.txt gives its reason, or few others did so in this
# run. Says which it is.
may_be_flaky() {
  local reason
  reason=$(sed -n "s/^$1: *//p" "$root/flaky.txt")
  if [ -n "$reason" ]; then
    echo "flaky    $1: $reason"
    return 0
  fi
  mkdir -p "$root/target/test"
  echo "$1" >>"$root/target/test/flaky"
  if [ "$(wc -l <"$root/target/test/flaky")" -gt "$unlisted_flaky_allowed" ]; then
    echo "FLAKY    $1: it failed, then passed, as did $unlisted_flaky_allowed others that flaky.txt does not list"
    return 1
  fi
  echo "flaky    $1: it failed, then passed, and flaky.txt does not say why"
}

# tell_flaky: the tests that flaky.txt does not list, for the end of a run.
tell_flaky() {
  [ ! -s "$root/target/test/flaky" ] ||
    echo "failed first, passed once more, and not in flaky.txt: $(sort -u "$root/target/test/flaky" | xargs). Mend them, or list them with the reason"
}
