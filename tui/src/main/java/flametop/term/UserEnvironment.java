package flametop.term;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The environment of the user, without the settings of the launcher for the JVM. */
public final class UserEnvironment {
  /** Set by the launcher: {@code LC_ALL} of the user, empty if there is none. */
  private static final String LC_ALL = "flametop.user.lc_all";

  /** Prefix of variables of the user that the launcher has changed. */
  private static final String USERS = "FLAMETOP_USER_";

  private UserEnvironment() {}

  /** A copy of the environment, like {@link System#getenv()}. */
  public static Map<String, String> get() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    restore(environment);
    return environment;
  }

  /** Turns the environment of a child into the environment of the user. */
  public static void restore(Map<String, String> environment) {
    String locale = System.getProperty(LC_ALL);
    if (locale != null) {
      environment.remove("MALLOC_ARENA_MAX");
      environment.remove("LC_ALL");
      if (!locale.isEmpty()) {
        environment.put("LC_ALL", locale);
      }
      for (String name : List.copyOf(environment.keySet())) {
        if (name.startsWith(USERS)) {
          environment.put(name.substring(USERS.length()), environment.remove(name));
        }
      }
    }
  }
}
