# shellcheck shell=bash disable=SC2154
# The terminal: how the screen gives it back, slow lines, sizes, pastes, job control, kinds of it.

recording=$root/sampler-native/stream/golden/v1.flametop

# start_replay: the screen of a recording, which needs least.
start_replay() {
  tty_before=$(tty_state)
  run_line "'$flametop' --replay '$recording'"
  wait_for 'replay ended'
}

busy_program() {
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c"
  busy "$work/known" 900 >/dev/null
}

# The shell's prompt, after it took the terminal back: what is typed before may be lost.
prompted() {
  wait_for '(ready|dash|within)\$ *$'
}

# go_on: the shell lets the job go on that it has stopped. What is on the screen then is new.
go_on() {
  type_line clear
  wait_gone 'Stopped|live'
  prompted
  type_line fg
  wait_for 'live'
}

# close_help: whatever is pressed next is not for it.
close_help() {
  keys x
  wait_gone 'any (other )?key closes'
}

# --- Endings: each leaves the terminal as it was, and has its exit code.

press() {
  keys "$1"
}
signal() {
  kill "-$1" "$("$2")"
}
fail_inside() {
  # It can open nothing any more when it asks for the size.
  prlimit --nofile=1:1 --pid "$(jvm_pid)"
  resize 100 30
}
# shellcheck disable=SC2016 # the pane's shell expands it
stop_and_go_on_then_quit() {
  keys C-z
  wait_for 'Stopped'
  prompted
  equal "terminal settings while stopped" "$tty_before" "$(tty_state)"
  equal "alternate screen, cursor, mouse" "0 1 0" \
    "$(tmux_ display-message -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag}')"
  run_line 'fg'
  wait_for 'live'
  keys q
}
endings='
0   press q
0   press C-c
0   stop_and_go_on_then_quit
130 signal INT launcher_pid
143 signal TERM launcher_pid
129 signal HUP launcher_pid
143 signal QUIT launcher_pid
130 signal INT jvm_pid
143 signal TERM jvm_pid
129 signal HUP jvm_pid
137 signal KILL jvm_pid
134 signal SEGV jvm_pid
1   fail_inside
'
# Long: there are many endings.
test_endings_leave_the_terminal_as_it_was() {
  local code how
  while read -r code how; do
    [ -n "$code" ] || continue
    echo "ending: $how"
    open_pane
    start_screen ''
    $how
    equal "exit code of $how" "$code" "$(ended)"
    terminal_as_before
  done <<<"$endings"
}

test_memory_that_runs_out_is_told_and_the_screen_goes_on() {
  awk 'BEGIN { for (i = 0; i < 3000000; i++) print "main;f" i % 1000 ";g" i ";h" i " 1" }' >"$work/wide.folded"
  # Options for other JVMs are ignored: a build of its own has a JVM with less memory.
  local small=$work/small dist=$root/target/flametop part
  mkdir -p "$small/target/flametop"
  for part in bpf sampler-native tui themes setup .mvn pom.xml; do
    ln -s "$root/$part" "$small/$part"
    touch -h -d @0 "$small/$part"
  done
  for part in "$dist"/*; do
    ln -s "$part" "$small/target/flametop/${part##*/}"
  done
  rm "$small/target/flametop/"{java,flametop}
  # It takes the folder that it lies in for its own.
  cp "$dist/flametop" "$small/target/flametop/"
  printf '#!/bin/sh\nexec "%s" -Xmx24m "$@"\n' "$(cat "$dist/java")" >"$small/jvm"
  chmod +x "$small/jvm"
  echo "$small/jvm" >"$small/target/flametop/java"
  cp "$flametop" "$small/flametop"
  open_pane
  tty_before=$(tty_state)
  run_line "'$small/flametop' view '$work/wide.folded'"
  wait_for 'stacks are left out, first line [0-9]*: there is no memory'
  wait_gone 'reading'
  keys Down Down
  wait_for "^ (f[0-9]+ .*%( ±[ 0-9.]+)? of all|… [0-9,]+ more  frames too thin)"
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

# --- Stopped by the shell.

test_ctrl_z_again_and_again_in_dash() {
  open_pane
  type_line "exec env PS1='dash\$ ' dash -i"
  wait_for '^dash\$'
  tty_before=$(tty_state)
  run_line "'$flametop'"
  wait_for 'live'
  for _ in 1 2 3; do
    keys C-z
    wait_for 'Stopped'
    prompted
    equal "terminal settings" "$tty_before" "$(tty_state)"
    go_on
  done
  keys q
  wait_gone 'live'
  prompted
  terminal_as_before
}

