package flametop.agent;

import flametop.sampler.CleanText;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers {@code GET /metrics} on a port of this machine's loopback, or on a UNIX socket; to nobody
 * outside. One caller at a time, who has a second, and gets one answer.
 */
public final class MetricsServer implements AutoCloseable {
  private static final String UNIX = "unix:";
  private static final int MOST_REQUEST = 8_192;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ServerSocketChannel server;
  private final @Nullable Path socket;
  private final Supplier<String> text;
  private final Thread thread = new Thread(this::run, "metrics");

  private MetricsServer(ServerSocketChannel server, @Nullable Path socket, Supplier<String> text) {
    this.server = server;
    this.socket = socket;
    this.text = text;
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Listens.
   *
   * @param at {@code 127.0.0.1:PORT}, {@code [::1]:PORT}, {@code localhost:PORT} or {@code
   *     unix:PATH}
   * @throws IOException with a line for people
   * @throws IllegalArgumentException with a line for people, if that is no such place
   */
  public static MetricsServer open(String at, Supplier<String> text) throws IOException {
    Path path = at.startsWith(UNIX) ? Path.of(at.substring(UNIX.length())) : null;
    SocketAddress address = path == null ? loopback(at) : UnixDomainSocketAddress.of(path);
    ServerSocketChannel channel =
        path == null
            ? ServerSocketChannel.open()
            : ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      if (path != null && isLeftBehind(path)) {
        Files.delete(path);
      }
      channel.bind(address);
      if (path != null) {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
      }
    } catch (IOException e) {
      channel.close();
      throw new IOException(
          "cannot listen for metrics on "
              + CleanText.clean(at, 200)
              + ": "
              + CleanText.clean(String.valueOf(e.getMessage()), 200),
          e);
    }
    return new MetricsServer(channel, path, text);
  }

  /** Whether a socket is there that nobody listens on. */
  private static boolean isLeftBehind(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    int kind = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    if ((kind & 0170000) != 0140000) {
      throw new IOException("there is a file that is no socket");
    }
    try {
      SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
    } catch (ConnectException e) {
      return true;
    }
    throw new IOException("somebody listens there");
  }

  private static InetSocketAddress loopback(String at) {
    int colon = at.lastIndexOf(':');
    String host = colon < 0 ? "" : at.substring(0, colon);
    String port = at.substring(colon + 1);
    InetAddress address = null;
    try {
      // No other names: a resolver may say anything.
      boolean number = host.matches("127(\\.[0-9]{1,3}){3}|\\[::1\\]");
      address = number ? InetAddress.getByName(host) : null;
      address = host.equals("localhost") ? InetAddress.getLoopbackAddress() : address;
    } catch (UnknownHostException e) {
      // As one that is no address.
    }
    if (address == null
        || !address.isLoopbackAddress()
        || !port.matches("[0-9]{1,5}")
        || Integer.parseInt(port) > 65_535) {
      throw new IllegalArgumentException(
          "'"
              + CleanText.clean(at, 200)
              + "' is neither a port of this machine alone (127.0.0.1:PORT, [::1]:PORT) nor a socket (unix:PATH)");
    }
    return new InetSocketAddress(address, Integer.parseInt(port));
  }

  /** The port; -1 of a UNIX socket. */
  int port() throws IOException {
    return server.getLocalAddress() instanceof InetSocketAddress at ? at.getPort() : -1;
  }

  private void run() {
    while (server.isOpen()) {
      try (SocketChannel caller = server.accept()) {
        answer(caller);
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        rest();
      }
    }
  }

  /** Where no caller can be taken, as without descriptors, the next try comes later. */
  private static void rest() {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void answer(SocketChannel caller) throws IOException {
    caller.configureBlocking(false);
    long until = System.nanoTime() + PATIENCE_NANOS;
    try (Selector selector = Selector.open()) {
      SelectionKey key = caller.register(selector, SelectionKey.OP_READ);
      String request = request(caller, selector, until);
      ByteBuffer answer = ByteBuffer.wrap(response(request));
      key.interestOps(SelectionKey.OP_WRITE);
      while (answer.hasRemaining() && await(selector, until)) {
        caller.write(answer);
      }
      caller.shutdownOutput();
    }
  }

  private static boolean await(Selector selector, long until) throws IOException {
    long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
    if (left <= 0) {
      return false;
    }
    selector.select(left);
    selector.selectedKeys().clear();
    return true;
  }

  /** The head of a request; what came of it if that is not whole in time. */
  private static String request(SocketChannel caller, Selector selector, long until)
      throws IOException {
    ByteBuffer read = ByteBuffer.allocate(MOST_REQUEST);
    String text = "";
    while (!text.contains("\r\n\r\n") && read.hasRemaining() && await(selector, until)) {
      if (caller.read(read) < 0) {
        break;
      }
      text = new String(read.array(), 0, read.position(), StandardCharsets.ISO_8859_1);
    }
    return text;
  }

  private byte[] response(String request) {
    boolean whole = request.contains("\r\n\r\n");
    String[] words = request.split(" ", 3);
    String status =
        !whole || words.length < 3
            ? "400 Bad Request"
            : !words[0].equals("GET") && !words[0].equals("HEAD")
                ? "405 Method Not Allowed"
                : !words[1].equals("/metrics") && !words[1].startsWith("/metrics?")
                    ? "404 Not Found"
                    : "200 OK";
    byte[] body =
        (status.startsWith("200") ? text.get() : status + "; metrics are at /metrics\n")
            .getBytes(StandardCharsets.UTF_8);
    byte[] head =
        String.format(
                Locale.ROOT,
                """
                HTTP/1.1 %s\r
                Content-Type: text/plain; version=0.0.4; charset=utf-8\r
                Content-Length: %d\r
                Connection: close\r
                \r
                """,
                status,
                body.length)
            .getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(head, head.length + (words[0].equals("HEAD") ? 0 : body.length));
    System.arraycopy(body, 0, all, head.length, all.length - head.length);
    return all;
  }

  @Override
  public void close() {
    try {
      server.close();
      if (socket != null) {
        Files.deleteIfExists(socket);
      }
    } catch (IOException e) {
      // It ends with the process.
    }
  }
}
