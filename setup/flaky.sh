# shellcheck shell=bash
# Tests that fail and pass when they are run once more. Sourced by what runs tests, which sets `root` to the repository.

# known_flaky NAME: whether a test may do so: flaky.txt has it, with the reason. Says which it is.
known_flaky() {
  local reason
  # shellcheck disable=SC2154
  reason=$(sed -n "s/^$1: *//p" "$root/flaky.txt")
  if [ -z "$reason" ]; then
    echo "FLAKY    $1: it failed, then passed, and flaky.txt does not say why"
    return 1
  fi
  echo "flaky    $1: $reason"
}
