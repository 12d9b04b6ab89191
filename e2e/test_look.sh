# shellcheck shell=bash disable=SC2154
# Themes, settings and colours, as the terminal's environment and the user's files have them.

recording=$root/sampler-native/stream/golden/v1.flametop

# show ENVIRONMENT ARGUMENTS: a recording on the screen.
show() {
  # LC_ALL: in C nothing but ASCII is drawn.
  run_line "env -u COLORTERM LC_ALL=C.UTF-8 XDG_CONFIG_HOME='$work' $1 '$flametop' --replay '$recording' $2"
}

# drawn: until all of it is on the screen: the selection stands below the graph.
drawn() {
  wait_for '^ flametop .*replay ended'
  wait_for '^ all +100\.0% of all'
}

# colours: what the screen is coloured with: 2 (true colour), 5 (256), 16, or nothing.
colours() {
  local painted
  painted=$(tmux_ capture-pane -p -e)
  if grep -qE '\[[0-9;]*[34]8[;:][25][;:]' <<<"$painted"; then
    grep -oE '[34]8[;:][25][;:]' <<<"$painted" | cut -c 4 | sort -u
  elif grep -qE '\[[0-9;]*([349]|10)[0-7](;[0-9]+)*m' <<<"$painted"; then
    echo 16
  fi
}

# drawn_in ENVIRONMENT COLOURS
drawn_in() {
  open_pane
  show "$1" ''
  drawn
  equal "colours of $1" "$2" "$(colours)"
  keys q
  equal "exit code" 0 "$(ended)"
}
test_true_colour_where_colorterm_says_so() {
  drawn_in 'TERM=xterm-256color COLORTERM=truecolor' 2
}
test_no_color_is_honoured() {
  drawn_in 'TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1' ''
}

test_dumb_terminal_says_what_to_do() {
  open_pane 200 40
  show 'TERM=dumb' ''
  equal "exit code" 2 "$(ended)"
  shows 'TERM=xterm-256color suits most'
}

test_ascii_draws_ascii_only() {
  open_pane
  show '' --ascii
  drawn
  ! capture | LC_ALL=C grep -q '[^ -~]' || fail "more than ASCII"
  keys q
  equal "exit code" 0 "$(ended)"
}

test_theme_list_prints_all_names_and_needs_no_terminal() {
  mkdir -p "$work/flametop/themes"
  echo 'like = dark' >"$work/flametop/themes/mine.theme"
  names=$(XDG_CONFIG_HOME=$work "$flametop" --theme list </dev/null) || fail "exit code $?"
  equal themes "dark ember fjord light mine mono paper safe terminal" "$(echo "$names" | tr '\n' ' ' | sed 's/ $//')"
}

test_unknown_theme_lists_those_there_are() {
  mkdir -p "$work/flametop/themes"
  echo 'like = dark' >"$work/flametop/themes/mine.theme"
  open_pane
  show '' '--theme octarine'
  equal "exit code" 2 "$(ended)"
  shows "no theme 'octarine'; there are dark, ember, fjord, light, mine, mono, paper, safe, terminal"
}

test_theme_in_error_is_told_by_line_and_the_screen_opens() {
  mkdir -p "$work/flametop/themes"
  printf 'like = dark\nuser = octarine\n' >"$work/flametop/themes/mine.theme"
  open_pane 200 40
  show '' '--theme mine'
  drawn
  keys '?'
  wait_for 'any key closes'
  wait_for 'mine.theme:2: not a colour: octarine'
  keys q
  wait_gone 'any key closes'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_theme_of_the_settings_that_is_none_is_told_by_line() {
  mkdir -p "$work/flametop"
  printf 'ascii = on\n\ntheme = octarine\n' >"$work/flametop/flametop.conf"
  open_pane 200 40
  show '' ''
  drawn
  ! capture | LC_ALL=C grep -q '[^ -~]' || fail "more than ASCII"
  keys '?'
  wait_for 'any key closes'
  wait_for "flametop.conf:3: no theme 'octarine'; there are dark"
  keys q
  wait_gone 'any key closes'
  keys q
  equal "exit code" 0 "$(ended)"
}
