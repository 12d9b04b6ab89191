// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Field;
import java.security.MessageDigest;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import sun.misc.Unsafe;

/**
 * Functions f0 to f11 that call one another in random order and depth, and keep the chain of these calls in memory that java.c has in a
 * variable on the stack below them. The chain is as in chain.c; beside it, while an exception leaves functions, any of the chain's
 * beginnings is true.
 */
class Truth {
  static final int FUNCTIONS = 12;
  static final int LIBRARY = 100;
  static final int THROWN = 200;

  /** Calls while the chain is not deep, and how deep it may be. */
  static final int DEPTH = 40;

  static final int DEEPEST = 480;

  static final Unsafe U = unsafe();
  static final Object MONITOR = new Object();
  static final ReentrantLock LOCK = new ReentrantLock();
  static volatile long sink;

  static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  static final class Left extends RuntimeException {
    Left() {
      super(null, null, false, false);
    }
  }

  /** Classes that are loaded later override this method: compiled code that knew no override is thrown away, also below functions that still run. */
  static class Old {
    long step(long x) {
      return x * 31 + 1;
    }
  }

  /** One class for each change. */
  static class New0 extends Old {
    long step(long x) {
      return x * 31 + 2;
    }
  }

  static class New1 extends New0 {
    long step(long x) {
      return x * 31 + 3;
    }
  }

  static class New2 extends New1 {
    long step(long x) {
      return x * 31 + 4;
    }
  }

  static class New3 extends New2 {
    long step(long x) {
      return x * 31 + 5;
    }
  }

  static volatile Old old = new Old();

  /** A chain, and what its thread needs. */
  static final class Chain {
    final long at;
    final boolean sleeps;
    final byte[] bytes = new byte[4096];
    final byte[] copy = new byte[4096];
    final MessageDigest digest;
    long seed;
    int depth;

    Chain(long at, long seed, boolean sleeps) throws Exception {
      this.at = at;
      this.seed = seed;
      this.sleeps = sleeps;
      digest = MessageDigest.getInstance("SHA-256");
    }

    void depth(int now) {
      depth = now;
      U.putIntVolatile(null, at + 16, now);
    }

    void next(int next) {
      U.putIntVolatile(null, at + 20, next);
    }
  }

  static native void down(Chain c, int id);

  static void up(Chain c, int id) {
    call(c, id);
  }

  static long random(Chain c) {
    long x = c.seed;
    x ^= x << 13;
    x ^= x >>> 7;
    x ^= x << 17;
    c.seed = x;
    return x;
  }

  static void enter(Chain c, int id) {
    U.putIntVolatile(null, c.at + 24 + 4L * c.depth, id + 1);
    c.depth(c.depth + 1);
    c.next(0);
  }

  static void leave(Chain c, int id) {
    c.next(id + 1);
    c.depth(c.depth - 1);
  }

  static void call(Chain c, int id) {
    c.next(id + 1);
    switch (id) {
      case 0: f0(c); break;
      case 1: f1(c); break;
      case 2: f2(c); break;
      case 3: f3(c); break;
      case 4: f4(c); break;
      case 5: f5(c); break;
      case 6: f6(c); break;
      case 7: f7(c); break;
      case 8: f8(c); break;
      case 9: f9(c); break;
      case 10: f10(c); break;
      default: f11(c); break;
    }
    c.next(0);
  }

  /** Calls a function by one of several ways. */
  static void on(Chain c, int id, int way) {
    int depth = c.depth;
    switch (way) {
      case 0:
        try {
          call(c, id);
          if ((random(c) & 3) == 0) {
            c.next(THROWN);
            throw new Left();
          }
        } catch (Left e) {
          c.depth(depth);
          c.next(0);
        }
        break;
      case 1:
        LongConsumer lambda = x -> call(c, (int) x);
        lambda.accept(id);
        break;
      case 2:
        c.next(LIBRARY);
        down(c, id);
        c.next(0);
        break;
      case 3:
        synchronized (c) {
          call(c, id);
        }
        break;
      default:
        call(c, id);
    }
  }

  static void rest(Chain c, long n) {
    c.next(LIBRARY);
    try {
      switch ((int) (n >>> 4 & 3)) {
        case 0: Thread.sleep(0, (int) (n >>> 8 & 0x7ffff)); break;
        case 1: LockSupport.parkNanos(n >>> 8 & 0x3fffff); break;
        case 2:
          synchronized (MONITOR) {
            MONITOR.wait(2);
          }
          break;
        default:
          LOCK.lock();
          try {
            Thread.sleep(1);
          } finally {
            LOCK.unlock();
          }
      }
    } catch (InterruptedException e) {
      sink++;
    }
    c.next(0);
  }

