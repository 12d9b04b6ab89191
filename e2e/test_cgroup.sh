# shellcheck shell=bash disable=SC2154
# Control groups: what runs in them is grouped, filtered and sampled by them. They need a mounted cgroup2.

# find_groups: where they are mounted; the name of the group of this test.
find_groups() {
  mount=$(awk '$0 ~ / - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
  [ -n "$mount" ] || skip "no cgroup2 file system is mounted"
  name=$server
}

# make_groups: two groups below one of this test, `one` with a slice between; a program with a known function in each.
make_groups() {
  find_groups
  # Others of the machine may run one of these programs too.
  program=known-$$
  group=$mount/$name
  # With what e2e/run does at the end.
  trap 'remove_groups; tmux_ kill-server 2>/dev/null || :' EXIT
  mkdir -p "$group/in.slice/one.service" "$group/two.service" 2>"$work/err" ||
    skip "no control group can be made here: $(cat "$work/err")"
  cc -O2 -fomit-frame-pointer -o "$work/$program" "$root/bench/programs/split.c"
  start_in "$group/in.slice/one.service"
  one=$started
  start_in "$group/two.service"
}

# start_in GROUP: starts the program there, and waits until it runs.
start_in() {
  # shellcheck disable=SC2016 # the shell that is started expands it
  busy sh -c 'echo 0 >"$0/cgroup.procs" && exec "$1" 600' "$1" "$work/$program" >/dev/null
  started=$load
  wait_until "it runs in $1" is_program "$started"
}
is_program() {
  [ "$(cat "/proc/$1/comm")" = "$program" ]
}

remove_groups() {
  find "$group" -name cgroup.procs -exec xargs -r -a {} kill \;
  wait_until "the groups are empty" no_groups
}
no_groups() {
  find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
  ! [ -d "$group" ]
}

no_group() {
  rmdir "$1" 2>/dev/null
}

# Their boxes; elsewhere, as in an answer, they are part of a path.
one_there='[▏▎▍▌▋▊▉ ]one\.service'
two='[▏▎▍▌▋▊▉ ]two\.service'

test_record_by_cgroup_has_a_frame_for_each_group_above_the_comm() {
  make_groups
  "$flametop" record -d 3 --by cgroup -c "$program" -o "$work/out.folded" 2>"$work/err"
  contains "the one" "^$name;in.slice;one.service;$program;.*seventy" "$work/out.folded"
  contains "the other" "^$name;two.service;$program;.*seventy" "$work/out.folded"
}

test_record_of_a_cgroup_has_those_below_it_and_no_others() {
  make_groups
  status=0
  "$flametop" record -d 3 --by cgroup --cgroup "/$name/in.slice" -o "$work/out.folded" 2>"$work/err" || status=$?
  equal "exit code" 0 "$status"
  contains "the target" "^# target: cgroup /$name/in.slice" "$work/out.folded"
  contains "below it" "^$name;in.slice;one.service;$program;.*seventy" "$work/out.folded"
  equal "others" "" "$(grep -v "^$name;in.slice;one.service;$program" "$work/out.folded" | grep -v '^#' || :)"
}

test_record_of_a_cgroup_that_is_not_there_says_so() {
  find_groups
  status=0
  "$flametop" record -d 1 --cgroup "/$name/nowhere" -o "$work/out" 2>"$work/err" || status=$?
  equal "exit code" 4 "$status"
  contains "message" "no control group /$name/nowhere" "$work/err"
}

test_screen_of_a_cgroup_says_that_it_is_gone() {
  make_groups
  open_pane
  start_screen "--cgroup '$group/in.slice/one.service'"
  wait_for 'seventy'
  shows "cgroup /$name/in.slice/one.service"
  # However long it takes to be found gone, what was seen is shown.
  keys m
  wait_for 'the last 5 min'
  kill "$one"
  wait_until "the group is empty" no_group "$group/in.slice/one.service"
  wait_for 'one.service is gone'
  shows 'seventy'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_screen_a_group_is_kept_and_left_out() {
  make_groups
  open_pane 160 45
  start_screen "-c $program"
  wait_for 'seventy'
  for group_by in process ancestor thread CPU cgroup; do
    keys g
    wait_for "by $group_by"
  done
  wait_for "$name"
  keys j
  wait_for "^ /$name "
  keys j
  wait_for "^ /$name/(in.slice|two.service) "
  keys l
  wait_for "^ /$name/two.service "
  keys x
  wait_for "not cgroup /$name/two.service"
  wait_gone "$two"
  wait_for "$one_there"
  keys u
  wait_for 'undone: '
  wait_for "$two"
  # The selection may be where it was before, or above it.
  keys Home j
  wait_for "^ /$name "
  keys j
  wait_for "^ /$name/(in.slice|two.service) "
  keys l
  wait_for "^ /$name/two.service "
  keys f
  wait_for "› cgroup /$name/two.service"
  wait_gone "$one_there"
  wait_for "$two"
  keys q
  equal "exit code" 0 "$(ended)"
}

test_screen_a_group_is_picked_from_the_list_of_groups() {
  make_groups
  open_pane 160 45
  start_screen "-c $program"
  wait_for 'seventy'
  keys G
  wait_for "procs +control group"
  tmux_ send-keys -l "$name/two"
  wait_for ' 1 of '
  keys Enter
  wait_for "only cgroup /$name/two.service"
  wait_for "cgroup /$name/two.service ─"
  for group_by in process ancestor thread CPU cgroup; do
    keys g
    wait_for "by $group_by"
  done
  wait_for "$two"
  wait_gone "$one_there"
  keys G
  wait_for "procs +control group"
  tmux_ send-keys -l "$name/two"
  wait_for ' 1 of '
  keys C-x
  wait_for "without cgroup /$name/two.service"
  keys q
  equal "exit code" 0 "$(ended)"
}
