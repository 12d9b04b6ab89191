package flametop.term;

import java.util.List;

/** Searches, from one screen to the next. */
public interface SearchHistory {
  /** No history: nothing is read or kept. */
  SearchHistory NONE =
      new SearchHistory() {
        @Override
        public List<String> texts() {
          return List.of();
        }

        @Override
        public void add(String text) {}
      };

  /** The texts of past searches, the latest first. May wait for a disk, like {@link #add}. */
  List<String> texts();

  /** Keeps a search. Failures are silent. */
  void add(String text);
}
