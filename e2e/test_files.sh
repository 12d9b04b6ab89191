# shellcheck shell=bash disable=SC2154,SC2034
# Files of any kind: large, endless, silent, damaged, foreign.

test_view_of_a_pipe_without_a_writer_waits_on_the_screen() {
  open_pane
  mkfifo "$work/silent"
  tty_before=$(tty_state)
  run_line "'$flametop' view silent"
  wait_for 'waiting for a writer of silent'
  keys '?'
  wait_for 'any key closes'
  keys Escape
  printf 'main;first 1\n' >"$work/silent"
  wait_for '1 stacks *1 samples'
  wait_gone 'waiting'
  keys q
  equal "exit code" 0 "$(ended)"
  run_line "'$flametop' view silent"
  wait_for 'waiting for a writer of silent'
  keys q
  equal "exit code of one that still waits" 0 "$(ended)"
  terminal_as_before
}

test_view_of_a_silent_stdin_says_so() {
  open_pane
  mkfifo "$work/pipe"
  exec 7<>"$work/pipe"
  run_line "'$flametop' view - <pipe"
  wait_for 'waiting for the first line of stdin'
  printf 'main;first 1\n' >&7
  wait_for '^ *first *$'
  keys q
  equal "exit code" 0 "$(ended)"
  exec 7>&-
}

test_view_of_damaged_and_foreign_files_says_one_thing_of_each() {
  printf 'main;a 1\n' | gzip | head -c 9 >"$work/head.gz"
  seq -f 'main;f%.0f 1' 100000 | gzip >"$work/whole.gz"
  head -c 100000 "$work/whole.gz" >"$work/cut.gz"
  printf 'java 4711 [002]  5123.456789:   10101010 cpu-clock:u: \n	    7f1c2a main+0x1f (/usr/bin/x)\n\n' >"$work/script"
  open_pane
  run_line "'$flametop' view head.gz cut.gz script"
  wait_for 'head\.gz cannot be read: it ends too early; copy it or pack it again'
  capture | grep -q 'is empty' && fail "it is said to be empty, too"
  keys ']'
  wait_for 'cut\.gz is read up to where it failed: it ends too early'
  wait_for '[0-9],[0-9]{3} stacks'
  keys ']'
  wait_for '10\.1 ms'
  keys q
  equal "exit code" 0 "$(ended)"
}

test_diff_of_an_endless_line_takes_the_rest() {
  printf 'main;a 1\n' >"$work/before"
  {
    printf 'main;a 3\nmain;'
    head -c 80000000 /dev/zero | tr '\0' x
    printf ' 4\nmain;b 2\n'
  } | "$flametop" diff "$work/before" - >"$work/diff" 2>"$work/err"
  equal "stacks" "main;a 1 3
main;b 0 2" "$(LC_ALL=C sort "$work/diff")"
  contains "message" 'stdin: 1 line is no stack and left out, first line 2: it is too long' "$work/err"
}

test_view_turns_a_large_tree_round_and_leads_to_each_node() {
  cc -O2 -D_GNU_SOURCE -o "$work/stacks" "$root/bench/programs/stacks.c"
  "$work/stacks" shuffled 100008 >"$work/large"
  open_pane 200 60
  run_line "'$flametop' view large"
  wait_for '[0-9] stacks'
  wait_gone 'reading'
  keys 2
  wait_for '─ callers ─'
  wait_for '▏… [0-9]{4} more'
  wait_gone 'turning the tree round'
  # Nothing says that the outermost frame is a comm: g says it is, then leaves it out.
  keys g
  wait_for "outermost: a comm"
  keys g
  wait_for "─ callers › outermost: a comm › not grouped ─"
  # Its twenty thousand functions are too thin for boxes.
  wait_for '^ … [0-9]{4} more'
  wait_gone 'turning the tree round'
  local leaf
  leaf=$(sed -n '77s/.*;\(.*\)(int) [0-9]*$/\1/p' "$work/large")
  keys / "^$leaf." Enter
  wait_for 'match [0-9]+ of'
  keys Enter
  wait_until "its callers are shown" callers_shown
  keys Escape
  wait_for 'search closed'
  keys Escape
  wait_for '^ … [0-9]{4} more'
  keys e f o l d Enter
  wait_for 'flametop-large-.* stacks, .* samples'
  keys q
  equal "exit code" 0 "$(ended)"
  equal "samples" "$(awk '{ sum += $NF } END { print sum }' "$work/large")" \
    "$(awk '/^# / { next } { sum += $NF } END { print sum }' "$work"/flametop-large-*.folded)"
}
callers_shown() {
  [ "$(capture | grep -cE '::f[0-9]+')" -ge 10 ]
}

# Long: inferno is compiled.
test_convert_of_perf_script_has_the_total_of_inferno() {
  local sample=$root/tui/src/test/resources/flametop/profile/format/perf-script.txt total stacks theirs lines
  # One kind of line each: numbers of process and thread, spaces in a comm, no CPU, a sample alone on its line, no symbol, the
  # kernel, an inlined function. A sample without frames is none to inferno.
  cat >"$work/odd.txt" <<'EOF'
# captured on: today
java 12/13 [001]  5.000001:          1 cpu-clock:u:
	    7f1200000001 Interpreter+0x1f (/tmp/perf-12.map)
	    7f1200000002 start_thread+0x2 (/usr/lib/libc.so.6)

java 12/13 [001]  5.000002:          1 cpu-clock:u:
	    7f1200000009 Interpreter+0x3f (/tmp/perf-12.map)
	    7f1200000002 start_thread+0x2 (/usr/lib/libc.so.6)

Web Content 14  5.000003:          1 cpu-clock:u:
	    7f1200000003 ns::f(int, char)::{lambda()#1}::operator() const+0x1f (/usr/lib/a b.so)
	    7f1200000004 small (inlined)
	    7f1200000005 [unknown] ([unknown])

tokio-runtime-w 15/16  5.000004:          1 cpu-clock:u:  7f1200000006 alone+0x1 (/usr/bin/x)
:17 17 [000]  5.000005:          1 cpu-clock:u:
	ffffffff81000000 do_syscall_64+0x3d ([kernel.kallsyms])
	ffffffffc0000000 nf_hook+0x3d ([nf_tables])

EOF
  # As perf script -F -time,-period prints them.
  sed 's/ 5\.00000[0-9]: *1 / /' "$work/odd.txt" >"$work/untimed.txt"
  for file in "$sample" "$work/odd.txt" "$work/untimed.txt"; do
    "$flametop" convert "$file" -o "$work/out.folded" --force 2>"$work/err" || fail "exit code $?: $(cat "$work/err")"
    (cd "$root/sampler-native" && cargo run -q --locked -p flametop-interop -- perf "$file") \
      >"$work/theirs" 2>"$work/err" || fail "$(cat "$work/err")"
    read -r theirs lines <"$work/theirs"
    read -r total stacks < <(grep -v '^# ' "$work/out.folded" | awk '{ sum += $NF; n++ } END { printf "%.0f %d\n", sum, n }')
    equal "total of ${file##*/}" "$theirs" "$total"
    equal "stacks of ${file##*/}" "$lines" "$stacks"
    [ "$theirs" -gt 3 ] || fail "inferno counts only $theirs"
  done
}
