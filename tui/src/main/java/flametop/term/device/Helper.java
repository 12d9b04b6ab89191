package flametop.term.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The program {@code flametop-helper}, which lies beside the native library: it does what Java
 * cannot do itself, so that flametop needs neither a shell nor {@code stty} on the machine.
 */
public final class Helper {
  private static final String FOLDER = "flametop.native.dir";
  private static final String NAME = "flametop-helper";

  private Helper() {}

  /**
   * A command line of the helper.
   *
   * @throws IOException if the helper is not there
   */
  public static List<String> command(List<String> arguments) throws IOException {
    return command(System.getProperty(FOLDER, ""), arguments);
  }

  static List<String> command(String folder, List<String> arguments) throws IOException {
    if (folder.isEmpty()) {
      throw new IOException(
          "the folder of "
              + NAME
              + " is not known: start flametop by its launcher, or with -D"
              + FOLDER
              + "=FOLDER");
    }
    Path program = Path.of(folder).toAbsolutePath().resolve(NAME);
    if (!Files.isExecutable(program)) {
      throw new IOException(program + " is missing: build it (mvn package)");
    }
    List<String> line = new ArrayList<>();
    line.add(program.toString());
    line.addAll(arguments);
    return line;
  }

  /**
   * Starts it and waits for its end.
   *
   * @throws IOException if it is not there
   */
  public static void run(String... arguments) throws IOException, InterruptedException {
    new ProcessBuilder(command(List.of(arguments))).start().waitFor();
  }
}
