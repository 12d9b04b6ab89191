package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import flametop.sampler.NameSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class NamesTest {
  private final List<Integer> asked = new ArrayList<>();
  private final Names names =
      new Names(
          (frames, count) -> Arrays.stream(frames).limit(count).forEach(frame -> asked.add(frame)));

  @Test
  void want_nameThatCannotGetBetter_isAskedForOnce() {
    Names.Place place = new Names.Place("/lib/a.so", "1234", 7);
    assertNull(names.want(1, place));
    names.flush();
    Names.Name name = new Names.Name(NameSource.SYMBOL, "read");
    names.answered(place, name);
    assertEquals(name, names.want(2, place));
    names.flush();
    assertEquals(List.of(1), asked);
  }

  @Test
  void want_placeThatHadNoSymbol_isAskedForAgain() {
    Names.Place place = new Names.Place("/lib/a.so", "1234", 7);
    for (NameSource source : List.of(NameSource.FUNCTION_START, NameSource.UNKNOWN)) {
      names.answered(place, new Names.Name(source, "a.so+0x7"));
      assertNull(names.want(3, place));
    }
    names.flush();
    assertEquals(List.of(3, 3), asked);
  }
}
