# shellcheck shell=bash
# Tests that fail and pass when they are run once more. Sourced by what runs tests, which sets `root` to the repository.

# may_be_flaky NAME: whether a test that failed, then passed, counts as passed: flaky.txt lists it with a reason. Says which it is.
may_be_flaky() {
  local reason
  # shellcheck disable=SC2154
  reason=$(sed -n "s/^$1: *//p" "$root/flaky.txt")
  if [ -n "$reason" ]; then
    echo "flaky    $1: $reason"
    return 0
  fi
  echo "FLAKY    $1: it failed, then passed. Mend it, or list it in flaky.txt with the reason"
  return 1
}
