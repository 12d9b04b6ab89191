package flametop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of the architecture names files, classes and rooms that there are. */
final class ArchitecturePageTest {
  private static final Path ROOT = Path.of("..");

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private static Set<String> sources() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String folder : new String[] {"bpf", "sampler-native", "tui/src"}) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
        files
            .map(file -> "/" + ROOT.relativize(file))
            .filter(file -> !file.contains("/target/"))
            .forEach(names::add);
      }
    }
    return names;
  }

  @Test
  void page_eachFileAndClassThatItNames_exists() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/architecture.md"));
    page = page.substring(page.lastIndexOf("```") + 3);
    Set<String> sources = sources();
    List<String> missing = new ArrayList<>();
    Matcher code = CODE.matcher(page);
    int named = 0;
    while (code.find()) {
      String name = code.group(1);
      boolean file = name.matches("[\\w./-]+\\.(java|rs|c|h|bpf\\.c)");
      boolean type = name.matches("[A-Z][A-Za-z]+[a-z]");
      String path = "/" + (type ? name + ".java" : name);
      if (file || type) {
        named++;
        if (sources.stream().noneMatch(source -> source.endsWith(path))) {
          missing.add(name);
        }
      }
    }
    assertEquals(List.of(), missing);
    assertTrue(named > 40, named + " names");
  }

  @Test
  void page_eachRoom_isInThePicture() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/architecture.md"));
    String picture = page.substring(page.indexOf("```"), page.lastIndexOf("```"));
    Set<String> rooms;
    try (Stream<Path> files = Files.walk(Path.of("src/main/java/flametop"), 2)) {
      rooms =
          files
              .filter(Files::isDirectory)
              .map(folder -> folder.getFileName().toString())
              .collect(Collectors.toCollection(TreeSet::new));
    }
    rooms.removeIf(room -> Pattern.compile("\\b" + room + "\\b").matcher(picture).find());
    assertEquals(Set.of(), rooms);
  }
}
