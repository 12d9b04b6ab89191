package flametop.term;

import flametop.term.device.Helper;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * Handlers of signals, removed by closing. The JVM leaves INT, TERM and HUP ignored if they were
 * ignored at its start. Uses {@code sun.misc.Signal} by reflection, since Java has no other way and
 * the compiler's warning about the class cannot be switched off. A signal that the JVM keeps to
 * itself (QUIT) stays with the JVM.
 */
public final class Signals implements AutoCloseable {
  private static final String LAUNCHER = System.getProperty("flametop.launcher.pid", "");

  private final Map<String, Object> before = new LinkedHashMap<>();

  /** Sends a signal's number to {@code handler}, on a thread of the JVM's. */
  public void handle(String name, IntConsumer handler) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> type = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(),
              new Class<?>[] {type},
              (self, method, arguments) -> {
                switch (method.getName()) {
                  case "handle" ->
                      handler.accept((Integer) signal.getMethod("getNumber").invoke(arguments[0]));
                  case "hashCode" -> {
                    return System.identityHashCode(self);
                  }
                  case "equals" -> {
                    return self == arguments[0];
                  }
                  case "toString" -> {
                    return "handler of " + name;
                  }
                  default -> throw new IllegalStateException(method.getName());
                }
                return null;
              });
      before.putIfAbsent(name, install(name, proxy));
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      // Without a handler the signal has its default effect; then the launcher restores the
      // terminal.
    }
  }

  /**
   * Stops flametop as a job of the shell, the JVM and the launcher that waits for it, as Ctrl-Z
   * does in a terminal with signals by keys; returns when the shell lets the job go on. TSTP has
   * its default effect meanwhile, and needs a handler again.
   */
  void stopJob() throws IOException, InterruptedException {
    try {
      Object standard = Class.forName("sun.misc.SignalHandler").getField("SIG_DFL").get(null);
      before.putIfAbsent("TSTP", install("TSTP", standard));
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      // As above.
    }
    if (LAUNCHER.isEmpty()) {
      Helper.run("stop");
      Thread.sleep(50);
    } else {
      Helper.run("stop", LAUNCHER);
    }
  }

  private static Object install(String name, Object handler) throws ReflectiveOperationException {
    Class<?> signal = Class.forName("sun.misc.Signal");
    Class<?> type = Class.forName("sun.misc.SignalHandler");
    try {
      return signal
          .getMethod("handle", signal, type)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), handler);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalArgumentException refused) {
        throw refused;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    before.forEach(
        (name, handler) -> {
          try {
            install(name, handler);
          } catch (ReflectiveOperationException | IllegalArgumentException e) {
            // The old handler is lost; there is nothing better to do.
          }
        });
    before.clear();
  }
}
