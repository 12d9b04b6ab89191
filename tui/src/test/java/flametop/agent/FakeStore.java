package flametop.agent;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A store that does what a test says, request by request, on a bare socket; then it takes
 * everything.
 */
final class FakeStore implements AutoCloseable {
  /** The answer that takes a profile. */
  static final String TAKES = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  /** Closes the connection once the request is read, without an answer. */
  static final String CLOSES = "";

  /** Takes a profile too; each byte comes late. */
  static final String SLOW = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789";

  /** The same, but only each byte of the body comes late. */
  static final String SLOW_BODY =
      "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n"
          + "012345678901234567890123456789012345678901234567890123456789";

  private static final long LATE_MILLIS = 20;

  /** What came. */
  record Request(String head, byte[] body, boolean taken) {}

  private final ServerSocket server;
  private final String scheme;
  private final Deque<String> answers = new ArrayDeque<>();
  private final List<Request> requests = Collections.synchronizedList(new ArrayList<>());
  private final ExecutorService callers = Executors.newCachedThreadPool();

  FakeStore(ServerSocket server, String scheme, String... answers) {
    this.server = server;
    this.scheme = scheme;
    Collections.addAll(this.answers, answers);
    callers.execute(this::accept);
  }

  FakeStore(String... answers) throws IOException {
    this(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), "http", answers);
  }

  /** An answer of this status, without a body. */
  static String status(int status, String... headers) {
    StringBuilder answer =
        new StringBuilder("HTTP/1.1 " + status + " Some\r\nContent-Length: 0\r\n");
    for (String header : headers) {
      answer.append(header).append("\r\n");
    }
    return answer.append("\r\n").toString();
  }

  URI url() {
    return URI.create(scheme + "://127.0.0.1:" + server.getLocalPort() + "/");
  }

  List<Request> requests() {
    return List.copyOf(requests);
  }

  /** The bodies that it said it took, in their order. */
  List<String> taken() {
    return requests().stream()
        .filter(Request::taken)
        .map(request -> new String(request.body(), StandardCharsets.US_ASCII))
        .toList();
  }

  private void accept() {
    try {
      while (true) {
        Socket caller = server.accept();
        callers.execute(() -> serve(caller));
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private void serve(Socket caller) {
    try (caller) {
      InputStream in = new BufferedInputStream(caller.getInputStream());
      while (true) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
          int next = in.read();
          if (next < 0) {
            return;
          }
          head.append((char) next);
        }
        int length = 0;
        for (String line : head.toString().toLowerCase(Locale.ROOT).split("\r\n")) {
          length =
              line.startsWith("content-length: ") ? Integer.parseInt(line.substring(16)) : length;
        }
        byte[] body = in.readNBytes(length);
        String answer;
        synchronized (answers) {
          answer = answers.isEmpty() ? TAKES : answers.removeFirst();
        }
        requests.add(new Request(head.toString(), body, takes(answer)));
        OutputStream out = caller.getOutputStream();
        byte[] bytes = answer.getBytes(StandardCharsets.ISO_8859_1);
        int late =
            answer.equals(SLOW) ? 0 : answer.equals(SLOW_BODY) ? bytes.length - 60 : bytes.length;
        out.write(bytes, 0, late);
        trickle(bytes, late, out);
        out.flush();
        if (!whole(answer)) {
          return;
        }
      }
    } catch (IOException e) {
      // The caller went.
    }
  }

  /** Whether an answer says 200, and is whole. */
  private static boolean takes(String answer) {
    return answer.startsWith("HTTP/1.1 200 ") && whole(answer);
  }

  /**
   * Whether an answer has all of the body that its head promises. Behind such an answer the
   * connection stays open: a client may send its next request before it sees a connection close.
   */
  private static boolean whole(String answer) {
    int body = answer.indexOf("\r\n\r\n") + 4;
    return answer.contains("Content-Length: " + (answer.length() - body) + "\r\n");
  }

  private static void trickle(byte[] bytes, int from, OutputStream out) throws IOException {
    try {
      for (int i = from; i < bytes.length; i++) {
        out.flush();
        TimeUnit.MILLISECONDS.sleep(LATE_MILLIS);
        out.write(bytes[i]);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    callers.shutdownNow();
  }
}
