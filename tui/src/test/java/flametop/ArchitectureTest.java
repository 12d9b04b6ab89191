package flametop;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Data moves one way, and nothing below imports anything above it. */
@AnalyzeClasses(packages = "flametop", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
  @ArchTest
  static final ArchRule IMPORTS_GO_ONE_WAY =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
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
          .layer("cli")
          .definedBy("flametop.cli..")
          .whereLayer("cli")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("term")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("export")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("view")
          .mayOnlyBeAccessedByLayers("term", "cli")
          .whereLayer("profile")
          .mayOnlyBeAccessedByLayers("view", "term", "export", "cli")
          .whereLayer("sampler")
          .mayOnlyBeAccessedByLayers("profile", "view", "term", "export", "cli");

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching("flametop.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule ONLY_TERM_TOUCHES_LANTERNA =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.term..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.googlecode.lanterna..");

  @ArchTest
  static final ArchRule ONLY_CLI_TOUCHES_PICOCLI =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.cli..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("picocli..");

  @ArchTest
  static final ArchRule ONLY_PROFILE_TOUCHES_CAFFEINE =
      noClasses()
          .that()
          .resideOutsideOfPackage("flametop.profile..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.github.benmanes.caffeine..");
}
