package flametop.sampler;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;

/** Calls every native method of {@link Bridge} with a panic inside, and with arguments that are wrong. */
final class BridgeFaults {
  private interface Call {
    void run() throws SamplerException;
  }

  private static final Set<String> PANICKED = new HashSet<>();

  private BridgeFaults() {}

  /** Makes the next native call panic. */
  static native void arm();

  /** What went wrong, a line each; empty if all is well. */
  static String run() {
    ByteBuffer direct = ByteBuffer.allocateDirect(1 << 16);
    StringBuilder wrong = new StringBuilder();
    panics(wrong, "abi", Bridge::abi);
    panics(wrong, "open", () -> Bridge.open("target=all\n"));
    panics(wrong, "header", () -> Bridge.header(1));
    panics(wrong, "fill", () -> Bridge.fill(1, direct, true, 0));
    panics(wrong, "wish", () -> Bridge.wish(1, "names=1"));
    panics(wrong, "close", () -> Bridge.close(1));
    panics(wrong, "check", () -> Bridge.check(""));
    panics(wrong, "events", () -> Bridge.events("", "", 0));
    panics(wrong, "checkSpec", () -> Bridge.checkSpec("fault"));

    for (Method method : Bridge.class.getDeclaredMethods()) {
      if (Modifier.isNative(method.getModifiers()) && !PANICKED.contains(method.getName())) {
        wrong.append(method.getName()).append(" was not made to panic\n");
      }
    }

    throwsWith(wrong, "header", "closed", () -> Bridge.header(77));
    throwsWith(wrong, "fill", "closed", () -> Bridge.fill(77, direct, true, 0));
    throwsWith(wrong, "wish", "closed", () -> Bridge.wish(0, "rates=19,99"));
    throwsWith(wrong, "wish of a negative handle", "closed", () -> Bridge.wish(-1, "names=1"));
    throwsWith(wrong, "open of nonsense", "nonsense", () -> Bridge.open("nonsense"));
    throwsWith(wrong, "open of null", "", () -> Bridge.open(null));
    throwsWith(wrong, "check of nonsense", "nonsense", () -> Bridge.check("nonsense"));
    throwsWith(wrong, "events of nonsense", "nonsense", () -> Bridge.events("nonsense", "", 1));
    throwsNothing(wrong, "events", () -> Bridge.events("", "", -1));
    throwsNothing(wrong, "checkSpec", () -> Bridge.checkSpec("fault"));
    throwsNothing(wrong, "close", () -> Bridge.close(77));
    session(wrong, direct);
    return wrong.toString();
  }

  private static void session(StringBuilder wrong, ByteBuffer direct) {
    long handle;
    try {
      handle = Bridge.open("target=pid " + ProcessHandle.current().parent().orElseThrow().pid() + "\n");
    } catch (SamplerException e) {
      wrong.append("open: ").append(e.getMessage()).append('\n');
      return;
    }
    throwsNothing(wrong, "header", () -> Bridge.header(handle));
    throwsNothing(wrong, "fill", () -> Bridge.fill(handle, direct, true, 0));
    throwsWith(wrong, "fill of a buffer on the heap", "", () -> Bridge.fill(handle, ByteBuffer.allocate(1 << 16), true, 0));
    throwsWith(wrong, "fill of no buffer", "", () -> Bridge.fill(handle, null, true, 0));
    throwsWith(wrong, "fill of a small buffer", "65536", () -> Bridge.fill(handle, ByteBuffer.allocateDirect(100), true, 0));
    throwsWith(wrong, "negative rate", "-1", () -> Bridge.wish(handle, "rates=19,-1"));
    throwsWith(wrong, "unknown wish", "colour", () -> Bridge.wish(handle, "colour=blue"));
    throwsWith(wrong, "wish of null", "", () -> Bridge.wish(handle, null));
    throwsNothing(wrong, "names of frames that there are not", () -> Bridge.wish(handle, "names=4294967295,5"));
    throwsNothing(wrong, "places of frames that there are not", () -> Bridge.wish(handle, "places=4294967295,5"));
    throwsNothing(wrong, "names of no frames", () -> Bridge.wish(handle, "names="));
    panics(wrong, "wish of an open session", () -> Bridge.wish(handle, "names=1"));
    panics(wrong, "fill of an open session", () -> Bridge.fill(handle, direct, true, 0));
    throwsNothing(wrong, "fill after a panic", () -> Bridge.fill(handle, direct, true, 0));
    throwsNothing(wrong, "close", () -> Bridge.close(handle));
    throwsNothing(wrong, "close again", () -> Bridge.close(handle));
    throwsWith(wrong, "fill of a closed session", "closed", () -> Bridge.fill(handle, direct, true, 0));
  }

  private static void panics(StringBuilder wrong, String name, Call call) {
    PANICKED.add(name);
    arm();
    throwsWith(wrong, name, "on purpose", call);
  }

  private static void throwsNothing(StringBuilder wrong, String name, Call call) {
    try {
      call.run();
    } catch (SamplerException e) {
      wrong.append(name).append(" threw: ").append(e.getMessage()).append('\n');
    }
  }

  private static void throwsWith(StringBuilder wrong, String name, String text, Call call) {
    try {
      call.run();
      wrong.append(name).append(" did not throw\n");
    } catch (SamplerException e) {
      if (e.kind() != SamplerException.Kind.FAILED || !e.getMessage().contains(text)) {
        wrong.append(name).append(" threw ").append(e.kind()).append(": ").append(e.getMessage()).append('\n');
      }
    }
  }
}
