package flametop;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;

/** Data moves one way, and nothing below imports anything above it. */
@AnalyzeClasses(packages = "flametop", importOptions = ArchitectureTest.WithoutTests.class)
final class ArchitectureTest {
  /**
   * Leaves tests out wherever they are compiled to; ArchUnit's own option knows Maven's default
   * folder only.
   */
  static final class WithoutTests implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("/test-classes/");
    }
  }

  @ArchTest
  static final ArchRule IMPORTS_GO_ONE_WAY =
      rooms(
          "flametop.%s..",
          """
          cli: nobody
          agent: cli
          term: cli
          export: term agent cli
          view: term cli
          profile: view term export agent cli
          sampler: profile view term export agent cli
          array: profile view
          """);

  @ArchTest
  static final ArchRule ROOMS_OF_PROFILE_STAND_ON_EACH_OTHER =
      rooms(
          "flametop.profile.%s",
          """
          live: nobody
          file: nobody
          format: file
          host: live
          log: live
          tree: log live file
          answer: tree log host live format file
          """);

  @ArchTest
  static final ArchRule ROOMS_OF_VIEW_STAND_ON_EACH_OTHER =
      rooms(
          "flametop.view.%s",
          """
          screen: nobody
          table: screen
          paint: table screen
          keys: table screen
          layout: paint keys table screen
          state: layout paint keys table screen
          base: state layout paint keys table screen
          """);

  /** Each room, with the rooms that may use it. */
  private static ArchRule rooms(String packages, String table) {
    List<String[]> rows = table.lines().map(line -> line.split(": | ")).toList();
    LayeredArchitecture rule = layeredArchitecture().consideringOnlyDependenciesInLayers();
    for (String[] row : rows) {
      rule = rule.layer(row[0]).definedBy(String.format(packages, row[0]));
    }
    for (String[] row : rows) {
      LayeredArchitecture.LayerDependencySpecification room = rule.whereLayer(row[0]);
      rule =
          row[1].equals("nobody")
              ? room.mayNotBeAccessedByAnyLayer()
              : room.mayOnlyBeAccessedByLayers(Arrays.copyOfRange(row, 1, row.length));
    }
    return rule;
  }

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching("flametop.(**)").should().beFreeOfCycles();

  @ArchTest
  static void no_room_has_more_than_35_files(JavaClasses classes) {
    Map<String, Long> files =
        classes.stream()
            .filter(c -> c.isTopLevelClass() && !c.getSimpleName().equals("package-info"))
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    files.values().removeIf(count -> count <= 35);
    assertEquals(Map.of(), files);
  }

  /** So that NullAway checks the room. */
  @ArchTest
  static void each_room_says_its_nulls(JavaClasses classes) {
    Set<String> unmarked =
        classes.stream()
            .map(JavaClass::getPackage)
            .filter(room -> !room.isAnnotatedWith(NullMarked.class))
            .map(JavaPackage::getName)
            .collect(Collectors.toSet());
    assertEquals(Set.of(), unmarked);
  }

  @ArchTest
  static final ArchRule ONLY_TERM_TOUCHES_LANTERNA = only("term", "com.googlecode.lanterna..");

  @ArchTest
  static final ArchRule ONLY_AGENT_TOUCHES_THE_NETWORK =
      only("agent", "java.net.http..", "javax.net..");

  @ArchTest static final ArchRule ONLY_CLI_TOUCHES_PICOCLI = only("cli", "picocli..");

  @ArchTest
  static final ArchRule ONLY_FORMAT_TOUCHES_JACKSON_AND_JFR =
      only("profile.format", "com.fasterxml..", "jdk.jfr..");

  @ArchTest
  static final ArchRule ONLY_PROFILE_TOUCHES_CAFFEINE =
      only("profile", "com.github.benmanes.caffeine..");

  /** No class outside of a room uses these packages. */
  private static ArchRule only(String room, String... packages) {
    return noClasses()
        .that()
        .resideOutsideOfPackage("flametop." + room + "..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(packages);
  }
}
