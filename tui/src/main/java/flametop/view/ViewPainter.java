package flametop.view;

/** Paints a view below the header, down to the line of keys. */
interface ViewPainter {
  void paint(Scene scene, CellGrid grid);

  /** What is no key but wants an explanation in the help: a title, then word and meaning. */
  default String[][] legend(Scene scene) {
    return new String[0][];
  }
}