# stopped_from_outside KILL-ARGUMENTS
stopped_from_outside() {
  kill "$@"
  wait_for 'Stopped'
  prompted
  equal "terminal settings" "$tty_before" "$(tty_state)"
  go_on
}
test_stop_from_outside_gives_the_terminal_back() {
  open_pane
  start_screen ''
  stopped_from_outside -TSTP "$(launcher_pid)"
  stopped_from_outside -TSTP "$(jvm_pid)"
  stopped_from_outside -TSTP -- "-$(launcher_pid)"
  # Nobody is told of a STOP; what goes on takes the terminal again.
  kill -STOP "$(jvm_pid)" && kill -CONT "$(jvm_pid)"
  keys '?'
  wait_for 'any (other )?key closes'
  close_help
  kill -STOP -- "-$(launcher_pid)"
  # The shell's words are amid the picture.
  wait_for 'Stopped'
  wait_until "the shell has its settings" settings_are_the_shells
  go_on
  keys q
  wait_gone 'live'
  prompted
  terminal_as_before
}

settings_are_the_shells() {
  [ "$(tty_state)" = "$tty_before" ]
}

# --- Lines.

# start_line RATE AHEAD ARGUMENTS: the screen at the other end of a line.
start_line() {
  cc -O2 -Wall -o "$work/line" "$root/e2e/programs/line.c" -lutil
  tty_before=$(tty_state)
  run_line "'$work/line' $1 $2 '$work/arrived' '$flametop' $3"
  wait_for 'live|❚❚|frozen'
}
# The process below the pane's shell, the launcher below it, the JVM below that.
line_pid() {
  pgrep -P "$(tmux_ display-message -p '#{pane_pid}')" line
}
line_jvm_pid() {
  pgrep -P "$(pgrep -P "$(line_pid)")" java
}
# sent FIELD: of what the thread that writes to the terminal has done: syscw (writes), wchar (bytes).
sent() {
  local task
  for task in "/proc/$jvm/task"/*; do
    if [ "$(cat "$task/comm")" = "terminal writer" ]; then
      sed -n "s/^$1: //p" "$task/io"
    fi
  done
}
# pictures FILE: that begin in it, and pictures_ended FILE.
pictures() {
  grep -ao $'\033\\[?2026h' "$1" | wc -l
}
pictures_ended() {
  grep -ao $'\033\\[?2026l' "$1" | wc -l
}
# Of what was there at one moment: pictures go on, the header counts seconds.
all_arrived_in_one_write_each() {
  cp "$work/arrived" "$work/moment"
  [ "$(sent wchar)" = "$(stat -c %s "$work/moment")" ] &&
    [ "$(sent syscw)" = "$(pictures "$work/moment")" ]
}
test_each_picture_is_one_write_between_the_marks() {
  busy_program
  open_pane
  start_line 0 100000 "-p $load"
  jvm=$(line_jvm_pid)
  wait_for 'seventy'
  keys '?'
  wait_for 'any (other )?key closes'
  close_help
  keys Space
  wait_for '❚❚ frozen'
  # Nothing else writes there: what arrived is what that thread wrote.
  wait_until "what arrived is what was written, a write each" all_arrived_in_one_write_each
  [ "$(pictures "$work/moment")" -gt 3 ] || fail "only $(pictures "$work/moment") pictures"
  equal "marks" "$(pictures "$work/moment")" "$(pictures_ended "$work/moment")"
  keys q
  equal "exit code" 0 "$(ended)"
  contains "pastes are marked no more" $'\033\\[\\?2004l' "$work/arrived"
  kill "$load"
  terminal_as_before
}

# What a program may choose itself: the name of its file, its arguments, its comm. By what each would
# do to a terminal: titles, colours, C1 controls, another direction, no room, combining without end.
test_hostile_names_reach_the_terminal_as_text() {
  local name
  name=$'\033]0;owned\007\033[2J\302\2332J\342\200\256\342\200\213a\314\201\314\201\r\n\177\377'
  cc -O2 -fomit-frame-pointer -o "$work/known" "$root/bench/programs/split.c"
  mkdir "$work/$name"
  mv "$work/known" "$work/$name/$name"
  busy "$work/$name/$name" 900 "$name" >/dev/null
  open_pane
  start_line 0 100000 "-p $load --states all"
  wait_for 'seventy'
  keys 5
  wait_for 'cpu +.*comm'
  wait_for ' run .*owned'
  keys H
  wait_for 'a row for each thread'
  keys 4
  wait_for 'cpu +self +total'
  wait_for 'seventy'
  keys 8
  wait_for 'pid +process +samples'
  wait_for "$load .*owned"
  keys b
  wait_for 'module +samples'
  keys 1
  wait_for 'space freeze'
  wait_for 'seventy'
  keys g
  wait_for 'seventy'
  keys c
  wait_for 'comm .*by share'
  wait_for '1× .*owned'
  keys Escape
  wait_gone 'comm .*by share'
  wait_for 'seventy'
  equal "title" "$(hostname)" "$(tmux_ display-message -p '#{pane_title}')"
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  # Nothing but text is left without the sequences that are our own.
  if LC_ALL=C sed -e 's/\x1b\[[0-9;?]*[A-Za-z]//g' "$work/arrived" |
    LC_ALL=C grep -aqP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\xff]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xcc[\x80-\xbf]'; then
    fail "control bytes arrived"
  fi
  contains "the name" 'owned' "$work/arrived"
  terminal_as_before
}

# A line that takes all at once but brings nothing: no more is sent than has a chance to arrive.
sends_nothing() {
  local before
  before=$(sent wchar)
  sleep 3
  [ "$before" = "$(sent wchar)" ]
}
test_line_that_is_behind_gets_no_more_pictures() {
  busy_program
  open_pane
  start_line 0 100000000 "-p $load"
  jvm=$(line_jvm_pid)
  wait_for 'seventy'
  kill -USR1 "$(line_pid)"
  wait_until "no more is sent" sends_nothing
  # The keys meanwhile make one picture, not many.
  for _ in 1 2 3 4 5; do keys Down; done
  keys '?'
  kill -USR2 "$(line_pid)"
  wait_for 'any (other )?key closes'
  close_help
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  terminal_as_before
}

test_slow_line_answers_and_gives_the_terminal_back() {
  busy_program
  open_pane 80 24
  start_line 2000 1000000 "-p $load"
  wait_for 'seventy'
  keys '?'
  wait_for 'any (other )?key closes'
  close_help
  wait_for 'seventy'
  keys q
  equal "exit code" 0 "$(ended)"
  kill "$load"
  terminal_as_before
}

# What takes nothing does not keep it from ending.
# Long: what holds it up is waited for.
test_line_that_is_held_up_ends_by_a_signal() {
  open_pane
  start_line 0 0 ''
  jvm=$(line_jvm_pid)
  kill -USR1 "$(line_pid)"
  wait_until "the pipe is full" writes_wait
  kill -TERM "$jvm"
  wait_until "the JVM ends" no_such_process "$jvm"
  kill -USR2 "$(line_pid)"
  wait_for 'ended 143$'
  # What was asked of the terminal before may be answered to the shell, before its prompt or behind it.
  wait_for 'ready[$] *n*$'
  keys C-c
  wait_for '\^C$'
  prompted
  terminal_as_before
}
writes_wait() {
  local task
  for task in "/proc/$jvm/task"/*; do
    if [ "$(cat "$task/comm")" = "terminal writer" ]; then
      grep -qE 'tty|wait_woken' "$task/wchan" "$task/stack" 2>/dev/null
      return
    fi
  done
  return 1
}
no_such_process() {
  ! kill -0 "$1" 2>/dev/null
}

# dropped HOW: all of it ends when the line is gone.
dropped() {
  open_pane
  start_line 0 0 '-- sleep 9876'
  local line all
  line=$(line_pid)
  jvm=$(line_jvm_pid)
  wait_until "the program runs" pgrep -P "$jvm" sleep
  all=$(pgrep -g "$(pgrep -P "$line")" && pgrep -P "$jvm" sleep)
  if [ "$1" = held ]; then
    kill -USR1 "$line"
    wait_until "the pipe is full" writes_wait
  fi
  kill -KILL "$line"
  for one in $all; do
    wait_until "process $one ends" no_such_process "$one"
  done
}
test_line_that_is_cut_ends_everything() {
  dropped free
}
# Long: what holds it up is waited for.
test_line_that_is_cut_while_it_is_held_up_ends_everything() {
  dropped held
}

test_control_s_is_a_key() {
  open_pane
  start_screen ''
  keys C-s
  wait_for 'ctrl-s does nothing here'
  keys C-q
  wait_for 'ctrl-q does nothing here'
  keys q
  equal "exit code" 0 "$(ended)"
}

# The pace is told by what comes next when it is changed.
test_pace_is_slower_over_ssh() {
  open_pane
  # Of whoever runs the tests.
  type_line 'unset SSH_CONNECTION SUDO_UID'
  start_replay
  keys d
  wait_for 'a picture every 500 ms'
  keys q
  ended >/dev/null
  type_line 'export SSH_CONNECTION="10.0.0.1 50000 10.0.0.2 22"'
  start_replay
  keys d
  wait_for 'a picture every 1 s'
  keys q
  ended >/dev/null
}

# --- Sizes.

# sized COLUMNS ROWS: the size of the pane's terminal, set from outside: tmux keeps its own.
sized() {
  stty -F "$(tmux_ display-message -p '#{pane_tty}')" cols "$1" rows "$2"
}
test_sizes_of_all_kinds_and_storms_of_them() {
  open_pane
  start_line 0 100000 ''
  inner=$(readlink "/proc/$(line_jvm_pid)/fd/1")
  for size in '1 1' '500 200' '10000 2' '2 10000' '65535 65535' '0 0' '120 40'; do
    # shellcheck disable=SC2086 # two words
    set -- $size
    stty -F "$inner" cols "$1" rows "$2"
    keys Down
    # It is no proof, but time for most machines to paint it; the help is asked for below.
    sleep 0.5
    kill -0 "$(line_jvm_pid)" || fail "it ended at $size"
  done
  before=$(pictures "$work/arrived")
  # By one process, faster than any of them could be painted (TIOCSWINSZ).
  perl -e 'for my $i (1 .. 9999) { ioctl(STDIN, 0x5414, pack("S4", 10 + $i % 30, 40 + $i % 80, 0, 0)) or die $! }' <"$inner"
  stty -F "$inner" cols 120 rows 40
  keys '?'
  wait_for 'any (other )?key closes'
  [ $(($(pictures "$work/arrived") - before)) -lt 1000 ] || fail "each size was painted"
  close_help
  keys q
  equal "exit code" 0 "$(ended)"
}

# --- What is typed and pasted.

test_pasted_text_is_no_command() {
  open_pane
  start_replay
  tmux_ set-buffer $'quit\nand zap\n'
  # Marked by the terminal.
  tmux_ paste-buffer -p
  wait_for 'pasted text is no command'
  keys /
  tmux_ paste-buffer -p
  wait_for '^ */quit and zap +'
  keys Escape
  wait_for 'space freeze'
  # By one that does not mark it: what would be missed is not done.
  tmux_ set-buffer 'quit now, zed!'
  tmux_ paste-buffer
  wait_for '! does nothing here'
  kill -0 "$(jvm_pid)" || fail "it ended"
  # What follows within 25 ms would be of the paste.
  sleep 0.05
  keys Escape
  wait_gone '! does nothing here'
  keys q
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

# Only pieces that came in time count: the machine may be slow between them.
test_arrow_split_by_25_ms_is_an_arrow() {
  local begin end
  open_pane
  start_replay
  while :; do
    keys ,
    wait_for ', does nothing here'
    begin=${EPOCHREALTIME/./}
    tmux_ send-keys -l $'\033'
    sleep 0.025
    tmux_ send-keys -l '[H'
    end=${EPOCHREALTIME/./}
    [ $((end - begin)) -ge 90000 ] || break
  done
  # What Home says at the top; Escape and two letters would say what H does.
  wait_for 'already there'
  shows '^ *all  *100'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_prompts_are_edited_within() {
  open_pane
  start_replay
  keys /
  tmux_ send-keys -l 'abcd'
  keys Left Left DC
  tmux_ send-keys -l '漢é'
  wait_for '^ */ab漢éd'
  keys BSpace BSpace Home
  tmux_ send-keys -l 'X'
  keys End C-b BSpace
  wait_for '^ */Xad'
  keys C-a C-k
  tmux_ send-keys -l 'two words'
  keys C-w
  wait_for '^ */two  '
  keys C-u
  wait_for '^ */  '
  keys Left
  wait_for 'nothing is typed'
  keys Escape
  wait_for 'space freeze'
  # A list is narrowed by the same.
  keys c
  tmux_ send-keys -l 'zq'
  wait_for 'comm zq .* 0 of 1'
  keys Left DC BSpace
  wait_for 'comm .*by share'
  tmux_ send-keys -l 'b'
  keys Enter
  wait_for 'only comm|shown already'
  keys c
  wait_for 'comm .*by share'
  keys C-p
  wait_for 'comm b .* of [0-9]'
  keys Escape
  wait_gone 'comm b .* of [0-9]'
  keys e
  wait_for 'export as$'
  tmux_ send-keys -l 'xsvg'
  keys Home DC
  wait_for 'export as svg'
  keys Escape
  wait_gone 'export as'
  keys q
  equal "exit code" 0 "$(ended)"
}

# --- Kinds of terminals.

# shown_with ENVIRONMENT…: the screen opens, answers, and leaves the terminal as it was.
shown_with() {
  echo "with: $*"
  open_pane
  tty_before=$(tty_state)
  run_line "env $* '$flametop' --replay '$recording'"
  wait_for 'replay ended'
  keys '?'
  wait_for 'any (other )?key closes'
  keys x
  keys Down
  keys q
  equal "exit code with $*" 0 "$(ended)"
  terminal_as_before
}
# Long: there are many terminals.
test_terminals_of_many_names() {
  local name
  for name in linux vt100 xterm xterm-256color tmux-256color screen foot alacritty xterm-kitty nonsense; do
    shown_with "TERM=$name"
  done
  shown_with LC_ALL=C
  shown_with NO_COLOR=1
  shown_with COLORTERM=truecolor
}

test_within_screen() {
  command -v screen >/dev/null || skip "screen is missing: apt install screen"
  open_pane
  tty_before=$(tty_state)
  printf 'startup_message off\nautodetach off\n' >"$work/screenrc"
  mkdir -m 700 "$work/sockets"
  run_line "PS1='within\$ ' SCREENDIR='$work/sockets' screen -U -c '$work/screenrc' bash --norc --noprofile"
  wait_for '^within\$'
  type_line "'$flametop'"
  wait_for 'live'
  keys '?'
  wait_for 'any (other )?key closes'
  close_help
  keys C-z
  wait_for 'Stopped'
  prompted
  go_on
  keys q
  wait_gone 'live'
  prompted
  # shellcheck disable=SC2016 # the shell within expands it
  type_line 'stty -a | grep -o " icanon"; exit'
  equal "exit code" 0 "$(ended)"
  terminal_as_before
}

# refused MESSAGE CODE COMMAND
refused() {
  run_line "$3"
  equal "exit code of $3" "$2" "$(ended)"
  shows "$1"
}
test_no_terminal_says_so() {
  open_pane 200 40
  tty_before=$(tty_state)
  refused 'TERM=: this terminal cannot draw' 2 "env -u TERM '$flametop' --replay '$recording'"
  refused 'TERM=dumb: this terminal cannot draw' 2 "TERM=dumb '$flametop' --replay '$recording'"
  refused 'stdin is no terminal' 2 "'$flametop' --replay '$recording' </dev/null"
  refused 'stdout is no terminal' 2 "'$flametop' --replay '$recording' 2>&1 | cat; (exit \"\${PIPESTATUS[0]}\")"
  refused 'no terminal here .*use .flametop record' 1 "setsid -w '$flametop' --replay '$recording'"
  terminal_as_before
}

# --- The build presses keys, too.

test_class_archive_touches_nothing_of_the_user() {
  cp -r "$root/target/flametop" "$work/dist"
  rm -f "$work/dist/classes.jsa" "$work/dist/classes.jvm"
  mkdir -p "$work/home"
  read -r java <"$work/dist/java"
  env -u XDG_CONFIG_HOME -u XDG_STATE_HOME HOME="$work/home" "$root/setup/archive-classes" "$work/dist" "$java"
  [ -s "$work/dist/classes.jsa" ] || fail "no archive: $(tail -n 5 "$work/dist/classes.log")"
  # One interface takes all classes along that implement it: each start would load these from their jars.
  equal "interfaces that are left out" "" "$(grep 'interface .* is excluded' "$work/dist/classes.log" || :)"
  equal "files of the user" "" "$(find "$work/home" -type f)"
  equal "files left" "" "$(find "$work/dist" -name '*.home' -o -name '*.part')"
}
