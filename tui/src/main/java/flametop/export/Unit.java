package flametop.export;

/** What the numbers of folded stacks count. */
public enum Unit {
  /** µs; the profile counts ns. */
  US(1_000),
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
