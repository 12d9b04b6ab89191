import java.io.IOException;
import java.net.ServerSocket;

/** Forty threads that are blocked on the monitor that one thread holds, and one that sleeps in native code. */
class Blocked {
  static final Object MONITOR = new Object();

  static void holds() {
    synchronized (MONITOR) {
      for (int i = 0; i < 40; i++) {
        new Thread(Blocked::blocks, "t-blocks" + i).start();
      }
      while (true) {
        sleeps();
      }
    }
  }

  static void sleeps() {
    try {
      Thread.sleep(1000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void blocks() {
    synchronized (MONITOR) {
      throw new IllegalStateException("it was held");
    }
  }

  static void accepts() {
    try (ServerSocket socket = new ServerSocket(0)) {
      socket.accept();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] arguments) {
    new Thread(Blocked::accepts, "t-accepts").start();
    new Thread(Blocked::holds, "t-holds").start();
  }
}
