package flametop.term;

import flametop.sampler.CleanText;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The searches of earlier screens, in {@code $XDG_STATE_HOME/flametop/searches}, a line each, the
 * latest first. Kept only in a home of the user who runs this: root leaves nothing in another's.
 */
public final class SearchHistory {
  private static final String FILE = "searches";
  private static final int MAX_LINES = 100;
  private static final int MAX_LENGTH = 200;
  private static final int MAX_BYTES = MAX_LINES * MAX_LENGTH * 4;

  /** No history: nothing is read or kept. */
  static final SearchHistory NONE = new SearchHistory(null);

  /** Null: searches are not kept. */
  private final @Nullable Path folder;

  private SearchHistory(@Nullable Path folder) {
    this.folder = folder;
  }

  /**
   * @param environment as of {@link System#getenv()}
   */
  public static SearchHistory of(Map<String, String> environment) {
    String given = environment.getOrDefault("XDG_STATE_HOME", "");
    String home = environment.getOrDefault("HOME", "");
    if (given.startsWith("/")) {
      return new SearchHistory(Path.of(given, "flametop"));
    }
    return home.startsWith("/")
        ? new SearchHistory(Path.of(home, ".local", "state", "flametop"))
        : NONE;
  }

  /** The texts of past searches, the latest first. May wait for a disk, like {@link #add}. */
  public synchronized List<String> texts() {
    List<String> lines = new ArrayList<>();
    if (folder == null) {
      return lines;
    }
    Path file = folder.resolve(FILE);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return lines;
    }
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      String text = new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
      for (String line : text.split("\n", MAX_LINES + 1)) {
        if (!line.isEmpty() && lines.size() < MAX_LINES) {
          lines.add(CleanText.clean(line, MAX_LENGTH));
        }
      }
    } catch (IOException e) {
      // As if it were not there.
    }
    return lines;
  }

  /** Keeps a search. Failures are silent. */
  public synchronized void add(String text) {
    if (folder == null) {
      return;
    }
    List<String> lines = texts();
    lines.remove(text);
    lines.add(0, text);
    try {
      if (!isOurs(folder)) {
        return;
      }
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      Path beside = folder.resolve(FILE + "." + ProcessHandle.current().pid());
      Files.deleteIfExists(beside);
      String kept = String.join("\n", lines.subList(0, Math.min(lines.size(), MAX_LINES)));
      try (OutputStream out =
          Files.newOutputStream(beside, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        out.write((kept + "\n").getBytes(StandardCharsets.UTF_8));
      }
      Files.move(
          beside,
          folder.resolve(FILE),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      // It is kept as long as this screen is open.
    }
  }

  /** Whether the nearest folder that exists belongs to the user of this process. */
  private static boolean isOurs(Path folder) throws IOException {
    Path there = folder;
    while (there.getParent() != null && !Files.exists(there, LinkOption.NOFOLLOW_LINKS)) {
      there = there.getParent();
    }
    return Files.getOwner(there).equals(Files.getOwner(Path.of("/proc/self")));
  }
}
