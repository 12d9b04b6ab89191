package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import flametop.profile.answer.Function;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.WalkEnd;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which function of a stack is the program's own. */
final class InnermostOwnTest {
  private static final int MAIN = 0;
  private static final int WAITS = 1;
  private static final int SLEEP = 2;
  private static final int SCHEDULE = 3;

  private final Stacks stacks = new Stacks(new Names((frames, count) -> {}));

  @BeforeEach
  void frames() {
    stacks.moduleSeen(0, ModuleKind.FILE, "/usr/bin/app", "");
    stacks.moduleSeen(1, ModuleKind.FILE, "/usr/lib/x86_64-linux-gnu/libc.so.6", "");
    stacks.moduleSeen(2, ModuleKind.KERNEL, "[kernel]", "");
    frame(MAIN, 0, "main");
    frame(WAITS, 0, "waits");
    frame(SLEEP, 1, "clock_nanosleep");
    frame(SCHEDULE, 2, "schedule");
  }

  private void frame(int frame, int module, String name) {
    stacks.frameSeen(frame, module, 0x10 + frame, false);
    stacks.named(frame, NameSource.SYMBOL, name);
  }

  private String own(int user, int... frames) {
    stacks.stackSeen(0, WalkEnd.ROOT, user, frames, 0);
    Function own = Objects.requireNonNull(stacks.innermostOwn(stacks.slot(0)));
    return own.name();
  }

  @Test
  void innermostOwn_asleepInTheCLibrary_isTheCaller() {
    assertEquals("waits", own(3, MAIN, WAITS, SLEEP, SCHEDULE));
  }

  @Test
  void innermostOwn_nothingButTheCLibrary_isItsInnermost() {
    assertEquals("clock_nanosleep", own(1, SLEEP, SCHEDULE));
  }

  @Test
  void innermostOwn_ofAKernelThread_isNone() {
    stacks.stackSeen(0, WalkEnd.ROOT, 0, new int[] {SCHEDULE}, 0);
    assertNull(stacks.innermostOwn(stacks.slot(0)));
    assertEquals("schedule", Objects.requireNonNull(stacks.innermost(stacks.slot(0))).name());
  }

  @ParameterizedTest
  @CsvSource({
    "libc.so.6, true",
    "libc-2.31.so, true",
    "ld-musl-x86_64.so.1, true",
    "ld-musl-aarch64.so.1, true",
    "ld-linux-aarch64.so.1, true",
    "[vdso], true",
    "libcurl.so.4, false",
    "libc++.so.1, false",
    "app, false",
    "[kernel], false"
  })
  void isCLibrary_module_isByTheNameUpToItsFirstPoint(String module, boolean is) {
    assertEquals(is, WorkWaits.isCLibrary(module));
  }
}
