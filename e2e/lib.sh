# shellcheck shell=bash
# What the end-to-end tests are written with. Each test runs in a tmux server of its own, with a shell in one pane; the program is
# started from that shell, as a person would. Other tests run at the same time: names of programs, ports and groups that a test
# chooses have its process id ($$) in them where another test could choose the same.
#
# A test file is a list of functions named test_….

# Defined by e2e/one: root (the repository), work (a folder for this test), server (of tmux).
: "${root:?}" "${work:?}" "${server:?}"
flametop=$root/flametop

# Seconds that a text may take to appear. Long: nothing here measures speed.
patience=${FLAMETOP_E2E_PATIENCE:-120}

tmux_() {
  tmux -L "$server" -f /dev/null "$@"
}

# open_pane [COLUMNS ROWS]: a fresh shell, its prompt `ready$ `, of the size given (120 × 40). The
# user's configuration and history are those of the test.
open_pane() {
  local old
  old=$(tmux_ display-message -p '#{pid}' 2>/dev/null) || old=
  tmux_ kill-server 2>/dev/null || :
  # A server that ends still takes clients, and drops them.
  [ -z "$old" ] || wait_until "the old tmux server is gone" has_ended "$old"
  tmux_ new-session -d -x "${1:-120}" -y "${2:-40}" -c "$work" \
    "env -u NO_COLOR XDG_CONFIG_HOME='$work/config' XDG_STATE_HOME='$work/state' TERM=${PANE_TERM:-tmux-256color} PS1='ready\$ ' bash --norc --noprofile"
  tmux_ set-option -g window-size manual
  tmux_ resize-window -x "${1:-120}" -y "${2:-40}"
  wait_for 'ready\$'
}
has_ended() {
  ! readlink "/proc/$1/exe" >/dev/null
}

# type_line TEXT: types it at the shell, and Enter.
type_line() {
  tmux_ send-keys -l -- "$1"
  tmux_ send-keys Enter
}

# busy COMMAND…: starts a program that takes all CPU time that it gets, as `load`. Others come first: several tests run at once.
busy() {
  nice -n 5 "$@" &
  load=$!
}

# run_line COMMANDS: types them on an empty screen, so that no end of an earlier command is taken for
# theirs. When they are over, the shell shows `ended CODE`.
run_line() {
  type_line clear
  wait_gone 'ended [0-9]+$'
  type_line "$1; echo \"ended \$?\""
}

# keys KEY…: by tmux's names (Enter, Escape, Up, C-c), or characters. They come after a hand's pause:
# keys within 25 ms of other text count as pasted.
keys() {
  sleep 0.03
  tmux_ send-keys -- "$@"
}

resize() {
  tmux_ resize-window -x "$1" -y "$2"
}

# The text of the screen, as a person sees it.
capture() {
  tmux_ capture-pane -p
}

# Whether folded stacks were exported. A notice does not tell: a long path cuts its name of the file.
is_exported() {
  compgen -G "$work/flametop-*.folded" >/dev/null
}

# Waits 0.1 s without a process for it.
exec {never}<> <(:)
pause() {
  read -rt 0.1 -u "$never" || :
}

# wait_for REGEX: until the screen shows it.
wait_for() {
  local waited=0
  until capture | grep -qE -- "$1"; do
    pause
    waited=$((waited + 1))
    if [ $waited -ge $((patience * 10)) ]; then
      fail "the screen does not show /$1/ after $patience s"
    fi
  done
}

# wait_gone REGEX: until the screen no longer shows it.
wait_gone() {
  local waited=0
  while capture | grep -qE -- "$1"; do
    pause
    waited=$((waited + 1))
    if [ $waited -ge $((patience * 10)) ]; then
      fail "the screen still shows /$1/ after $patience s"
    fi
  done
}

# wait_until WHAT COMMAND…: until the command succeeds.
wait_until() {
  local what=$1 waited=0
  shift
  until "$@"; do
    pause
    waited=$((waited + 1))
    [ $waited -lt $((patience * 10)) ] || fail "not after $patience s: $what"
  done
}

# shows REGEX: the screen must show it now.
shows() {
  capture | grep -qE -- "$1" || fail "the screen does not show /$1/"
}

# equal WHAT EXPECTED ACTUAL
equal() {
  [ "$2" = "$3" ] || fail "$1: expected '$2', is '$3'"
}

# contains WHAT REGEX FILE
contains() {
  grep -qE -- "$2" "$3" || fail "$1: no /$2/ in: $(head -c 600 "$3")"
}

# The message, and the screen as it is; ends the test.
fail() {
  echo "$1"
  echo "--- the screen:"
  capture 2>/dev/null | sed -e 's/^/| /' -e '/^| *$/d'
  exit 1
}

skip() {
  echo "$1"
  exit 77
}

# start_screen ARGUMENTS: opens the live screen in the pane.
start_screen() {
  tty_before=$(tty_state)
  run_line "'$flametop' $1"
  # With its clock: a word alone may be part of a path in the line that was typed.
  wait_for ' live [0-9]+:[0-9]|frozen \+'
}

# ended: waits for the end of what run_line started and gives its exit code. The shell has its
# settings of the terminal back when its prompt is there.
ended() {
  wait_until "it ends, and the shell asks for the next" prompts
  capture | sed -n 's/^ended \([0-9]*\)$/\1/p' | tail -n 1
}

prompts() {
  capture | sed -n '/ended [0-9]*$/,$p' | sed '/^ *$/d' | tail -n 1 | grep -q '^[a-z]*\$'
}

# The settings of the pane's terminal, read from outside.
tty_state() {
  stty -g -F "$(tmux_ display-message -p '#{pane_tty}')"
}

# terminal_as_before: settings, main screen, cursor, mouse: as they were before start_screen.
terminal_as_before() {
  equal "terminal settings" "${tty_before:?}" "$(tty_state)"
  equal "alternate screen, cursor, mouse" "0 1 0 0 0" \
    "$(tmux_ display-message -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{mouse_button_flag} #{mouse_sgr_flag}')"
  # shellcheck disable=SC2016 # the pane's shell expands it
  type_line 'echo typed$((1 + 1))'
  wait_for '^typed2$'
}

# select_frame REGEX NAME: searches, until the match of that name is selected; closes the search.
select_frame() {
  keys /
  tmux_ send-keys -l -- "$1"
  keys Enter
  # The line of the selection: a frame of the graph has no share in it.
  wait_for "^ $2 .*[0-9]%"
  keys Escape
  wait_for 'search closed'
}

# Process ids in the pane: the launcher, and the JVM that it waits for.
launcher_pid() {
  pgrep -P "$(tmux_ display-message -p '#{pane_pid}')"
}
jvm_pid() {
  pgrep -P "$(launcher_pid)" java
}

# page_faults: starts the program that touches 300 and 700 pages when the descriptor 9 has a line for it; sets $load.
page_faults() {
  cc -O1 -g -fno-omit-frame-pointer -o "$work/faults" "$root/e2e/programs/faults.c" || fail "cc failed"
  mkfifo "$work/told"
  "$work/faults" <"$work/told" &
  # shellcheck disable=SC2034 # the test uses it
  load=$!
  exec 9>"$work/told"
}
