// SPDX-License-Identifier: Apache-2.0
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** A service in Tomcat: counts words and answers with their sums. The argument is the port. */
class Server extends HttpServlet {
  private static final String TEXT =
      IntStream.range(0, 400).mapToObj(i -> "word" + i * 7 % 61).collect(Collectors.joining(" "));

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Map<String, Integer> words = new TreeMap<>();
    for (String word : TEXT.split(" ")) {
      words.merge(word, word.length(), Integer::sum);
    }
    String text =
        words.entrySet().stream()
            .map(entry -> "\"" + entry.getKey() + "\":" + entry.getValue())
            .collect(Collectors.joining(",", "{", "}"));
    try {
      byte[] sum =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      response.setContentType("application/json");
      response.getWriter().println(text + sum[0]);
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new IOException(e);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
    tomcat.setPort(Integer.parseInt(arguments[0]));
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "words", new Server());
    context.addServletMappingDecoded("/*", "words");
    tomcat.start();
    tomcat.getServer().await();
  }
}