  static void library(Chain c, long n) {
    c.next(LIBRARY);
    switch ((int) (n >>> 4 & 7)) {
      case 0: sink += c.digest.digest(c.bytes)[3]; break;
      case 1: System.arraycopy(c.bytes, 0, c.copy, 0, c.bytes.length - (int) (n & 63)); break;
      case 2: java.util.Arrays.fill(c.copy, (int) (n & 63), 4000, (byte) n); break;
      case 3: sink += Long.toString(n).hashCode(); break;
      case 4: sink += IntStream.range(0, 64).parallel().mapToLong(i -> n >>> i & 1).sum(); break;
      case 5: sink += java.util.Arrays.equals(c.bytes, c.copy) ? 1 : 2; break;
      default: sink += System.nanoTime();
    }
    c.next(0);
  }

  static void body(Chain c, int id) {
    long n = random(c);
    long x = sink;
    for (int i = (int) (n & 0x7ff); i > 0; i--) {
      x = x * 6364136223846793005L + i;
    }
    for (int i = (int) (n & 0x3f); i > 0; i--) {
      x = old.step(x);
    }
    sink = x;
    int next = (int) ((id + 1 + (n >>> 40) % (FUNCTIONS - 1)) % FUNCTIONS);
    // Now and then a chain goes down to the deepest.
    boolean isDeep = c.depth > DEPTH;
    if (isDeep ? c.depth < DEEPEST : (n >>> 32 & 1) != 0 && c.depth < DEPTH || (n >>> 32 & 0xffff) == 0) {
      on(c, next, isDeep ? 9 : (int) (n >>> 36 & 15));
    }
    if ((n >>> 33 & 7) == 0) {
      if (c.sleeps) {
        rest(c, n);
      } else {
        library(c, n);
      }
    }
    if ((n >>> 50 & 1) != 0 && c.depth < DEPTH) {
      on(c, (int) ((id + 1 + (n >>> 52) % (FUNCTIONS - 1)) % FUNCTIONS), 9);
    }
    if ((n >>> 56 & 63) == 0 && c.depth > 1) {
      c.next(THROWN);
      throw new Left();
    }
  }

  static void f0(Chain c) { enter(c, 0); body(c, 0); leave(c, 0); }
  static void f1(Chain c) { enter(c, 1); body(c, 1); leave(c, 1); }
  static void f2(Chain c) { enter(c, 2); body(c, 2); leave(c, 2); }
  static void f3(Chain c) { enter(c, 3); body(c, 3); leave(c, 3); }
  static void f4(Chain c) { enter(c, 4); body(c, 4); leave(c, 4); }
  static void f5(Chain c) { enter(c, 5); body(c, 5); leave(c, 5); }
  static void f6(Chain c) { enter(c, 6); body(c, 6); leave(c, 6); }
  static void f7(Chain c) { enter(c, 7); body(c, 7); leave(c, 7); }
  static void f8(Chain c) { enter(c, 8); body(c, 8); leave(c, 8); }
  static void f9(Chain c) { enter(c, 9); body(c, 9); leave(c, 9); }
  static void f10(Chain c) { enter(c, 10); body(c, 10); leave(c, 10); }
  static void f11(Chain c) { enter(c, 11); body(c, 11); leave(c, 11); }

  /** Until the time of this process's end: java.c calls it, with the place of the chain. */
  static void run(long at, long seed, boolean sleeps, double seconds) throws Exception {
    Chain c = new Chain(at, seed, sleeps);
    long begin = System.nanoTime();
    int changes = 0;
    while (System.nanoTime() - begin < seconds * 1e9) {
      for (int i = 0; i < 20; i++) {
        try {
          call(c, (int) Long.remainderUnsigned(random(c), FUNCTIONS));
        } catch (Left e) {
          c.depth(0);
          c.next(0);
        }
      }
      if (seed == 1 && System.nanoTime() - begin > 3_000_000_000L * (changes + 1)) {
        switch (changes++) {
          case 0: old = new New0(); break;
          case 1: old = new New1(); break;
          case 2: old = new New2(); break;
          case 3: old = new New3(); break;
          default: break;
        }
      }
    }
  }
}
