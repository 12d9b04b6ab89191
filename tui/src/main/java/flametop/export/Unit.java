package flametop.export;

/** What the numbers of an export count. */
public enum Unit {
  /** µs of the time of tasks; the profile counts ns. */
  US(1_000),
  /** Passes in which a task was seen off the CPU, and samples of the CPU clock. */
  SAMPLES(1);

  private final int parts;

  Unit(int parts) {
    this.parts = parts;
  }

  /** How many of the profile's numbers make one. */
  int parts() {
    return parts;
  }
}
