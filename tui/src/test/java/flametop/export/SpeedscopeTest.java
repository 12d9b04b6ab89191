package flametop.export;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exports as speedscope shows them, served on the loopback. */
@Timeout(600)
class SpeedscopeTest {
  /** What setup/speedscope fetched. */
  private static final Path RELEASE =
      Path.of(System.getProperty("flametop.speedscope.dir", "speedscope"))
          .toAbsolutePath()
          .normalize();

  @TempDir private Path folder;

  private static HttpServer serve(byte[] profile) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String name = exchange.getRequestURI().getPath().substring(1);
          Path file = RELEASE.resolve(name).normalize();
          byte[] body =
              name.equals("profile")
                  ? profile
                  : file.startsWith(RELEASE) && Files.isRegularFile(file)
                      ? Files.readAllBytes(file)
                      : new byte[0];
          String type =
              name.endsWith(".html")
                  ? "text/html"
                  : name.endsWith(".js")
                      ? "text/javascript"
                      : name.endsWith(".css") ? "text/css" : "application/octet-stream";
          exchange.getResponseHeaders().set("Content-Type", type);
          exchange.sendResponseHeaders(
              body.length > 0 ? 200 : 404, body.length > 0 ? body.length : -1);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return server;
  }

  @ParameterizedTest
  @EnumSource(names = {"FOLDED", "SPEEDSCOPE", "PPROF"})
  void speedscope_export_totalAndValueOfAFunction(StackFormat format) throws Exception {
    assumeTrue(Browser.program() != null, "no chromium is installed");
    assumeTrue(
        Files.isRegularFile(RELEASE.resolve("index.html")),
        "no speedscope at " + RELEASE + "; setup/speedscope fetches it with npm");
    StackExport export =
        Exports.of(
            Measure.TIME,
            Exports.stack(
                1_500_000_000,
                "app",
                NodeKind.PROCESS,
                "main",
                NodeKind.USER,
                "<img src=x>",
                NodeKind.USER),
            Exports.stack(
                2_500_000_000L,
                "app",
                NodeKind.PROCESS,
                "main",
                NodeKind.USER,
                "work",
                NodeKind.USER));
    HttpServer server = serve(Exports.bytes(format, export));
    try (Browser browser = Browser.open(folder.resolve("browser"))) {
      String origin = "http://127.0.0.1:" + server.getAddress().getPort();
      browser.go(
          URI.create(origin + "/index.html#profileURL=" + origin + "/profile&view=sandwich"));
      // The table of functions, heaviest first by self.
      browser.await("document.body.innerText.includes('work')");
      String text = browser.evaluate("document.body.innerText").replaceAll("\\s+", " ");
      // Folded stacks have no unit.
      String total = format == StackFormat.FOLDED ? "4,000,000" : "4.00s";
      String work = format == StackFormat.FOLDED ? "2,500,000" : "2.50s";
      assertTrue(text.contains(total + " (100%)"), text);
      assertTrue(text.contains(work + " (63%)"), text);
      assertTrue(text.contains("<img src=x>"), text);
    } finally {
      server.stop(0);
    }
  }
}
