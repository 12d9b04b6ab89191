package flametop.sampler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class CleanTextTest {
  @Test
  void clean_plainAscii_same() {
    assertEquals("java; a|b~", clean("java; a|b~"));
  }

  @Test
  void clean_escapeSequence_replaced() {
    assertEquals("\uFFFD]0;owned\uFFFD", clean("\u001B]0;owned\u0007"));
  }

  @Test
  void clean_newlineTabDelete_replaced() {
    assertEquals("a\uFFFDb\uFFFDc\uFFFD", clean("a\nb\tc\u007F"));
  }

  @Test
  void clean_c1AsUtf8AndAsByte_replaced() {
    assertEquals("\uFFFDm", clean("\u009Bm"));
    assertEquals("\uFFFDm", CleanText.clean(new byte[] {(byte) 0x9B, 'm'}, 0, 2, 16));
  }

  @Test
  void clean_bidiAndZeroWidth_replaced() {
    for (int c :
        new int[] {
          0x202A, 0x202E, 0x2066, 0x2069, 0x200B, 0x200E, 0x200F, 0x061C, 0xFEFF, 0x2060, 0x00AD,
          0x2028, 0x2029, 0xE0041, 0xFE0F, 0x115F, 0x3164
        }) {
      assertEquals("a\uFFFDb", clean("a" + Character.toString(c) + "b"), Integer.toHexString(c));
    }
  }

  @Test
  void clean_combiningMarks_composedOrReplaced() {
    assertEquals("é", clean("e\u0301"));
    assertEquals("é\uFFFD\uFFFD", clean("e\u0301\u0301\u0301"));
  }

  @Test
  void clean_spacesOfAllKinds_plainOnes() {
    assertEquals("a b c", clean("a\u00A0b\u2003c"));
  }

  @Test
  void clean_loneSurrogateInString_replaced() {
    assertEquals("a\uFFFDb", CleanText.clean("a\uD800b", 16));
  }

  @Test
  void clean_overlongAndSurrogateBytes_replaced() {
    byte[] bytes = {'a', (byte) 0xC0, (byte) 0x8A, (byte) 0xED, (byte) 0xA0, (byte) 0x80, 'b'};
    String clean = CleanText.clean(bytes, 16);
    assertTrue(clean.startsWith("a\uFFFD") && clean.endsWith("\uFFFDb"), clean);
  }

  @Test
  void clean_otherScriptsAndEmoji_same() {
    assertEquals("größe 火焰 🔥", clean("größe 火焰 🔥"));
  }

  @Test
  void clean_tooLong_cutAndMarked() {
    assertEquals("abc…", CleanText.clean("abcdef", 4));
    assertEquals("ab…", CleanText.clean("ab🔥def", 4), "no half of a pair is left");
  }

  @Test
  void cleanCommandLine_nuls_spaces() {
    assertEquals(
        "worker --name a b",
        CleanText.cleanCommandLine("worker\0--name\0a b\0\0".getBytes(UTF_8), 99));
  }

  @Test
  void clean_randomBytes_harmlessAndBounded() {
    Random random = new Random(7);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = new byte[random.nextInt(60)];
      random.nextBytes(bytes);
      int max = 1 + random.nextInt(40);
      String clean = CleanText.clean(bytes, max);
      assertTrue(clean.length() <= max);
      clean.codePoints().forEach(c -> assertTrue(isHarmless(c), () -> Integer.toHexString(c)));
      assertEquals(clean, CleanText.clean(clean, max), "cleaning again changes nothing");
    }
  }

  private static boolean isHarmless(int c) {
    int type = Character.getType(c);
    return type != Character.CONTROL
        && type != Character.FORMAT
        && type != Character.SURROGATE
        && type != Character.UNASSIGNED
        && type != Character.NON_SPACING_MARK
        && type != Character.LINE_SEPARATOR;
  }

  private static String clean(String text) {
    return CleanText.clean(text.getBytes(UTF_8), 256);
  }
}
