# shellcheck shell=bash disable=SC2154
# Every key that --print-config has: pressed where it works, with an effect that is seen.

# press ACTION KEY REGEX: one of an action's keys, by the name that --print-config has for it. The
# screen does not show the expression before, and does then; with ! before it the other way round.
press() {
  local name=$2
  case $2 in
    ?) ;;
    esc) name=Escape ;;
    pgup) name=PPage ;;
    pgdn) name=NPage ;;
    ctrl-*) name=C-${2#ctrl-} ;;
    *) name=${2^} ;;
  esac
  if [[ $3 == !* ]]; then
    wait_for "${3#!}"
    keys "$name"
    wait_gone "${3#!}"
  else
    wait_gone "$3"
    keys "$name"
    wait_for "$3|as if pasted; press it again"
    until capture | grep -qE -- "$3"; do
      # Keys come here faster than from a hand.
      keys "$name"
      wait_for "$3|as if pasted; press it again"
    done
  fi
  echo "$1 $2" >>"$work/pressed"
}

# back_to REGEX: Esc. What comes next waits: Esc and a letter at once are one key to a terminal.
back_to() {
  keys Escape
  wait_for "$1"
}

# leave REGEX: Esc, which closes what shows it.
leave() {
  keys Escape
  wait_gone "$1"
}

# go_to FUNCTION: selects it in the graph, by a search that is closed again.
go_to() {
  # Of a shape of before it may be missing: then nothing would match.
  wait_for "[▏▎▍▌▋▊▉ ]$1( |\$)"
  keys /
  tmux_ send-keys -l "^$1\$"
  wait_for "/\\^$1\\\$"
  keys Enter
  wait_for "$(selected "$1")"
  back_to 'search closed'
}

# selected FRAME: the line of the selection.
selected() {
  echo "^ *$1  .*[0-9]%( ±[ 0-9.]+)? of all"
}

# Until the graph has both, as before all steps.
undo() {
  keys u
  wait_for 'undone: '
  wait_for "$both"
}
both='[▏▎▍▌▋▊▉ ]left [▏▎▍▌▋▊▉ ]+right'

# moving TOP LEFT RIGHT: frames of the graph, TOP a level below the root, the others beside each
# other and each with others below.
moving() {
  keys Down
  wait_for "$(selected "$1")"
  press first home "$(selected all)"
  press down down "$(selected "$1")"
  press up up "$(selected all)"
  press down j "$(selected "$1")"
  press up k "$(selected all)"
  press page-down pgdn "!$(selected all)"
  press page-up pgup "$(selected all)"
  press last end "!$(selected all)"
  go_to "$2"
  press right right "$(selected "$3")"
  press left left "$(selected "$2")"
  press right l "$(selected "$3")"
  press left h "$(selected "$2")"
  press zoom enter "![▏▎▍▌▋▊▉ ]$3"
  press back esc "[▏▎▍▌▋▊▉ ]$3"
  keys Enter
  wait_gone "[▏▎▍▌▋▊▉ ]$3"
  press root 0 "[▏▎▍▌▋▊▉ ]$3"
}

searching() {
  press search / 'enter keeps it, esc drops it'
  tmux_ send-keys -l '^shared$'
  wait_for 'matched +[1-9]'
  keys Enter
  wait_for "$(selected shared)"
  keys n
  press previous-match N 'match 1 of 2'
  press next-match n 'match 2 of 2'
  back_to 'search closed'
}

shaping() {
  press group g '^─ by process ─'
  undo
  press threads H '^─ by thread ─'
  undo
  press merge r '^─ recursion merged ─'
  undo
  press fold-runtimes R '^─ runtimes folded ─'
  undo
  press idle-threads a '^─ idle shown ─'
  undo
  go_to left
  press collapse M '^─ \[callers\] ─'
  undo
  go_to left
  press keep f '^─ left ─'
  press undo u '!^─ left ─'
  press redo U '^─ left ─'
  undo
  go_to right
  press drop x '^─ not right ─'
  undo
}

# Rates were given, so that no budget changes them.
sampling() {
  press more-passes + ' 49/99 Hz'
  press more-passes = ' 99/99 Hz'
  press fewer-passes - ' 49/99 Hz'
  press fewer-passes _ ' 19/99 Hz'
  press faster-clock '>' ' 19/199 Hz'
  press slower-clock '<' ' 19/99 Hz'
}

lists() {
  press process p ' all processes$'
  leave ' all processes$'
  press comm c ' all comms$'
  leave ' all comms$'
  press pick-state O 'shown, .* now'
  leave 'shown, .* now'
  press pick-cpu P ' all CPUs$'
  leave ' all CPUs$'
  press pick-cgroup G ' all control groups$'
  leave ' all control groups$'
  press export e 'export as'
  leave 'export as'
}

time_() {
  press window m 'the last 5 min'
  press refresh d 'a picture every [0-9]+ (s|ms)'
  press states o 'time shown: off cpu'
  press time t 'ago: busy ([0-9.]+|n/a) cpu'
  press range-start '[' 'range [0-9]+ s, [01] s ago'
  keys Left Left Left Left
  press range-end ']' 'range [0-9]+ s, [2-9] s ago'
  back_to 'no range any more'
  press go-to-time T '14:03:20, -3m'
  leave '14:03:20, -3m'
  press heat-map F 'a row is [0-9]+ ms$'
  keys F
  wait_gone 'a row is [0-9]+ ms$'
  keys o o
  wait_for 'time shown: busy'
  keys o
  wait_for 'time shown: on cpu'
}

