package flametop.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which servers are asked for debug files. Hidden options: the help fits a screen. */
final class DebuginfodOptions {
  private static final String OPTION = "--debuginfod";
  private static final String URLS = "DEBUGINFOD_URLS";

  /** Where a distribution names its servers. */
  private static final Path FOLDER = Path.of("/etc/debuginfod");

  /** The value of the option without one. */
  private static final String ALONE = "-";

  private static final int MOST_FILES = 16;
  private static final int MOST_BYTES = 4_096;

  @Option(
      names = OPTION,
      order = 7,
      arity = "0..1",
      fallbackValue = ALONE,
      paramLabel = "URLS",
      hidden = true,
      description = {
        "names of stripped files from these servers",
        "Asks these debuginfod servers (with spaces between them) for the names of stripped files; without URLS, the servers of DEBUGINFOD_URLS or of /etc/debuginfod/*.urls. On by default if DEBUGINFOD_URLS is set; an empty value is none."
      })
  private @Nullable String given;

  @Option(
      names = "--no-debuginfod",
      order = 7,
      hidden = true,
      description = {"no server is asked", "Asks no debuginfod server."})
  private boolean off;

  /**
   * The arguments with {@code --debuginfod=URLS} in two: all other options have their value behind
   * a space, but this one has none at times.
   */
  static String[] parted(String[] arguments) {
    List<String> parts = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.startsWith(OPTION + "=")) {
        parts.addAll(List.of(argument.split("=", 2)));
      } else {
        parts.add(argument);
      }
    }
    return parts.toArray(String[]::new);
  }

  /** Whether anything was said of it. */
  boolean given() {
    return given != null || off;
  }

  /** Their addresses with spaces between them; empty: none is asked. */
  String servers() {
    return servers(System.getenv(), FOLDER);
  }

  String servers(Map<String, String> environment, Path folder) {
    if (off && given != null) {
      throw Failure.usage("--debuginfod and --no-debuginfod: give one of them");
    }
    if (off || given != null && given.isBlank()) {
      return "";
    }
    String named = line(environment.getOrDefault(URLS, ""));
    if (given == null) {
      return named;
    }
    String servers = given.equals(ALONE) ? named : line(given);
    servers = servers.isEmpty() ? line(ofSystem(folder)) : servers;
    if (servers.isEmpty()) {
      throw Failure.usage(
          "--debuginfod knows no server: give one, as in --debuginfod https://debuginfod.debian.net, or set "
              + URLS);
    }
    return servers;
  }

  private static String line(String text) {
    return text.replaceAll("[\\s\\p{Cntrl}]+", " ").trim();
  }

  /**
   * The servers that files like {@code elfutils.urls} name; elfutils' own clients know these
   * servers by the shell.
   */
  private static String ofSystem(Path folder) {
    List<Path> files = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    try (DirectoryStream<Path> urls = Files.newDirectoryStream(folder, "*.urls")) {
      urls.forEach(files::add);
      Collections.sort(files);
      for (Path file : files.subList(0, Math.min(MOST_FILES, files.size()))) {
        if (Files.isRegularFile(file) && Files.size(file) <= MOST_BYTES) {
          text.append(Files.readString(file, StandardCharsets.ISO_8859_1)).append(' ');
        }
      }
    } catch (IOException e) {
      // There are none, or root cannot read what is its own: then none is named.
    }
    return text.toString();
  }
}
