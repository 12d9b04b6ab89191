package flametop.export;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** One page in a Chromium without a window, driven by its DevTools protocol. */
final class Browser implements AutoCloseable {
  private static final List<String> PROGRAMS =
      List.of("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");
  private static final long PATIENCE_SECONDS = 120;
  private static final String LISTENING = "DevTools listening on ws://";

  private final Process process;
  private final WebSocket socket;
  private final Map<Integer, CompletableFuture<JsonObject>> awaited = new ConcurrentHashMap<>();
  private int commands;

  private Browser(Process process, URI page) throws Exception {
    this.process = process;
    socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(page, new Answers())
            .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    send("Page.enable", "{}");
    send("Runtime.enable", "{}");
  }

  /** The program; null where there is none. */
  static Path program() {
    for (String name : PROGRAMS) {
      for (String folder : System.getenv("PATH").split(":")) {
        Path path = Path.of(folder, name);
        if (Files.isExecutable(path)) {
          return path;
        }
      }
    }
    return null;
  }

  /**
   * Starts it.
   *
   * @param folder for its profile
   */
  static Browser open(Path folder) throws Exception {
    Process process =
        new ProcessBuilder(
                program().toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--window-size=1200,800",
                "--remote-debugging-port=0",
                "--user-data-dir=" + folder,
                "about:blank")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      BufferedReader said =
          new BufferedReader(
              new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
      StringBuilder all = new StringBuilder();
      String line;
      while ((line = said.readLine()) != null && !line.contains(LISTENING)) {
        all.append(line).append('\n');
      }
      if (line == null) {
        throw new IOException("the browser ended: " + all);
      }
      Thread drain = new Thread(() -> said.lines().forEach(rest -> {}), "browser");
      drain.setDaemon(true);
      drain.start();
      String address = line.substring(line.indexOf(LISTENING) + LISTENING.length());
      address = address.substring(0, address.indexOf('/'));
      return new Browser(process, page(address));
    } catch (Exception e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /** The page that is there once it has started. */
  private static URI page(String address) throws Exception {
    while (true) {
      String targets =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create("http://" + address + "/json/list")).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
      for (JsonElement target : JsonParser.parseString(targets).getAsJsonArray()) {
        if (target.getAsJsonObject().get("type").getAsString().equals("page")) {
          return URI.create(target.getAsJsonObject().get("webSocketDebuggerUrl").getAsString());
        }
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private final class Answers implements WebSocket.Listener {
    private final StringBuilder message = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      message.append(part);
      if (last) {
        JsonObject answer = JsonParser.parseString(message.toString()).getAsJsonObject();
        message.setLength(0);
        if (answer.has("id")) {
          awaited.remove(answer.get("id").getAsInt()).complete(answer);
        }
      }
      from.request(1);
      return null;
    }
  }

  private JsonObject send(String method, String parameters) throws Exception {
    int id = ++commands;
    CompletableFuture<JsonObject> answer = new CompletableFuture<>();
    awaited.put(id, answer);
    socket
        .sendText(
            "{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + parameters + "}", true)
        .join();
    JsonObject got = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (got.has("error")) {
      throw new IOException(method + ": " + got.get("error"));
    }
    return got.getAsJsonObject("result");
  }

  void go(URI address) throws Exception {
    JsonObject parameters = new JsonObject();
    parameters.addProperty("url", address.toString());
    send("Page.navigate", parameters.toString());
    await("document.readyState === 'complete' && location.href !== 'about:blank'");
  }

  /** The value of an expression; null for what is undefined. */
  String evaluate(String expression) throws Exception {
    JsonObject parameters = new JsonObject();
    parameters.addProperty("expression", "String(" + expression + ")");
    parameters.addProperty("returnByValue", true);
    JsonObject answer = send("Runtime.evaluate", parameters.toString());
    if (answer.has("exceptionDetails")) {
      throw new IOException(expression + ": " + answer.get("exceptionDetails"));
    }
    return answer.getAsJsonObject("result").get("value").getAsString();
  }

  /** Waits until an expression is true. */
  void await(String expression) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    String last = "";
    while (System.nanoTime() < until) {
      try {
        last = evaluate(expression);
        if (last.equals("true")) {
          return;
        }
      } catch (IOException e) {
        // Between two pages there is nothing to ask.
        last = e.getMessage();
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new IOException(
        "not true: " + expression + "; last: " + last + "; " + evaluate("document.body.innerText"));
  }

  void move(int x, int y) throws Exception {
    mouse("mouseMoved", x, y);
  }

  void click(int x, int y) throws Exception {
    mouse("mouseMoved", x, y);
    mouse("mousePressed", x, y);
    mouse("mouseReleased", x, y);
  }

  private void mouse(String type, int x, int y) throws Exception {
    send(
        "Input.dispatchMouseEvent",
        "{\"type\":\""
            + type
            + "\",\"x\":"
            + x
            + ",\"y\":"
            + y
            + ",\"button\":\"left\",\"buttons\":1,\"clickCount\":1}");
  }

  void press(String key) throws Exception {
    for (String type : new String[] {"keyDown", "keyUp"}) {
      send("Input.dispatchKeyEvent", "{\"type\":\"" + type + "\",\"key\":\"" + key + "\"}");
    }
  }

  void type(String text) throws Exception {
    JsonObject parameters = new JsonObject();
    parameters.addProperty("text", text);
    send("Input.insertText", parameters.toString());
  }

  void picture(Path png) throws Exception {
    JsonObject answer = send("Page.captureScreenshot", "{\"format\":\"png\"}");
    Files.write(png, Base64.getDecoder().decode(answer.get("data").getAsString()));
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().onExit().join();
  }
}
