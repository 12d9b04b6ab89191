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
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("array")
          .definedBy("flametop.array")
          .layer("sampler")
          .definedBy("flametop.sampler..")
          .layer("profile")
          .definedBy("flametop.profile..")
          .layer("view")
          .definedBy("flametop.view..")
          .layer("term")
          .definedBy("flametop.term..")
          .layer("export")
          .definedBy("flametop.export..")
          .layer("agent")
          .definedBy("flametop.agent..")
          .layer("cli")
          .definedBy("flametop.cli..")
          .whereLayer("cli")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("agent")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("term")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("export")
          .mayOnlyBeAccessedByLayers("term", "agent", "cli")
          .whereLayer("view")
          .mayOnlyBeAccessedByLayers("term", "cli")
          .whereLayer("profile")
          .mayOnlyBeAccessedByLayers("view", "term", "export", "agent", "cli")
          .whereLayer("sampler")
          .mayOnlyBeAccessedByLayers("profile", "view", "term", "export", "agent", "cli")
          .whereLayer("array")
          .mayOnlyBeAccessedByLayers("profile", "view");

  @ArchTest
  static final ArchRule ROOMS_OF_PROFILE_STAND_ON_EACH_OTHER =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("answer")
          .definedBy("flametop.profile.answer")
          .layer("tree")
          .definedBy("flametop.profile.tree")
          .layer("log")
          .definedBy("flametop.profile.log")
          .layer("host")
          .definedBy("flametop.profile.host")
          .layer("live")
          .definedBy("flametop.profile.live")
          .layer("format")
          .definedBy("flametop.profile.format")
          .layer("file")
          .definedBy("flametop.profile.file")
          .whereLayer("live")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("file")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("format")
          .mayOnlyBeAccessedByLayers("file")
          .whereLayer("host")
          .mayOnlyBeAccessedByLayers("live")
          .whereLayer("log")
          .mayOnlyBeAccessedByLayers("live")
          .whereLayer("tree")
          .mayOnlyBeAccessedByLayers("log", "live", "file");

  @ArchTest
  static final ArchRule ROOMS_OF_VIEW_STAND_ON_EACH_OTHER =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("base")
          .definedBy("flametop.view.base")
          .layer("state")
          .definedBy("flametop.view.state")
          .layer("layout")
          .definedBy("flametop.view.layout")
          .layer("paint")
          .definedBy("flametop.view.paint")
          .layer("keys")
          .definedBy("flametop.view.keys")
          .layer("table")
          .definedBy("flametop.view.table")
          .layer("screen")
          .definedBy("flametop.view.screen")
          .whereLayer("screen")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("table")
          .mayOnlyBeAccessedByLayers("screen")
          .whereLayer("paint")
          .mayOnlyBeAccessedByLayers("table", "screen")
          .whereLayer("keys")
          .mayOnlyBeAccessedByLayers("table", "screen")
          .whereLayer("layout")
          .mayOnlyBeAccessedByLayers("paint", "keys", "table", "screen")
          .whereLayer("state")
          .mayOnlyBeAccessedByLayers("layout", "paint", "keys", "table", "screen");

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
  static final ArchRule ONLY_TERM_TOUCHES_LANTERNA =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.term..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.googlecode.lanterna..");

  @ArchTest
  static final ArchRule ONLY_AGENT_TOUCHES_THE_NETWORK =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.agent..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("java.net.http..", "javax.net..");

  @ArchTest
  static final ArchRule ONLY_CLI_TOUCHES_PICOCLI =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.cli..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("picocli..");

  @ArchTest
  static final ArchRule ONLY_FORMAT_TOUCHES_JACKSON_AND_JFR =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.profile.format..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("com.fasterxml..", "jdk.jfr..");

  @ArchTest
  static final ArchRule ONLY_PROFILE_TOUCHES_CAFFEINE =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.profile..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.github.benmanes.caffeine..");
}
