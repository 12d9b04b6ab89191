package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import flametop.profile.format.Place;
import flametop.profile.format.SampleLog;
import flametop.profile.format.Unit;
import flametop.profile.tree.HeldStacks;
import flametop.sampler.State;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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
    StackExport export =
        Exports.of(
            Measure.TIME,
            Exports.stack(1_500_000_000, "app", "main", "<img src=x>"),
            Exports.stack(2_500_000_000L, "app", "main", "work"));
    // Folded stacks have no unit.
    boolean folded = format == StackFormat.FOLDED;
    shows(
        Exports.bytes(format, export),
        (folded ? "4,000,000" : "4.00s") + " (100%)",
        (folded ? "2,500,000" : "2.50s") + " (63%)",
        "<img src=x>");
  }

  @Test
  void speedscope_samplesOfThreads_areProfilesOfTheirOwn() throws Exception {
    assumeTrue(Browser.program() != null, "no chromium is installed");
    SampleLog log = new SampleLog(true);
    SampleLog.Input input = log.new Input();
    input.type("time", Unit.of("us", ""), true);
    input.owners();
    for (int tid = 1; tid <= 2; tid++) {
      Owner owner = new Owner("app", 7, "worker " + tid, tid, "", State.RUN);
      input.frame(NodeKind.PROCESS, "app", "", Place.NONE, owner);
    }
    input.frame(NodeKind.JIT, "work", "app.so", new Place("/src/work.c", 12, 3), null);
    input.frame(NodeKind.USER, "rest", "app.so", Place.NONE, null);
    input.stack(0, new int[] {0, 2}, 2, 2_500_000_000L);
    input.stack(0, new int[] {0, 3}, 2, 1_500_000_000L);
    input.stack(0, new int[] {1, 3}, 2, 9_000_000_000L);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new SampleExport(Exports.provenance("web-1"), log, SampleExport.By.THREAD)
        .write(StackFormat.SPEEDSCOPE, out);
    shows(
        out.toByteArray(),
        "2.50s (63%) 2.50s (63%) work",
        "1.50s (38%) 1.50s (38%) rest",
        "thread 1 \"worker 1\" (1/2)");
  }

  /** The page of functions, heaviest first by self. */
  private String functions(byte[] profile, String awaited) throws Exception {
    HttpServer server = serve(profile);
    try (Browser browser = Browser.open(folder.resolve("browser"))) {
      String origin = "http://127.0.0.1:" + server.getAddress().getPort();
      browser.go(
          URI.create(origin + "/index.html#profileURL=" + origin + "/profile&view=sandwich"));
      browser.await("document.body.innerText.includes('" + awaited + "')");
      return browser.evaluate("document.body.innerText").replaceAll("\\s+", " ");
    } finally {
      server.stop(0);
    }
  }

  /** The sample that speedscope brings: its functions are the same once flametop converted it. */
  @Test
  void speedscope_itsOwnSample_hasTheSameFunctionsAfterAConversion() throws Exception {
    assumeTrue(Browser.program() != null, "no chromium is installed");
    assumeTrue(Files.isDirectory(RELEASE), "no speedscope; setup/speedscope fetches it with npm");
    Path sample;
    try (Stream<Path> files = Files.list(RELEASE)) {
      sample =
          files
              .filter(path -> path.toString().endsWith(".txt"))
              .filter(path -> path.toString().contains("collapsed"))
              .findFirst()
              .orElseThrow();
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (StackFile file =
        StackFile.added(List.of(StackInput.open(sample)), StackFile.Choice.NONE)) {
      Snapshot.Reading reading = file.whole().get();
      HeldStacks stacks = file.held(0).get();
      StackExport export =
          new StackExport(
              Exports.provenance("sample"), reading.measure(), stacks, stacks.total(), 0, true);
      StackFormat.SPEEDSCOPE.write(export, out);
    }
    Map<String, String> theirs = rows(Files.readAllBytes(sample));
    Map<String, String> ours = rows(out.toByteArray());
    // Which of the lightest are on the page is chance.
    theirs.keySet().retainAll(ours.keySet());
    ours.keySet().retainAll(theirs.keySet());
    assertTrue(theirs.size() >= 20, theirs::toString);
    assertEquals(theirs, ours);
  }

  /** The values by function, without the mark of its kind, which a name in folded stacks has. */
  private Map<String, String> rows(byte[] profile) throws Exception {
    Map<String, String> rows = new TreeMap<>();
    Matcher row =
        Pattern.compile("([0-9,.]+ \\([0-9.]+%\\) [0-9,.]+ \\([0-9.]+%\\)) (\\S+)")
            .matcher(functions(profile, "hypercall_page"));
    while (row.find()) {
      rows.put(row.group(2).replaceFirst("_\\[[a-z]\\]$", ""), row.group(1));
    }
    return rows;
  }

  private void shows(byte[] profile, String... texts) throws Exception {
    assumeTrue(
        Files.isRegularFile(RELEASE.resolve("index.html")),
        "no speedscope at " + RELEASE + "; setup/speedscope fetches it with npm");
    String text = functions(profile, "work");
    for (String expected : texts) {
      assertTrue(text.contains(expected), () -> expected + " in " + text);
    }
  }
}
