# shellcheck shell=sh
# Installs what is missing and builds. Sourced by the launcher and ./test, which set `root` to the
# repository. Everything that is said here goes to stderr: stdout may be a profile.

# shellcheck source=setup/tools.sh disable=SC2154
. "$root/setup/tools.sh"

say() {
  printf 'flametop: %s\n' "$*" >&2
}

# ask: one key from the terminal; true for y or Enter.
ask() {
  printf '%s ' "$1" >&2
  saved=$(stty -g)
  stty -icanon -echo min 1 time 0
  key=$(dd bs=1 count=1 2>/dev/null || :)
  stty "$saved"
  case $key in
    y | Y | '')
      echo yes >&2
      return 0
      ;;
  esac
  echo no >&2
  return 1
}

# step TITLE COMMAND…: runs it with what it prints in target/setup.log; on a terminal its last line
# is shown while it runs, elsewhere only the title. If it fails, the end of the log is shown.
step() {
  title=$1
  shift
  log=$root/target/setup.log
  printf '\n== %s\n' "$title" >>"$log"
  started=$(date +%s)
  status=0
  if [ -t 2 ]; then
    # A process group of its own, so that Ctrl-C ends all of it.
    set -m
    "$@" >>"$log" 2>&1 </dev/null &
    work=$!
    set +m
    trap 'kill -- "-$work" 2>/dev/null; printf "\n" >&2; exit 130' INT TERM HUP
    columns=$(stty size <&2 2>/dev/null | cut -d' ' -f2)
    while kill -0 "$work" 2>/dev/null; do
      last=$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c "1-$((${columns:-80} - 40))")
      printf '\r\033[K  %-24s %4d s  %s' "$title" "$(($(date +%s) - started))" "$last" >&2
      sleep 0.2
    done
    wait "$work" || status=$?
    trap - INT TERM HUP
    printf '\r\033[K' >&2
  else
    say "$title …"
    "$@" >>"$log" 2>&1 </dev/null || status=$?
  fi
  if [ "$status" -ne 0 ]; then
    tail -n 30 "$log" >&2
    say "$title failed; all of its output is in $log"
    return "$status"
  fi
  printf '  %-24s %4d s  done\n' "$title" "$(($(date +%s) - started))" >&2
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # a list of names
  apt-get install -y --no-install-recommends $packages
}

# provide PACKAGES YES: installs them, asking first unless YES is yes. Refused or impossible: the apt
# line and exit code 3.
provide() {
  packages=$1
  [ -n "$packages" ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "needs, by the names of their Debian packages: $packages"
    say "this system has no apt-get: install them its own way (cargo at least 1.88, a JDK of at least 17), then start again"
    exit 3
  fi
  line="apt-get update && apt-get install --no-install-recommends $packages"
  if [ "$(id -u)" -ne 0 ]; then
    say "needs packages that only root can install: sudo sh -c '$line'"
    exit 3
  fi
  say "needs these Debian packages, which are not installed: $packages"
  if [ "$2" != yes ]; then
    if ! [ -t 0 ] || ! [ -t 2 ]; then
      say "there is no terminal to ask on: start with --yes, or run: $line"
      exit 3
    fi
    if ! ask "Install them with apt-get now? [Y/n]"; then
      say "nothing was installed; to do it yourself: $line"
      exit 3
    fi
  fi
  mkdir -p "$root/target"
  step "package lists" apt-get update || exit 1
  case " $packages " in
    *" cargo-web "*)
      # Their Rust is new enough only in the security suite.
      candidate=$(apt-cache policy cargo-web | sed -n 's/^ *Candidate: *1\.\([0-9]*\).*/\1/p')
      if [ "${candidate:-0}" -lt 88 ]; then
        say "no Rust of 1.88 or newer here: Debian 12 and 13 have it (cargo-web) in their security suite; add that suite to the apt sources"
        exit 3
      fi
      ;;
  esac
  step "packages" install_packages || exit 1
}

# Without the optimizing compiler, which is not worth its time in a minute: a build and its tests take half the CPU time.
maven() {
  MAVEN_OPTS="${MAVEN_OPTS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}" JAVA_HOME=$(find_jdk) mvn -B -ntp -f "$root/pom.xml" "$@"
}

# build MAVEN-OPTION…: everything into target/flametop; what is up to date is left alone.
build() {
  mkdir -p "$root/target/flametop" "$root/sampler-native/target" "$root/tui/target"
  # Taken before the build, so that an edit made while it runs is built next time.
  touch "$root/target/flametop/stamp.new"
  step "native library, BPF" sh "$root/setup/build-native" "$root/target/flametop" || exit 1
  step "screen" maven "$@" package || exit 1
  jdk=$(find_jdk)
  echo "$jdk/bin/java" >"$root/target/flametop/java"
  # Newer JVMs warn of native code that was not announced; older ones do not know the option.
  rm -f "$root/target/flametop/native-access"
  [ "$(java_major "$jdk/bin/java")" -lt 22 ] || : >"$root/target/flametop/native-access"
  mv "$root/target/flametop/stamp.new" "$root/target/flametop/stamp"
  # Built by sudo in the clone of another user: what was made is that user's, who will build again.
  if [ "$(id -u)" -eq 0 ] && [ "$(stat -c %u "$root")" -ne 0 ]; then
    chown -R --reference="$root" "$root/target" "$root/sampler-native/target" "$root/tui/target"
  fi
}

# set_up YES: for the launcher: what a build needs, then the build. One at a time.
set_up() {
  provide "$(missing_for_build)" "$1"
  mkdir -p "$root/target"
  exec 9>"$root/target/setup.lock"
  flock 9
  : >"$root/target/setup.log"
  build -Dmaven.test.skip=true
  exec 9>&-
}
