package flametop.term;

import java.util.List;

/** Searches, from one screen to the next. */
public interface SearchHistory {
  /** None, and none is kept. */
  SearchHistory NONE =
      new SearchHistory() {
        @Override
        public List<String> texts() {
          return List.of();
        }

        @Override
        public void add(String text) {}
      };

  /** What was searched for, the latest first. May wait for a disk, as {@link #add}. */
  List<String> texts();

  /** Keeps one; what fails is no reason to tell anybody. */
  void add(String text);
}
