package flametop.profile.file;

import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The lines for people about what files say, and about what was left out of them. */
final class FileNotices {
  private final List<String> notices = new ArrayList<>();
  private final boolean several;
  private final boolean done;

  /**
   * @param several whether there are several inputs: then each line names its own
   * @param done whether all is read, or as much as can be
   */
  FileNotices(StackNames names, boolean several, boolean done) {
    this.several = several;
    this.done = done;
    int illFormed = names.illFormed();
    if (illFormed > 0) {
      notices.add(
          StackTally.are(illFormed, "name") + " not in UTF-8: what cannot be read stands as \\xNN");
    }
    if (names.owners().areTooMany()) {
      notices.add(
          "there are more than "
              + OwnerNames.MOST
              + " threads, states and groups: the others are told apart by their comms alone");
    }
  }

  /** The lines. */
  List<String> lines() {
    return notices;
  }

  /**
   * Adds those about an input.
   *
   * @param trouble why it is not read to its end; null if it is
   * @param lists whether a key lists its sample types
   */
  void add(StackInput input, StackLines of, @Nullable String trouble, boolean lists) {
    String name = input.name();
    // Of a single file the header has the name.
    String before = several ? name + ": " : "";
    StackTally tally = of.tally();
    tally.tell(before, lists, notices);
    if (!done || tally.stacks() > 0) {
      tally.complain(before, notices);
    } else if (tally.lines() > 0) {
      notices.add(name + " has no stacks: " + of.whyNone());
    } else if (trouble == null) {
      notices.add(name + tally.emptiness());
    }
    if (done && tally.stacks() > 0 && !tally.counts()) {
      notices.add(before + "all of its numbers are 0");
    }
    if (input.trails()) {
      notices.add(name + ": what follows its packed data is not packed, and is left out");
    }
    if (trouble != null) {
      notices.add(
          name
              + (tally.lines() > 0 ? " is read up to where it failed: " : " cannot be read: ")
              + trouble
              + (input.isDamaged() ? "; copy it or pack it again" : ""));
    }
  }

  /** Adds that there was no memory for a shape; null: there was. */
  void refused(@Nullable Shape shape) {
    if (shape != null) {
      notices.add(
          shape + ": there is not enough memory for that many frames; leave more stacks out first");
    }
  }
}
