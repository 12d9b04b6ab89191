package flametop.view;

import java.util.ArrayList;
import java.util.List;

/** The keys in groups, over the graph; below them what does not work. */
final class HelpPainter {
  private static final int BACKGROUND = Paint.of(Role.CHROME);

  private static final String[][][] QUALITY = {
    {
      {"quality"},
      {"↑↓ jk", "move; home end pgup pgdn"},
      {"b", "by process, by module"},
      {"s", "what comes first"},
      {"enter", "graph of that process"},
      {"esc", "back to the graph"},
    },
    {
      {"time"},
      {"space", "freeze, thaw"},
      {"m", "10 s, 30 s, 5 min, all"},
      {"z", "start anew"},
      {"d", "refresh time"},
    },
    {
      {"more"},
      {"tab 1 2", "next view, graph, quality"},
      {"p c", "only one process, comm"},
      {"+ -", "passes a second"},
      {"< >", "cpu clock"},
      {"^L", "paint anew"},
      {"q ^C", "quit"},
    },
    {
      {"columns"},
      {"samples", "stacks taken, unchanged not"},
      {"whole", "walked to a root"},
      {"beyond", "walked beyond the module"},
      {"guessed", "have a frame not unwound"},
      {"the rest", "why a walk ended"},
    },
  };

  private static final String[][][] GRAPH = {
    {
      {"move"},
      {"←↑↓→ hjkl", "parent, child, neighbours"},
      {"enter", "zoom in; opens a … n more"},
      {"esc", "one level back"},
      {"0 home end", "root, top, deepest"},
      {"pgup pgdn", "a page of levels"},
    },
    {
      {"find"},
      {"/", "search names by regex"},
      {"n N", "next, previous match"},
      {"p", "only one process"},
      {"c", "only one comm"},
      {"s", "source of the selected"},
    },
    {
      {"time"},
      {"space", "freeze, thaw"},
      {"m", "10 s, 30 s, 5 min, all"},
      {"o", "busy, on, off cpu, all"},
      {"z", "start anew"},
      {"d", "refresh time"},
    },
    {
      {"more"},
      {"tab 1 2", "next view, graph, quality"},
      {"i", "icicle, flame"},
      {"+ -", "passes a second"},
      {"< >", "cpu clock"},
      {"e", "export folded stacks"},
      {"J", "ask JVMs for names"},
      {"^L", "paint anew"},
      {"q ^C", "quit"},
    },
  };

  private HelpPainter() {}

  static void paint(Scene scene, CellGrid grid) {
    int top = 1;
    int height = scene.rows - 2;
    for (int y = top; y < top + height; y++) {
      grid.fill(0, y, scene.columns, BACKGROUND);
    }
    grid.text(
        2, top, scene.columns - 3, "keys — any key closes", Paint.of(Role.DIM), BACKGROUND, 0);
    int columns = scene.columns >= 140 ? 4 : scene.columns >= 76 ? 2 : 1;
    int width = (scene.columns - 2) / columns;
    int[] bottom = new int[columns];
    java.util.Arrays.fill(bottom, top + (height >= 16 ? 2 : 1));
    boolean airy = height >= 16 && (columns > 1 || height >= 30);
    String[][][] groups =
        switch (scene.state.view()) {
          case GRAPH -> scene.options.origin() == Origin.FILE ? FileKeys.HELP : GRAPH;
          case QUALITY -> QUALITY;
        };
    for (String[][] group : groups) {
      int column = 0;
      for (int i = 1; i < columns; i++) {
        column = bottom[i] < bottom[column] ? i : column;
      }
      int x = 2 + column * width;
      int y = bottom[column];
      for (int line = airy ? 0 : 1; line < group.length && y < top + height; line++) {
        if (line == 0) {
          grid.text(
              x, y++, width - 2, group[0][0], Paint.of(Role.ACCENT), BACKGROUND, CellGrid.BOLD);
        } else {
          grid.text(x, y, 10, group[line][0], Paint.of(Role.TEXT), BACKGROUND, CellGrid.BOLD);
          grid.text(x + 11, y++, width - 13, group[line][1], Paint.of(Role.DIM), BACKGROUND, 0);
        }
      }
      bottom[column] = y + (airy ? 1 : 0);
    }
    int y = 0;
    for (int b : bottom) {
      y = Math.max(y, b);
    }
    List<String> notices =
        scene.snapshot == null ? List.of() : new ArrayList<>(scene.snapshot.notices());
    for (int i = notices.size() - 1; i >= 0 && y < top + height; i--) {
      grid.text(2, y++, scene.columns - 3, notices.get(i), Paint.of(Role.WORSE), BACKGROUND, 0);
    }
  }
}
