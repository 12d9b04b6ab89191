package flametop.view.base;

/**
 * A sentence for each action, about the effect of its key. The configuration and the reference in
 * {@code docs/} have them; the help on the screen has room for some words only ({@link
 * Action#help}).
 */
final class ActionSentence {
  private ActionSentence() {}

  static String of(Action action) {
    return switch (action) {
      case LEFT -> "Moves the selection to the neighbour on the left.";
      case DOWN -> "Moves the selection one row down.";
      case UP -> "Moves the selection one row up.";
      case RIGHT -> "Moves the selection to the neighbour on the right.";
      case PAGE_UP -> "Moves the selection one page up.";
      case PAGE_DOWN -> "Moves the selection one page down.";
      case FIRST -> "Moves the selection to the first row.";
      case LAST -> "Moves the selection to the last row.";
      case ZOOM -> "Makes the selected frame as wide as the screen; opens a box `… n more`.";
      case OPEN -> "Shows the sandwich of the selected function: its callers and its callees.";
      case PICK -> "Shows the graph of the process, thread or measure in the selected row.";
      case BACK -> "Takes back the last zoom, search or jump to another view. It never quits.";
      case ROOT -> "Takes back all zooms: shows the graph from its root.";

      case SEARCH -> "Searches names by a regular expression while you type; filters a table.";
      case NEXT_MATCH -> "Moves the selection to the next match of the search.";
      case PREVIOUS_MATCH -> "Moves the selection to the previous match of the search.";
      case PROCESS -> "Lists processes: Enter shows only the marked one, Ctrl-X all others.";
      case COMM ->
          "Lists comms (names of programs), of a file its outermost frames: Enter shows only that one, Ctrl-X all others.";
      case PICK_STATE -> "Lists states of threads: Enter counts only that one, Ctrl-X all others.";
      case PICK_CPU -> "Lists CPUs: Enter shows only what ran on that one, Ctrl-X all others.";
      case PICK_CGROUP -> "Lists control groups: Enter shows only that one, Ctrl-X all others.";
      case SANDWICH -> "Puts the selected function into the middle of the sandwich.";
      case SOURCE -> "Shows the source lines of the selected frame, and functions inlined there.";

      case KEEP ->
          "Shows only what the selection is in; during a search, only stacks with a match.";
      case DROP -> "Hides what the selection is in; during a search, all stacks with a match.";
      case MERGE ->
          "Merges recursion: calls of a function by itself become one frame; again: stops.";
      case COLLAPSE ->
          "Draws the module of the selected frame as one frame; on that one: opens it.";
      case FOLD_RUNTIMES ->
          "Folds frames of Java's, Python's, PHP's, Ruby's and Node's own machinery into the functions that call them; again: stops.";
      case SHOW_SLEEPERS ->
          "Shows the stacks of idle threads, which wait for work; again: one frame `[idle]`.";
      case GROUP ->
          "Groups by the next of service, process, ancestor, thread, CPU, control group, comm, nothing.";
      case ENDED -> "Shows the tasks that ended within the window, too; again: only living ones.";
      case THREADS -> "Groups by thread, or shows rows of threads; again: goes back.";
      case UNDO -> "Undoes the last filter or change of shape.";
      case REDO -> "Does again what was undone last.";
      case MEASURE ->
          "Shows the next measure in the same view: time, then the weights of each source of events; of a file lists its sample types.";
      case COMPARE -> "Compares all that comes with what is shown now (the baseline); again: anew.";
      case COMPARE_END -> "Ends the comparison.";
      case SORT -> "Sorts the table by its next column.";
      case MARK -> "Marks a CPU: first row and graph are then of the marked CPUs only.";
      case BY_MODULE ->
          "Has rows of modules in place of processes; again: of runtimes; again: goes back.";

      case SWITCH -> "Switches the marked source of events on or off; its counts and stacks stay.";
      case ADD ->
          "Adds a source of events: lists those of this machine, narrowed by what is typed.";
      case REMOVE -> "Removes the marked source of events, with its counts and stacks.";

      case FREEZE -> "Freezes every panel at this moment, or thaws them. Sampling goes on.";
      case WINDOW -> "Shows the last 10 s, 30 s, 5 min, or all time since the start.";
      case TIME -> "Puts a cursor on the strip of time below the graph, or takes it away.";
      case GO_TO ->
          "Goes to a time that you type: 14:03, 14:03:20, -3m, or a range as 14:03-14:05.";
      case HEAT_MAP ->
          "Makes the strip of time a heat map, a column for each second, a row for a part of it: bursts are bright. Again: the strip.";
      case RANGE_START -> "Begins a range of time at the cursor; the graph is then of that range.";
      case RANGE_END -> "Ends a range of time at the cursor; the graph is then of that range.";
      case STATES -> "Counts time that is busy (RUN, RUNQ, D), on a CPU, off the CPUs, or all.";
      case RESTART ->
          "Begins the window at this moment: what was before counts no more, until m brings the window before back.";
      case REFRESH -> "Changes the time between two pictures.";

      case NEXT_VIEW -> "Shows the next view.";
      case SHOW_GRAPH -> "Shows the graph: the flame graph of all stacks.";
      case SHOW_CALLERS -> "Shows the graph of callers, innermost frame first; I again: goes back.";
      case SHOW_SANDWICH ->
          "Shows the sandwich: one function, its callers above, its callees below.";
      case SHOW_TOP -> "Shows the table of functions, those with the most time first.";
      case SHOW_TASKS -> "Shows the table of processes or threads, with their exact times.";
      case SHOW_CPUS -> "Shows the table of CPUs: their use, waiting tasks, wake-ups, frequency.";
      case SHOW_IDLE -> "Shows the table of idle states of the CPUs.";
      case SHOW_QUALITY -> "Shows how good the samples are, and what flametop itself costs.";
      case SHOW_EVENTS ->
          "Shows the table of the sources of events; Enter shows the graph of one, or of time again.";
      case PREVIOUS_FILE -> "Shows the previous file.";
      case NEXT_FILE -> "Shows the next file.";
      case SPLIT -> "Shows two files side by side, or one again.";
      case OTHER_PANE -> "Gives the keys to the other of two files.";
      case SIBLINGS -> "Orders the boxes beside each other by name or by size, the largest first.";
      case FLIP -> "Turns the graph upside down: icicle (root above) or flame (root below).";
      case COLOUR ->
          "Colours frames by kind, or by the state that most of their time was spent in.";

      case MORE_PASSES -> "Looks at every task more often: 1, 9, 19, 49, 99 times a second.";
      case FEWER_PASSES -> "Looks at every task less often.";
      case SLOWER_CLOCK -> "Samples CPUs less often.";
      case FASTER_CLOCK -> "Samples CPUs more often: 0, 19, 49, 99, 199, 499 times a second.";

      case EXPORT -> "Writes what is shown to a file; a list asks for the format.";
      case COPY -> "Copies the whole name of the selection to the clipboard (OSC 52).";
      case HELP -> "Shows the keys of this view.";
      case REPAINT -> "Paints the whole screen anew.";
      case QUIT -> "Quits. Ctrl-C does so whatever the configuration says.";
    };
  }
}
