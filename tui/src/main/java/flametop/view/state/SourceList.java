package flametop.view.state;

import flametop.view.base.Prompt;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The open list of sources of events that can be added, and the spec that is typed. Immutable.
 *
 * @param prompt its text is a spec, and narrows the list
 * @param listing the newest answer; null until the first one
 * @param wanted the text whose list is on its way; null if none is
 * @param index of the marked row; 0 is the typed spec itself
 * @param asked number of the source that is being attached; -1 for none
 * @param trouble why the spec that was tried last cannot be had; empty if nothing was tried
 */
public record SourceList(
    Prompt prompt,
    @Nullable SourceListing listing,
    @Nullable String wanted,
    int index,
    int asked,
    String trouble) {
  /** Begins as a source that a program has, and not the kernel. */
  private static final Pattern OF_PROGRAMS = Pattern.compile("(usdt|uprobe|uretprobe)\\b");

  /** The list before anything is typed. */
  public static final SourceList OPENED = new SourceList(Prompt.EMPTY, null, "", 0, -1, "");

  public String typed() {
    return prompt.text();
  }

  /** The text that narrows the list: a spec without its options. */
  public String pattern() {
    int options = typed().indexOf(',');
    return (options < 0 ? typed() : typed().substring(0, options)).strip();
  }

  /** The rows below that of the typed spec. */
  public List<SourceListing.Row> rows() {
    return listing == null ? List.of() : listing.rows();
  }

  /** The marked row; null for the typed spec. */
  public SourceListing.@Nullable Row marked() {
    return index == 0 ? null : rows().get(index - 1);
  }

  /** What is said of the marked row, or a hint. */
  public String about() {
    SourceListing.Row row = marked();
    if (asked >= 0) {
      return "attaching…";
    }
    if (row != null) {
      return row.missing().isEmpty() ? row.details() : row.missing();
    }
    boolean none = listing != null && listing.all() == 0 && listing.trouble().isEmpty();
    return none && OF_PROGRAMS.matcher(typed().strip()).lookingAt()
        ? "those of one process are listed after flametop -p PID; others can be typed, such as usdt:FILE:PROVIDER:NAME"
        : "such as fault,weight=bytes or uprobe:FILE:FUNCTION";
  }

  public SourceList withPrompt(Prompt value) {
    return new SourceList(value, listing, wanted, 0, asked, "");
  }

  public SourceList withListing(SourceListing value) {
    SourceList next = new SourceList(prompt, value, null, index, asked, trouble);
    return next.moved(0);
  }

  public SourceList wanting(String text) {
    return new SourceList(prompt, listing, text, index, asked, trouble);
  }

  public SourceList moved(int by) {
    int to = Math.max(0, Math.min(index + by, rows().size()));
    return new SourceList(prompt, listing, wanted, to, asked, trouble);
  }

  /** The list while a source is being attached. */
  public SourceList asking(int number) {
    return new SourceList(prompt, listing, wanted, index, number, "");
  }

  /** Whether the reason is about the character at the cursor. */
  public boolean isAtColumn() {
    return trouble.startsWith("column ");
  }

  /** The same with the cursor at a character of the spec. */
  public SourceList at(int character) {
    String text = typed();
    int to = text.offsetByCodePoints(0, Math.min(character, text.codePointCount(0, text.length())));
    return new SourceList(prompt.at(to), listing, wanted, index, asked, trouble);
  }

  /** The list after a source could not be attached. */
  public SourceList withTrouble(String why) {
    return new SourceList(prompt, listing, wanted, index, -1, why);
  }
}
