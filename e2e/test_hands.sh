# shellcheck shell=bash disable=SC2154
# Mouse, keys that the user chose, the clipboard, keys that come in pieces.

# mouse BUTTON COLUMN ROW M|m: what a terminal sends in mode 1006; columns and rows from 1.
mouse() {
  tmux_ send-keys -l $'\033'"[<$1;$2;$3$4"
}

click() {
  mouse 0 "$1" "$2" M
  mouse 0 "$1" "$2" m
}

# place TEXT: column and row where the screen shows it, from 1.
place() {
  local line before row=0
  while IFS= read -r line; do
    row=$((row + 1))
    before=${line%%"$1"*}
    if [ "$before" != "$line" ]; then
      echo "$((${#before} + 1)) $row"
      return
    fi
  done < <(capture)
}

# click_on TEXT
click_on() {
  local at
  at=$(place "$1")
  [ -n "$at" ] || fail "not shown: $1"
  # shellcheck disable=SC2086 # two words
  click $at
}

known_program() {
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c"
  busy "$work/known" 600 >/dev/null
}

# The program begins with the one alone.
wait_for_both() {
  wait_for '[▏▎▍▌▋▊▉ ]seventy'
  wait_for '[▏▎▍▌▋▊▉ ]thirty'
}

# configure LINE…: the user's configuration.
configure() {
  mkdir -p "$work/config/flametop"
  printf '%s\n' "$@" >"$work/config/flametop/flametop.conf"
}

test_mouse_selects_zooms_presses_keys_and_is_given_back() {
  known_program
  open_pane
  start_screen "-p $load --states on"
  wait_for_both
  equal "mouse" "1 1" "$(tmux_ display-message -p '#{mouse_button_flag} #{mouse_sgr_flag}')"
  # Nothing moves between the look and the click.
  keys Space
  wait_for '❚❚'
  click_on seventy
  wait_for '^ *seventy .* of all'
  local at
  at=$(place seventy)
  # shellcheck disable=SC2086 # two words
  wait_until "a double click zooms" zooms_by_click $at
  # One more may have been answered where the keys stand; closing the help is without an answer.
  keys '?'
  wait_for 'any key closes'
  keys x
  wait_gone 'any key closes'
  click_on 'esc back'
  wait_for 'thirty'
  # Where the answer to a key stands there are no keys: the next click there only clears it.
  click_on 'space thaw'
  wait_gone '❚❚'
  click_on '● live'
  wait_for '❚❚'
  # The wheel is answered; an interrupt that was sampled may have many levels.
  mouse 65 60 20 M
  wait_for 'every level is in sight|^ ▲ [0-9]+ more level'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  terminal_as_before
}

# Two clicks at once; where they are read with a long pause between them they are single ones.
zooms_by_click() {
  local press=$'\033'"[<0;$1;$2"
  tmux_ send-keys -l "${press}M${press}m${press}M${press}m"
  sleep 0.5
  ! capture | grep -q 'thirty'
}

test_mouse_is_the_shells_while_the_program_is_stopped() {
  open_pane
  type_line "'$flametop'"
  wait_for 'live'
  keys C-z
  wait_for 'Stopped'
  equal "mouse" "0 0" "$(tmux_ display-message -p '#{mouse_button_flag} #{mouse_sgr_flag}')"
  type_line fg
  wait_for 'live'
  equal "mouse" "1 1" "$(tmux_ display-message -p '#{mouse_button_flag} #{mouse_sgr_flag}')"
  kill -KILL "$(jvm_pid)"
  wait_for 'it was killed'
  equal "mouse" "0 0" "$(tmux_ display-message -p '#{mouse_button_flag} #{mouse_sgr_flag}')"
}

test_mouse_off_by_option_or_configuration() {
  open_pane
  start_screen '--no-mouse'
  equal "mouse" "0 0" "$(tmux_ display-message -p '#{mouse_button_flag} #{mouse_sgr_flag}')"
  keys q
  ended >/dev/null
  configure 'mouse = off'
  start_screen ''
  equal "mouse" "0 0" "$(tmux_ display-message -p '#{mouse_button_flag} #{mouse_sgr_flag}')"
  keys q
  ended >/dev/null
}

