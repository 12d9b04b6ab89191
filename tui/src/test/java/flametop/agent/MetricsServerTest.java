package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The agent's own counters, and who gets them. */
@Timeout(60)
class MetricsServerTest {
  @TempDir private Path folder;

  private final Metrics metrics = new Metrics();

  private static HttpResponse<String> get(MetricsServer server, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void text_counters_wellFormedLinesWithTypes() {
    metrics.dropped(Drop.REFUSED);
    metrics.profiled(new long[] {1, 2, 3, 4, 5});
    metrics.lastSuccess.set(1_700_000_000_042L);
    String text = metrics.text();
    assertTrue(text.contains("flametop_agent_profiles_made_total 1\n"), text);
    assertTrue(
        text.contains("flametop_agent_profiles_dropped_total{reason=\"refused\"} 1\n"), text);
    assertTrue(text.contains("profiled_nanoseconds_total{state=\"on_cpu\"} 5\n"), text);
    assertTrue(text.contains("last_success_timestamp_seconds 1700000000.042\n"), text);
    for (String line : text.split("\n")) {
      assertTrue(
          line.matches(
              "# (HELP|TYPE) flametop_agent_[a-z_]+ .+|flametop_agent_[a-z_]+(\\{[a-z]+=\"[a-z_]+\"\\})? [0-9.]+"),
          line);
    }
  }

  @Test
  void get_loopback_countersAndNothingElse() throws Exception {
    try (MetricsServer server = MetricsServer.open("127.0.0.1:0", metrics::text)) {
      HttpResponse<String> answer = get(server, "/metrics");
      assertEquals(200, answer.statusCode());
      assertEquals(metrics.text(), answer.body());
      assertEquals(404, get(server, "/").statusCode());
    }
  }

  @Test
  void get_callerThatSaysNothing_othersAreAnswered() throws Exception {
    try (MetricsServer server = MetricsServer.open("127.0.0.1:0", metrics::text);
        Socket mute = new Socket(InetAddress.getLoopbackAddress(), server.port());
        Socket endless = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      endless.getOutputStream().write("x".repeat(100_000).getBytes(StandardCharsets.US_ASCII));
      assertEquals(200, get(server, "/metrics").statusCode());
      assertFalse(mute.isClosed());
    }
  }

  @Test
  void open_unixSocket_answersAndLeavesNothing() throws Exception {
    Path socket = folder.resolve("metrics");
    for (int start = 0; start < 2; start++) {
      MetricsServer server = MetricsServer.open("unix:" + socket, metrics::text);
      try (SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
        caller.write(
            ByteBuffer.wrap("GET /metrics HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
        String answer =
            new String(Channels.newInputStream(caller).readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
        assertTrue(answer.endsWith(metrics.text()), answer);
      }
      IOException second =
          assertThrows(
              IOException.class, () -> MetricsServer.open("unix:" + socket, metrics::text));
      assertTrue(second.getMessage().contains("somebody listens"), second.getMessage());
      server.close();
      assertFalse(Files.exists(socket));
    }
    Files.writeString(socket, "a file");
    assertThrows(IOException.class, () -> MetricsServer.open("unix:" + socket, metrics::text));
    assertEquals("a file", Files.readString(socket));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0:9000",
        ":9000",
        "9000",
        "[::]:9000",
        "192.168.1.1:9000",
        "example.org:80",
        "127.0.0.1:70000",
        "127.0.0.1:",
        "127.0.0.1.example.org:80"
      })
  void open_outsideLoopback_refused(String at) {
    assertThrows(IllegalArgumentException.class, () -> MetricsServer.open(at, metrics::text));
  }
}
