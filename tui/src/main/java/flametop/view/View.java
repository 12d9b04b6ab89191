package flametop.view;

/** What fills the screen between the header and the keys. The digits 1, 2, … choose one. */
public enum View {
  GRAPH("graph"),
  QUALITY("quality");

  private static final View[] ALL = values();

  private final String label;

  View(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  View next() {
    return ALL[(ordinal() + 1) % ALL.length];
  }

  /** The view of a digit, or null. */
  static View of(int digit) {
    int index = digit - '1';
    return index >= 0 && index < ALL.length ? ALL[index] : null;
  }
}