test_keys_of_the_configuration_are_used_and_shown() {
  open_pane
  configure 'key.freeze = v f5' 'key.quit = W' 'key.root = f7' 'key.help = ? f7' 'key.restart = e'
  start_screen ''
  # Of two lines with one key the later is named; a default gives its key up, and the help says so.
  wait_for 'flametop.conf:4: key.help: f7 is key.root in the graph already'
  wait_for ' v freeze'
  keys e
  wait_for 'started anew'
  keys v
  wait_for '❚❚|frozen'
  keys F5
  wait_for 'live again'
  keys Space
  wait_for 'space does nothing here'
  keys '?'
  wait_for 'v F5 +freeze, thaw'
  wait_for 'none +export to a file'
  wait_for '[(]key.export[)]'
  keys Escape
  keys W
  equal "exit code" 0 "$(ended)"
}

test_print_config_is_a_configuration() {
  "$flametop" --print-config >"$work/example"
  contains "example" '^# mouse = yes$' "$work/example"
  contains "example" '^# key.freeze = space +# Freezes every panel ' "$work/example"
}

test_copy_puts_the_whole_name_into_the_clipboard() {
  known_program
  open_pane
  tmux_ set-option -s set-clipboard on
  start_screen "-p $load --states on"
  wait_for_both
  # Nothing moves between the look and the click.
  keys Space
  wait_for '❚❚'
  click_on seventy
  wait_for '^ *seventy .* of all'
  keys y
  wait_for 'copied, .*: seventy'
  wait_until "the name is in the clipboard" clipboard_is seventy
  keys q
  ended >/dev/null
  kill "$load"
}
clipboard_is() {
  [ "$(tmux_ show-buffer 2>/dev/null)" = "$1" ]
}

test_searches_are_completed_and_remembered() {
  known_program
  open_pane
  start_screen "-p $load --states on"
  wait_for_both
  keys /
  tmux_ send-keys -l 'seve'
  keys Tab
  wait_for '^ */seventy .*name 1 of 1 in sight'
  keys Enter
  wait_for '^ *seventy .* of all'
  wait_until "the search is written down" [ -s "$work/state/flametop/searches" ]
  keys q
  ended >/dev/null
  contains "searches" '^seventy$' "$work/state/flametop/searches"
  start_screen "-p $load --states on"
  wait_for_both
  keys /
  wait_for 'enter keeps it'
  # They are read while the screen opens.
  wait_until "the older search is there" is_recalled seventy
  wait_for 'matched'
  keys Up
  wait_for 'no older search'
  keys Escape
  keys q
  ended >/dev/null
  kill "$load"
}

is_recalled() {
  keys Up
  sleep 0.5
  capture | grep -qE "^ */$1"
}

# in_pieces ONE OTHER: tmux waits between them by itself, so that no slow start of it comes between.
in_pieces() {
  tmux_ send-keys -l "$1" ';' run-shell -d 0.06 ';' send-keys -l "$2"
}

# A slow line brings a key in pieces. Nothing is asserted of how long is waited: after the introducer
# of a sequence what is missing comes much sooner than the program gives up.
test_arrow_in_pieces_is_an_arrow() {
  known_program
  open_pane
  start_screen "-p $load --states on"
  wait_for_both
  keys Home
  wait_for '^ *all  *100'
  # As Escape it would close the search. That is what it is if its first byte stands alone for long,
  # as where tmux itself is kept waiting: then once more.
  for _ in 1 2 3 4 5; do
    keys /
    tmux_ send-keys -l 'never'
    wait_for '^ */never'
    in_pieces $'\033[' 'A'
    wait_for 'no older search|does nothing here'
    ! capture | grep -q 'no older search' || break
  done
  shows 'no older search'
  wait_for '^ */never'
  keys Escape
  wait_for 'space freeze'
  in_pieces $'\033[<0' ';3;1M'
  wait_for 'any key closes'
  keys Escape
  keys q
  ended >/dev/null
  kill "$load"
}
