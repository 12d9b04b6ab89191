package flametop.cli.settings;

import flametop.sampler.Budget;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** How much CPU flametop may take. */
public final class BudgetOptions {
  @Option(
      names = "--budget",
      order = 7,
      paramLabel = "PCT",
      converter = Share.class,
      description = {
        "CPU that it may use, in %% of one (default 20; 0: any)",
        "How much CPU flametop may use, in percent of one CPU: its processes, and its BPF programs in the time of others. 20 by default; 0 or off sets no bound. Over the budget, pictures and samples become fewer; rates that the command line gives are kept."
      })
  private @Nullable Double share;

  /** A share of one CPU. */
  public static final class Share implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      int percent = text.equals("off") ? 0 : RateOptions.number(text, 0, 1_000);
      return percent == 0 ? Double.POSITIVE_INFINITY : percent / 100.0;
    }
  }

  public boolean given() {
    return share != null;
  }

  /** Whether there is one, for which all that flametop costs must be counted. */
  public boolean limited() {
    return share() < Double.POSITIVE_INFINITY;
  }

  /** The share of one CPU; infinite if there is no budget. */
  public double share() {
    return share == null ? 0.2 : share;
  }

  /** The budget of a command without a screen. */
  public Budget of(RateOptions rates) {
    Budget.Pace pace = new Budget.Pace(0, false, rates.passHz(), rates.cpuHz());
    return new Budget(share(), pace, kept(rates, true));
  }

  /** What a budget leaves alone: the rates that were given. */
  public Budget.Kept kept(RateOptions rates, boolean refresh) {
    return new Budget.Kept(refresh, rates.passesGiven(), rates.cpuClockGiven());
  }
}
