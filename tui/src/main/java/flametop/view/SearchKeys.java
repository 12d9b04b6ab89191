package flametop.view;

/** What the keys do while a search is typed. */
final class SearchKeys {
  private SearchKeys() {}

  static Keys.Step press(Scene scene, ViewState s, Key key) {
    String text = s.search().text();
    switch (key.kind()) {
      case CHARACTER -> {
        if (text.length() >= Search.MAX_LENGTH) {
          return Keys.Step.to(s.withMessage("the search is as long as it may be", false));
        }
        return Keys.Step.to(
            s.withSearch(Search.of(text + Character.toString(key.character()), true)));
      }
      case BACKSPACE -> {
        if (text.isEmpty()) {
          return Keys.Step.to(s.withSearch(null));
        }
        return Keys.Step.to(
            s.withSearch(
                Search.of(text.substring(0, text.offsetByCodePoints(text.length(), -1)), true)));
      }
      case CTRL -> {
        return key.character() == 'u'
            ? Keys.Step.to(s.withSearch(Search.of("", true)))
            : Keys.nothing(s, key);
      }
      case ENTER -> {
        if (text.isEmpty()) {
          return Keys.Step.to(s.withSearch(null));
        }
        if (s.search().pattern() == null) {
          return Keys.Step.to(s);
        }
        ViewState kept = s.withSearch(s.search().kept());
        int box = scene.selectedBox;
        boolean there =
            scene.found() != null
                && box >= 0
                && !scene.geometry.isRun(box)
                && scene.geometry.slice().matched()[scene.geometry.node(box)];
        return there
            ? Keys.Step.to(kept.withMessage("the selected one matches; n goes on", false))
            : GraphKeys.match(scene, kept, 1);
      }
      case ESCAPE -> {
        return Keys.Step.to(s.withSearch(null));
      }
      default -> {
        return Keys.nothing(s, key);
      }
    }
  }
}