# In the tables, and through all the views.
views() {
  press callers I '^─ callers ─'
  press next-view tab 'tab functions'
  press graph 1 '!tab functions'
  press callers 2 '^─ callers ─'
  press sandwich-view 3 'tab functions'
  press top 4 'functions  first by time on a CPU'
  wait_for '^ +[0-9.]+% +[0-9.]+% '
  press sort s 'functions  first by self'
  press open enter 'tab functions'
  press tasks 5 '1 process  first by'
  press ended a 'those that ended, too'
  keys a
  wait_for 'only living ones'
  press pick enter 'only pid '
  press cpus 6 '^ CPU +busy'
  wait_for '^ CPU[0-9]+ '
  press mark enter '1 CPU marked'
  back_to 'no CPU marked'
  press idle 7 'idle states +as requested'
  press quality 8 '^ passes .* due'
  press by-module b '^ module +samples'
  keys b
  wait_for '^ runtime +samples .* named language'
  keys b
  wait_for '^ +pid process +samples'
  press events 9 '› time of tasks'
  press add-source a 'add a source'
  tmux_ send-keys -l -- fault
  keys Enter
  wait_for 'it counts; enter shows its graph'
  press switch space 'off: fault'
  wait_for '^   fault +off '
  keys Space
  wait_for '^   fault +(n/a|[0-9.,]+) '
  keys 1
  press measure v 'shows fault'
  keys v
  wait_for 'shows the time of tasks'
  keys 9 Down
  press remove-source x 'removed: fault'
  keys 1
  wait_for "$both"
}

live_screen() {
  start_screen "-p $load --states on -F 19 --cpu-hz 99"
  wait_for "$both"
  wait_for ' live 00:(0[5-9]|[1-5])| live 0[1-9]:'
  press freeze space '❚❚ frozen'
  moving callers left right
  searching
  go_to left
  press source S ' source left'
  leave ' source left'
  press copy y 'copied, .*: left'
  press flip i 'flame: root at the bottom'
  keys i
  press colour C 'colours tell the state'
  keys C
  press siblings L 'boxes stand by size'
  press siblings L 'boxes stand by name'
  press compare b '── compared with '
  press compare-end B '!── compared with '
  shaping
  lists
  time_
  go_to shared
  press sandwich s '^ *shared .*self .*total '
  keys 1
  wait_gone '^ *shared .*self .*total '
  press help '?' 'paint anew'
  keys v
  wait_gone 'paint anew'
  press help f1 'paint anew'
  keys v
  wait_gone 'paint anew'
  printf '\033[25;60Hof another program' >"$(tmux_ display-message -p '#{pane_tty}')"
  press repaint ctrl-l '!of another program'
  keys Space
  wait_for 'live again'
  views
  sampling
  press restart z 'started anew'
  press quit q 'ended 0'
}

# Two files of stacks: their keys are those of the graph, and some of their own.
files() {
  printf 'callers;main;left;shared;inner 6\ncallers;main;right;shared 3\nother;main 1\n' >"$work/a"
  printf 'callers;main 6\n' >"$work/b"
  run_line "'$flametop' view a b"
  wait_for ' a .*3 stacks'
  moving callers left right
  press comm c ' other$'
  leave ' other$'
  press split '|' '^›a .*│ +b '
  press other-pane w '^ a .*│ +›b '
  keys w '|'
  wait_for 'one file again'
  press next-file ']' '2/2'
  press previous-file '[' '1/2'
  press quit ctrl-c 'ended 0'
  owners
}

# A profile that says processes and threads, and has two types of values.
owners() {
  cp "$root/tui/src/test/resources/flametop/stacks/two.perf" "$work/two.perf"
  run_line "'$flametop' view two.perf"
  wait_for 'two.perf .*cycles 1/2 v'
  press process p ' 20 web$'
  leave ' 20 web$'
  press threads H ' pool-11 '
  press measure v '^ *sample type '
  keys Down Down Enter
  wait_for 'page-faults 2/2 v .*7 page-faults'
  press quit ctrl-c 'ended 0'
}

# Long: there are many keys.
test_every_key_of_the_help_has_its_effect() {
  cc -g -O2 -fomit-frame-pointer -o "$work/callers" "$root/bench/programs/callers.c"
  busy "$work/callers" 1000 >/dev/null
  open_pane 140 40
  tmux_ set-option -s set-clipboard on
  live_screen
  files
  XDG_CONFIG_HOME=$work/config "$flametop" --print-config |
    sed -n 's/^#\{0,1\} *key\.\([a-z-]*\) = \(.*[^ ]\) *# .*/\1 \2/p' |
    awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | LC_ALL=C sort >"$work/listed"
  [ -s "$work/listed" ] || fail "--print-config lists no keys"
  equal "keys that were not pressed" "" \
    "$(LC_ALL=C sort -u "$work/pressed" | LC_ALL=C comm -13 - "$work/listed")"
}
