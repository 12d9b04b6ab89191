package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What reaches a store that misbehaves: each profile once and in order, or it is counted. */
@Timeout(120)
class SenderTest {
  @TempDir private Path folder;

  private final Metrics metrics = new Metrics();
  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
  private final Notices notices = new Notices(lines::add);

  /** Always draws the shortest wait. */
  private static final RandomGenerator SHORTEST = () -> 0;

  /** Longer than any answer of these tests but one takes. */
  private static final long LONG = TimeUnit.SECONDS.toNanos(60);

  private Spool spool() throws IOException {
    return Spool.open(folder.resolve("spool"), 1 << 20, metrics);
  }

  private Push to(URI url, Token token) throws IOException {
    boolean tls = url.getScheme().equals("https");
    return new Push(
        Store.PARCA,
        Store.PARCA.endpoint(url),
        token,
        tls ? Trust.context(null) : null,
        Map.of(),
        1_000_000_000L);
  }

  private static List<String> profiles(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "profile " + i).toList();
  }

  private static void add(Spool spool, List<String> bodies) {
    bodies.forEach(body -> spool.add("parca", body.getBytes(StandardCharsets.US_ASCII)));
  }

  /** Sends until nothing waits. */
  private void sendAll(Push push, Spool spool) throws InterruptedException {
    send(push, spool, LONG, () -> spool.size() == 0);
  }

  /**
   * Sends until something is so.
   *
   * @param wholeNanos how long a request may take
   */
  private void send(Push push, Spool spool, long wholeNanos, BooleanSupplier until)
      throws InterruptedException {
    try (Sender sender = new Sender(push, spool, metrics, notices, SHORTEST, wholeNanos)) {
      sender.start();
      await(until);
    }
  }

  private static void await(BooleanSupplier until) throws InterruptedException {
    while (!until.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  @Test
  void send_storeThatTakesAll_eachOnceInOrder() throws Exception {
    try (FakeStore store = new FakeStore();
        Spool spool = spool()) {
      add(spool, profiles(0, 20));
      sendAll(to(store.url(), null), spool);
      assertEquals(profiles(0, 20), store.taken());
      assertEquals(20, metrics.sent());
      assertEquals(0, metrics.dropped());
      assertEquals(List.of(), lines);
      String head = store.requests().get(0).head();
      assertTrue(head.startsWith("POST /api/profiles/writeraw HTTP/1.1\r\n"), head);
      assertFalse(head.contains("Authorization"), head);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 No\r\nContent-Length: 0\r\nRetry-After: 0\r\n\r\n",
        "HTTP/1.1 429 No\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n",
        "HTTP/1.1 408 No\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal",
        "HTTP/1.1 2",
        "nonsense\r\n\r\n",
        ""
      })
  void send_failureThatMayPass_sentAgainOnceAndSaidOnce(String answer) throws Exception {
    try (FakeStore store = new FakeStore(answer, answer);
        Spool spool = spool()) {
      add(spool, profiles(0, 3));
      sendAll(to(store.url(), null), spool);
      assertEquals(profiles(0, 3), store.taken());
      assertEquals(5, store.requests().size());
      assertEquals(2, metrics.retries.get());
      assertEquals(3, metrics.sent());
      assertEquals(0, metrics.dropped());
      assertEquals(2, lines.size(), lines::toString);
      assertTrue(lines.get(0).startsWith("the store 127.0.0.1:"), lines::toString);
      assertTrue(lines.get(1).endsWith("takes profiles again"), lines::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 413, 415, 422})
  void send_refused_droppedCountedAndTheNextIsSent(int status) throws Exception {
    try (FakeStore store = new FakeStore(FakeStore.status(status), FakeStore.status(status));
        Spool spool = spool()) {
      add(spool, profiles(0, 4));
      sendAll(to(store.url(), null), spool);
      assertEquals(profiles(2, 4), store.taken());
      assertEquals(2, metrics.droppedBy(Drop.REFUSED));
      assertEquals(0, metrics.retries.get());
      assertTrue(lines.get(0).contains("" + status), lines::toString);
    }
  }

  @Test
  void send_refusedWithWords_saidCleanAndShort() throws Exception {
    String words = "\u001b[2Jbad " + "x".repeat(100_000);
    String answer = "HTTP/1.1 422 No\r\nContent-Length: " + words.length() + "\r\n\r\n" + words;
    try (FakeStore store = new FakeStore(answer);
        Spool spool = spool()) {
      add(spool, profiles(0, 2));
      sendAll(to(store.url(), null), spool);
      assertEquals(profiles(1, 2), store.taken());
      assertTrue(lines.get(0).contains("answers 422: "), lines::toString);
      assertTrue(
          lines.get(0).length() < 300 && lines.get(0).indexOf('\u001b') < 0, lines::toString);
    }
  }

  @Test
  void send_endlessAnswer_cutAndSettled() throws Exception {
    String endless = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + "x".repeat(5_000_000);
    try (FakeStore store = new FakeStore(endless);
        Spool spool = spool()) {
      add(spool, profiles(0, 2));
      sendAll(to(store.url(), null), spool);
      assertEquals(2, metrics.sent());
    }
  }

  @Test
  void send_answerOfWhichEachByteIsLate_sentOnce() throws Exception {
    try (FakeStore store = new FakeStore(FakeStore.SLOW, FakeStore.SLOW_BODY);
        Spool spool = spool()) {
      add(spool, profiles(0, 3));
      sendAll(to(store.url(), null), spool);
      assertEquals(profiles(0, 3), store.taken());
      assertEquals(3, store.requests().size());
      assertEquals(List.of(), lines);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {FakeStore.SLOW, FakeStore.SLOW_BODY})
  void send_answerThatDoesNotEndInTime_keptAndSentAgain(String answer) throws Exception {
    try (FakeStore store = new FakeStore(answer);
        Spool spool = spool()) {
      add(spool, profiles(0, 1));
      // Either answer takes longer than this, and the next one is there at once.
      long whole = TimeUnit.MILLISECONDS.toNanos(600);
      send(to(store.url(), null), spool, whole, () -> spool.size() == 0);
      assertTrue(store.requests().size() > 1, () -> store.requests().toString());
      assertEquals(1, metrics.sent());
      assertTrue(lines.get(0).contains("did not answer in time"), lines::toString);
    }
  }

  @Test
  void send_partOfAnOtlpRequestRejected_countedAndSaid() throws Exception {
    // partial_success { rejected_profiles: 300, error_message: "no" }
    String partial = "\n\u0007\b\u00ac\u0002\u0012\u0002no";
    String answer = "HTTP/1.1 200 OK\r\nContent-Length: " + partial.length() + "\r\n\r\n" + partial;
    try (FakeStore store = new FakeStore(answer);
        Spool spool = spool()) {
      spool.add("otlp", new byte[] {'a'});
      spool.add("otlp", new byte[] {'b'});
      URI url = Store.OTLP.endpoint(store.url());
      sendAll(new Push(Store.OTLP, url, null, null, Map.of(), 1_000_000_000L), spool);
      assertEquals(List.of("a", "b"), store.taken());
      assertEquals(300, metrics.rejected.get());
      assertEquals(2, metrics.sent());
      assertEquals(0, metrics.dropped());
      assertEquals(1, lines.size(), lines::toString);
      assertTrue(lines.get(0).contains("leaves out parts of profiles"), lines::toString);
      String head = store.requests().get(0).head();
      assertTrue(head.startsWith("POST /v1development/profiles HTTP/1.1\r\n"), head);
      assertTrue(head.contains("Content-Encoding: gzip\r\n"), head);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 307, 308})
  void send_redirect_notFollowedWithTheTokenAndKept(int status) throws Exception {
    try (FakeStore thief = new FakeStore();
        FakeStore store = new FakeStore(FakeStore.status(status, "Location: " + thief.url()));
        Spool spool = spool()) {
      add(spool, profiles(0, 1));
      sendAll(to(store.url(), Token.of("secret-word")), spool);
      assertEquals(List.of(), thief.requests());
      assertEquals(profiles(0, 1), store.taken());
      assertTrue(lines.get(0).contains("redirect (" + status + ")"), lines::toString);
    }
  }

  @Test
  void send_token_inTheHeaderAndInNoLine() throws Exception {
    try (FakeStore store = new FakeStore(FakeStore.status(401), FakeStore.status(500));
        Spool spool = spool()) {
      add(spool, profiles(0, 3));
      sendAll(to(store.url(), Token.of("secret-word\n")), spool);
      for (FakeStore.Request request : store.requests()) {
        assertTrue(request.head().contains("Authorization: Bearer secret-word\r\n"));
      }
      assertFalse((lines + metrics.text() + Token.of("secret-word")).contains("secret"));
    }
    try (FakeStore store = new FakeStore();
        Spool spool = spool()) {
      add(spool, profiles(0, 1));
      sendAll(to(store.url(), Token.of("17:pass")), spool);
      String head = store.requests().get(0).head();
      assertTrue(head.contains("Authorization: Basic MTc6cGFzcw==\r\n"), head);
    }
  }

  @Test
  void send_nobodyListens_keptUntilSomebodyDoes() throws Exception {
    ServerSocket place = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    int port = place.getLocalPort();
    place.close();
    try (Spool spool = spool()) {
      add(spool, profiles(0, 2));
      Push push = to(URI.create("http://127.0.0.1:" + port), null);
      try (Sender sender = new Sender(push, spool, metrics, notices, SHORTEST, LONG)) {
        sender.start();
        await(() -> metrics.retries.get() >= 1);
        assertEquals(2, spool.size());
        ServerSocket again = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        try (FakeStore store = new FakeStore(again, "http")) {
          await(() -> spool.size() == 0);
          assertEquals(profiles(0, 2), store.taken());
        }
      }
      assertTrue(lines.get(0).contains("cannot be reached"), lines::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  void turnTo_anotherStoreWhileOneAsksToBeLeftAlone_sentThereOnly(int status) throws Exception {
    try (FakeStore lost = new FakeStore(FakeStore.status(status, "Retry-After: 200"));
        FakeStore other = new FakeStore();
        Spool spool = spool();
        Sender sender = new Sender(to(lost.url(), null), spool, metrics, notices, SHORTEST, LONG)) {
      add(spool, profiles(0, 2));
      sender.start();
      await(() -> !lost.requests().isEmpty());
      sender.turnTo(to(other.url(), null));
      await(() -> spool.size() == 0);
      assertEquals(profiles(0, 2), other.taken());
      // Without the wait that was asked for, the profile would have come here again.
      assertEquals(1, lost.requests().size());
    }
  }

  @Test
  void turnTo_anotherKindOfStore_whatWaitsForTheOldIsCounted() throws Exception {
    try (FakeStore store = new FakeStore();
        Spool spool = spool()) {
      spool.add("otlp", new byte[] {1});
      add(spool, profiles(0, 1));
      sendAll(to(store.url(), null), spool);
      assertEquals(profiles(0, 1), store.taken());
      assertEquals(1, metrics.droppedBy(Drop.OTHER_STORE));
    }
  }

  @Test
  void finish_storeAway_waitsInTheSpool() throws Exception {
    try (FakeStore store = new FakeStore(FakeStore.CLOSES, FakeStore.CLOSES)) {
      try (Spool spool = spool();
          Sender sender = new Sender(to(store.url(), null), spool, metrics, notices)) {
        add(spool, profiles(0, 2));
        sender.start();
        sender.finish(TimeUnit.SECONDS.toNanos(3));
        assertEquals(2, spool.size());
      }
      try (Spool spool = spool()) {
        sendAll(to(store.url(), null), spool);
        assertEquals(profiles(0, 2), store.taken());
      }
      assertEquals(0, metrics.dropped());
    }
  }

  @Test
  void finish_storeThere_allIsSent() throws Exception {
    try (FakeStore store = new FakeStore();
        Spool spool = spool();
        Sender sender = new Sender(to(store.url(), null), spool, metrics, notices)) {
      add(spool, profiles(0, 20));
      sender.start();
      sender.finish(TimeUnit.SECONDS.toNanos(60));
      assertEquals(profiles(0, 20), store.taken());
    }
  }

  /** A certificate of its own, for 127.0.0.1; and its PEM. */
  private ServerSocket tls(Path pem) throws Exception {
    Path keys = folder.resolve("keys");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "store",
                "-keyalg",
                "EC",
                "-dname",
                "CN=store",
                "-ext",
                "san=ip:127.0.0.1",
                "-keystore",
                keys.toString(),
                "-storepass",
                "password")
            .inheritIO()
            .start();
    assertEquals(0, keytool.waitFor());
    KeyStore store = KeyStore.getInstance(keys.toFile(), "password".toCharArray());
    String base64 =
        Base64.getMimeEncoder().encodeToString(store.getCertificate("store").getEncoded());
    Files.writeString(
        pem,
        "# of a test\n-----BEGIN CERTIFICATE-----\n" + base64 + "\n-----END CERTIFICATE-----\n");
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, "password".toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context
        .getServerSocketFactory()
        .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  @Test
  void send_certificate_believedIfItIsGivenOnly() throws Exception {
    Path pem = folder.resolve("ca.pem");
    try (FakeStore store = new FakeStore(tls(pem), "https");
        Spool spool = spool()) {
      add(spool, profiles(0, 1));
      Push system = to(store.url(), Token.of("secret-word"));
      send(system, spool, LONG, () -> metrics.retries.get() >= 1);
      assertEquals(List.of(), store.requests());
      assertTrue(lines.get(0).contains("no certificate that is believed"), lines::toString);
      Push believed =
          new Push(
              Store.PARCA,
              Store.PARCA.endpoint(store.url()),
              null,
              Trust.context(pem),
              Map.of(),
              1_000_000_000L);
      sendAll(believed, spool);
      assertEquals(profiles(0, 1), store.taken());
      // The certificate is of 127.0.0.1, and of no other name.
      add(spool, profiles(1, 2));
      URI named = URI.create(believed.url().toString().replace("127.0.0.1", "localhost"));
      Push other =
          new Push(Store.PARCA, named, null, believed.tls(), Map.of(), believed.everyNanos());
      long before = metrics.retries.get();
      send(other, spool, LONG, () -> metrics.retries.get() > before);
      assertEquals(profiles(0, 1), store.taken());
    }
  }
}
