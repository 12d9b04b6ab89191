package flametop.cli;

import flametop.export.OutputFile;
import flametop.export.Provenance;
import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.answer.Extract;
import flametop.profile.live.Profile;
import flametop.sampler.StreamFacts;
import flametop.term.LiveSession;
import flametop.term.Picture;
import flametop.term.Theme;
import flametop.view.base.CellGrid;
import flametop.view.base.ExportFormat;
import flametop.view.state.Effect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Writes what the screen shows to a file in the working directory. */
final class ScreenExporter implements LiveSession.Exporter {
  private static final int MOST_OF_ONE_SECOND = 100;

  /** Chars of a host or a file, so that a name has room in any file system. */
  private static final int MAX_HOST = 64;

  /** The stacks on the screen. */
  interface Shown {
    CompletableFuture<StackExport> stacks(Effect.Export what);

    CompletableFuture<Provenance> provenance(Effect.Export what);

    /** Why there is no stack, for people. */
    String nothing();
  }

  private final Shown shown;
  private final Set<OutputFile> unfinished = ConcurrentHashMap.newKeySet();
  private volatile boolean abandoned;

  ScreenExporter(Shown shown) {
    this.shown = shown;
  }

  /** The exporter of a profile. */
  static ScreenExporter of(Profile profile, StreamFacts facts) {
    return new ScreenExporter(
        new Shown() {
          @Override
          public CompletableFuture<StackExport> stacks(Effect.Export what) {
            return profile
                .extract(what.states(), what.zoom(), false)
                .thenApplyAsync(all -> what.through() == null ? all : all.through(what.through()))
                .thenApply(
                    extract ->
                        StackExport.of(
                            provenance(what, extract.scope()),
                            extract.measure(),
                            extract.stacks(),
                            extract.exactTotal()));
          }

          @Override
          public CompletableFuture<Provenance> provenance(Effect.Export what) {
            return profile.scope(what.zoom()).thenApplyAsync(scope -> provenance(what, scope));
          }

          @Override
          public String nothing() {
            return "no task was seen in the states shown; o shows others";
          }

          private Provenance provenance(Effect.Export what, Extract.Scope scope) {
            return Provenance.of(Main.Version.text(), facts, scope, what.states());
          }
        });
  }

  @Override
  public CompletableFuture<String> export(Effect.Export what, CellGrid screen, Theme theme) {
    return what.format().isPicture()
        ? shown.provenance(what).thenApplyAsync(from -> picture(what.format(), from, screen, theme))
        : shown.stacks(what).thenApplyAsync(stacks -> stacks(what.format(), stacks));
  }

  private String stacks(ExportFormat chosen, StackExport export) {
    if (export.isEmpty()) {
      String text = "nothing to export: " + shown.nothing();
      throw new UncheckedIOException(text, new IOException(text));
    }
    StackFormat format = StackFormat.valueOf(chosen.name());
    long[] stacks = new long[1];
    return write(
        export.provenance().host(),
        format.suffix(),
        out -> stacks[0] = format.write(export, out),
        () -> export.describe(stacks[0]));
  }

  @Override
  public void abandon() {
    abandoned = true;
    unfinished.forEach(OutputFile::close);
  }

  private String picture(ExportFormat chosen, Provenance provenance, CellGrid screen, Theme theme) {
    boolean svg = chosen == ExportFormat.SVG;
    String text =
        svg
            ? Picture.svg(screen, theme, provenance.title(), provenance.lines())
            : Picture.text(screen, provenance.lines());
    return write(
        provenance.host(),
        svg ? ".svg" : ".txt",
        out -> out.write(text.getBytes(StandardCharsets.UTF_8)),
        () -> "the screen, " + screen.columns() + "×" + screen.rows());
  }

  private String write(
      String host, String suffix, OutputFile.Content content, Supplier<String> said) {
    Path path = free(host, suffix);
    try (OutputFile file = OutputFile.create(path, false)) {
      unfinished.add(file);
      if (abandoned) {
        throw new IOException("it was quit before the export was written");
      }
      long bytes = file.write(content);
      unfinished.remove(file);
      return String.format(
          Locale.ROOT,
          "%s: %,d kB, %s",
          RecordingOutput.name(file),
          (bytes + 999) / 1_000,
          said.get());
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** A name with the host and the time, that no file has. */
  private static Path free(String host, String suffix) {
    String time =
        LocalDateTime.now(ZoneId.systemDefault())
            .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT));
    String of = host.replaceAll("[^A-Za-z0-9._-]", "_");
    String cut = of.substring(0, Math.min(MAX_HOST, of.length()));
    String name = "flametop-" + cut + "-" + time;
    Path path = Path.of(name + suffix);
    for (int i = 2; i < MOST_OF_ONE_SECOND && Files.exists(path, LinkOption.NOFOLLOW_LINKS); i++) {
      path = Path.of(name + "-" + i + suffix);
    }
    return path;
  }
}
