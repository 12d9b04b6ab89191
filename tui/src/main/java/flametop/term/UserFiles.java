package flametop.term;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files of the user, below {@code $XDG_CONFIG_HOME/flametop} or {@code ~/.config/flametop}.
 * Under sudo these are the files of the user who called sudo, and only files that this user owns:
 * an error must not quote a file that only root may read.
 */
public final class UserFiles {
  private static final Path PASSWD = Path.of("/etc/passwd");
  private static final int MAX_BYTES = 64 * 1024;

  /** No files. */
  static final UserFiles NONE = new UserFiles(null, -1);

  /** Null if the place is unknown. */
  private final @Nullable Path folder;

  /** The user who must own the files; -1 for anybody. */
  private final int owner;

  private UserFiles(@Nullable Path folder, int owner) {
    this.folder = folder;
    this.owner = owner;
  }

  /**
   * @param environment as of {@link System#getenv()}
   */
  public static UserFiles of(Map<String, String> environment) {
    return of(environment, PASSWD);
  }

  static UserFiles of(Map<String, String> environment, Path passwd) {
    String given = environment.getOrDefault("XDG_CONFIG_HOME", "");
    String home = environment.getOrDefault("HOME", "");
    String caller = environment.getOrDefault("SUDO_UID", "");
    int owner = -1;
    if (!caller.isEmpty() && !caller.equals("0")) {
      String theirs = homeOf(caller, passwd);
      if (theirs != null) {
        home = theirs;
        owner = Integer.parseUnsignedInt(caller);
      }
    }
    // The XDG specification ignores a path that is not absolute.
    if (given.startsWith("/")) {
      return new UserFiles(Path.of(given, "flametop"), owner);
    }
    return new UserFiles(home.startsWith("/") ? Path.of(home, ".config", "flametop") : null, owner);
  }

  private static @Nullable String homeOf(String uid, Path passwd) {
    try {
      for (String line : Files.readString(passwd, StandardCharsets.ISO_8859_1).split("\n")) {
        String[] fields = line.split(":");
        if (fields.length > 5 && fields[2].equals(uid) && fields[5].startsWith("/")) {
          return fields[5];
        }
      }
    } catch (IOException e) {
      // Then the files belong to root.
    }
    return null;
  }

  /** The path of a file or folder, which need not exist; null if the place is unknown. */
  public @Nullable Path path(String name) {
    return folder == null ? null : folder.resolve(name);
  }

  /**
   * Reads a file.
   *
   * @throws IOException the fault of the file, without its name
   */
  public String read(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException("not a regular file");
    }
    if (owner != -1 && !Integer.valueOf(owner).equals(Files.getAttribute(file, "unix:uid"))) {
      throw new IOException("not a file of user " + Integer.toUnsignedString(owner));
    }
    long size = Files.size(file);
    if (size > MAX_BYTES) {
      throw new IOException("larger than 64 KiB");
    }
    // A file without a size may be one of /proc, which can be endless, or wait for ever.
    byte[] bytes = new byte[0];
    if (size > 0) {
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readNBytes(MAX_BYTES);
      }
    }
    // Bytes that are no UTF-8 are an error of their line, not of the file.
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
