package flametop.sampler;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;

/** Names of the users of this host, by {@code /etc/passwd}. */
public final class Users {
  private static final int MAX_NAME = 32;

  private final Map<Integer, String> names = new HashMap<>();
  private final Map<String, Integer> uids = new HashMap<>();

  /** Reads {@code /etc/passwd}; where that cannot be read, users are known by number only. */
  public Users() {
    this(Path.of("/etc/passwd"));
  }

  Users(Path passwd) {
    try {
      for (String line : Files.readString(passwd, StandardCharsets.ISO_8859_1).split("\n")) {
        String[] fields = line.split(":");
        if (fields.length > 2 && fields[2].matches("[0-9]{1,10}")) {
          byte[] name = fields[0].getBytes(StandardCharsets.ISO_8859_1);
          String clean = CleanText.clean(name, MAX_NAME);
          int uid = (int) Long.parseLong(fields[2]);
          names.putIfAbsent(uid, clean);
          uids.putIfAbsent(clean, uid);
        }
      }
    } catch (IOException e) {
      // Numbers do.
    }
  }

  /** The user's clean name; the number (unsigned) if it has none. */
  public String name(int uid) {
    String name = names.get(uid);
    return name != null ? name : Integer.toUnsignedString(uid);
  }

  /** The number of a user given by name or number; empty if there is no such name. */
  public OptionalInt uid(String user) {
    Integer uid = uids.get(user);
    if (uid != null) {
      return OptionalInt.of(uid);
    }
    try {
      return OptionalInt.of(Integer.parseUnsignedInt(user));
    } catch (NumberFormatException e) {
      return OptionalInt.empty();
    }
  }
}
