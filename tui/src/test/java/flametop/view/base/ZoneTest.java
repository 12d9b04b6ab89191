package flametop.view.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ZoneTest {
  private static final Zone<String> BOX = new Zone<>(3, 5, 4, 2, "box");

  @Test
  void has_eachCellOfAScreen_onlyThoseWithinItsEdges() {
    for (int x = -1; x < 10; x++) {
      for (int y = -1; y < 10; y++) {
        boolean within = x >= 3 && x <= 6 && y >= 5 && y <= 6;
        assertEquals(within, BOX.has(x, y), x + "," + y);
      }
    }
  }

  @Test
  void has_withoutWidth_noCell() {
    Zone<String> empty = Zone.line(3, 5, 0, "nothing");
    assertFalse(empty.has(3, 5));
  }

  @Test
  void line_oneRow_hasThatRowAlone() {
    Zone<String> line = Zone.line(1, 2, 3, "line");
    assertTrue(line.has(3, 2));
    assertFalse(line.has(3, 3));
    assertFalse(line.has(4, 2));
  }

  @Test
  void at_neighbours_eachCellIsOfOne() {
    List<Zone<String>> zones = List.of(Zone.line(0, 0, 2, "left"), Zone.line(2, 0, 2, "right"));
    assertEquals("left", Zone.at(zones, 1, 0));
    assertEquals("right", Zone.at(zones, 2, 0));
    assertNull(Zone.at(zones, 4, 0));
    assertNull(Zone.at(zones, 2, 1));
    assertNull(Zone.at(List.of(), 0, 0));
  }
}
