package flametop.cli;

import flametop.cli.settings.BudgetOptions;
import flametop.cli.settings.RateOptions;
import flametop.sampler.ReplaySource;
import flametop.sampler.SamplerException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** A recorded stream in place of the kernel. */
final class ReplayOptions {
  @Option(
      names = "--replay",
      order = 20,
      paramLabel = "FILE",
      description = {
        "a recorded stream, --replay-speed N times as fast",
        "Reads a recorded stream instead of the kernel: no root is needed. Target and rates are those of the recording. - is stdin."
      })
  private @Nullable Path file;

  @Option(
      names = "--replay-speed",
      order = 21,
      paramLabel = "N",
      converter = Speed.class,
      hidden = true,
      description = {
        "times real time; 0: at once",
        "Replays so many times as fast as it was recorded; 1 by default on the screen. 0 is at once."
      })
  private @Nullable Double speed;

  ReplayOptions() {}

  /** The options of a command line that gives only a file. */
  ReplayOptions(Path file) {
    this.file = file;
  }

  /** Times real time. */
  static final class Speed implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      if (text.matches("[0-9]{1,6}(\\.[0-9]{1,6})?")) {
        return Double.valueOf(text);
      }
      throw new TypeConversionException("'" + text + "' is no number like 0, 0.5 or 10");
    }
  }

  /** The recorded stream; null if none is given. */
  @Nullable Path file() {
    return file;
  }

  /** Whether it comes from stdin. */
  boolean isStdin() {
    return file != null && file.toString().equals("-");
  }

  /** Opens a {@link #file()}. */
  ReplaySource open(Path file, double defaultSpeed) throws SamplerException {
    if (isStdin() && Terminals.isStdin()) {
      throw Failure.usage("stdin is the terminal; --replay - takes a stream from a pipe");
    }
    return ReplaySource.open(file, speed == null ? defaultSpeed : speed);
  }

  /** Refuses what does not go together. */
  void agree(
      TargetOptions target, RateOptions rates, BudgetOptions budget, DebuginfodOptions debuginfod) {
    if (file != null && target.given()) {
      throw Failure.usage(
          "--replay has its own target: -a, -p, -t and --cgroup do not go with it; -c and -u do");
    }
    if (file != null && (rates.given() || budget.given())) {
      throw Failure.usage(
          "--replay has the rates of its recording: -F, --cpu-hz and --budget do not go with it; --replay-speed does");
    }
    if (file != null && debuginfod.given()) {
      throw Failure.usage(
          "--replay asks no server: --debuginfod goes with live sampling; a recording has the names that it was made with");
    }
    if (file == null && speed != null) {
      throw Failure.usage("--replay-speed goes with --replay FILE");
    }
  }
}
