package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.googlecode.lanterna.TextCharacter;
import flametop.view.CellGrid;
import flametop.view.Pictures;
import flametop.view.TextWidth;
import org.junit.jupiter.api.Test;

class CellsTest {
  @Test
  void of_sameCellTwice_isTheSameCharacter() throws Exception {
    Cells cells = new Cells(ThemeTest.shipped("dark"), ColorMode.TRUE);
    CellGrid grid = Pictures.wide(200, 60);
    TextCharacter[] first = new TextCharacter[200 * 60];
    for (int i = 0; i < first.length; i++) {
      first[i] = cells.of(grid, i % 200, i / 200);
      assertEquals(grid.codePoint(i % 200, i / 200), first[i].getCharacterString().codePointAt(0));
    }
    for (int i = 0; i < first.length; i++) {
      assertSame(first[i], cells.of(grid, i % 200, i / 200));
    }
  }

  @Test
  void isDoubleWidth_everyCharacterThatIsDrawn_asLanternaCountsIt() {
    for (int c = 0x20; c < 0x1_ffff; c++) {
      if (TextWidth.of(c) > 0) {
        int drawn = TextWidth.drawable(c);
        TextCharacter character = TextCharacter.fromString(Character.toString(drawn))[0];
        assertEquals(
            TextWidth.of(c) == 2, character.isDoubleWidth(), "U+" + Integer.toHexString(c));
      }
    }
  }
}
