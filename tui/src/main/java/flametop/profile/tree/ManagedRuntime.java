package flametop.profile.tree;

import flametop.profile.answer.NodeKind;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A runtime that interprets or compiles a language while a program runs. */
public enum ManagedRuntime {
  JAVA("Java"),
  PYTHON("Python"),
  PHP("PHP"),
  RUBY("Ruby"),
  NODE("Node");

  /** What the kernel adds to the path of a file that was replaced. */
  private static final String DELETED = " (deleted)";

  /** Files of a runtime: how their names begin, and what may stand behind that. */
  private record Image(ManagedRuntime runtime, String prefix, Pattern rest) {
    Image(ManagedRuntime runtime, String prefix, String rest) {
      this(runtime, prefix, Pattern.compile(rest));
    }
  }

  private static final List<Image> IMAGES =
      List.of(
          new Image(JAVA, "libjvm", "(\\.so)?"),
          new Image(JAVA, "libjli", "(\\.so)?"),
          new Image(PYTHON, "python", "|3.*"),
          new Image(PYTHON, "libpython3", ".*"),
          new Image(PHP, "php", "(-fpm|-cgi)?[0-9.]*"),
          new Image(PHP, "libphp", "[0-9.]*(so)?"),
          new Image(RUBY, "ruby", "[0-9.]*"),
          new Image(RUBY, "libruby", ".*\\.so.*"),
          new Image(NODE, "node", "(js)?"),
          new Image(NODE, "libnode", "\\.so.*"));

  private final String label;

  ManagedRuntime(String label) {
    this.label = label;
  }

  /** Its name for people. */
  public String label() {
    return label;
  }

  /**
   * The runtime whose own program or library a file is; null if it is none's.
   *
   * @param file name of the file, without its folder
   */
  public static @Nullable ManagedRuntime ofImage(String file) {
    for (Image image : IMAGES) {
      if (file.startsWith(image.prefix)) {
        int end = file.length() - (file.endsWith(DELETED) ? DELETED.length() : 0);
        if (image.rest.matcher(file).region(image.prefix.length(), end).matches()) {
          return image.runtime;
        }
      }
    }
    return null;
  }

  /** The runtime that interprets functions of a kind; null if the kind does not say. */
  public static @Nullable ManagedRuntime ofFunctions(NodeKind kind) {
    return switch (kind) {
      case PYTHON -> PYTHON;
      case PHP -> PHP;
      case RUBY -> RUBY;
      default -> null;
    };
  }
}
