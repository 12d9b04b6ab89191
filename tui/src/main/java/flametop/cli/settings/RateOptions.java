package flametop.cli.settings;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How often is sampled. */
public final class RateOptions {
  @Option(
      names = "-F",
      order = 6,
      paramLabel = "HZ",
      converter = PassRate.class,
      description = {
        "passes a second (19); --cpu-hz: samples of a CPU (99)",
        "How often flametop looks at every task (a pass): 1 to 999 times a second, 19 by default. The time between two passes is drawn from 0.5 to 1.5 of the mean."
      })
  private @Nullable Integer passHz;

  // Hidden: the help fits a screen, and -F names it.
  @Option(
      names = "--cpu-hz",
      order = 7,
      hidden = true,
      paramLabel = "HZ",
      converter = CpuRate.class,
      description = {
        "samples of each CPU, a second; 0: none (default 99)",
        "How often the CPU clock samples each CPU: 0 to 999 times a second, 99 by default. The time between two samples is drawn from 0.5 to 1.5 of the mean. 0 switches the CPU clock off."
      })
  private @Nullable Integer cpuHz;

  /** Passes a second. */
  public static final class PassRate implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return number(text, 1, 999);
    }
  }

  /** Samples a second. */
  public static final class CpuRate implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return number(text, 0, 999);
    }
  }

  public boolean given() {
    return passHz != null || cpuHz != null;
  }

  public boolean passesGiven() {
    return passHz != null;
  }

  public boolean cpuClockGiven() {
    return cpuHz != null;
  }

  public int passHz() {
    return passHz == null ? 19 : passHz;
  }

  public int cpuHz() {
    return cpuHz == null ? 99 : cpuHz;
  }

  public static int number(String text, int least, int most) {
    if (text.matches("[0-9]{1,9}")
        && Integer.parseInt(text) >= least
        && Integer.parseInt(text) <= most) {
      return Integer.parseInt(text);
    }
    throw new TypeConversionException(
        "'" + text + "' is no whole number from " + least + " to " + most);
  }
}
