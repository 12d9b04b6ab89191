package flametop.agent;

import flametop.sampler.CleanText;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The thread that sends what waits in the spool, oldest first, one request at a time. A profile
 * leaves the spool when the store has said that it has it, or that it does not want it; where the
 * answer is lost, the profile is sent again.
 */
public final class Sender implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final long WHOLE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** More of an answer is not read. */
  private static final int MOST_ANSWER = 1 << 16;

  private static final int MOST_SAID = 120;
  private static final int MOST_CAUSES = 8;
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final String TOPIC = "store";

  private final Spool spool;
  private final Metrics metrics;
  private final Notices notices;
  private final Backoff backoff;
  private final long wholeNanos;
  private final Thread thread = new Thread(this::run, "sender");

  private volatile Push push;

  /** Of {@link System#nanoTime}; {@link Long#MAX_VALUE}: there is no end in sight. */
  private volatile long until = Long.MAX_VALUE;

  private volatile boolean closing;

  private final Object waits = new Object();

  /** Guarded by {@link #waits}. */
  private boolean woken;

  /** Made for the push that it was made for: another has other certificates. */
  private @Nullable HttpClient client;

  private @Nullable Push clientOf;

  public Sender(Push push, Spool spool, Metrics metrics, Notices notices) {
    this(push, spool, metrics, notices, new SplittableRandom(), WHOLE_NANOS);
  }

  /**
   * @param wholeNanos how long a request may take, with the whole answer
   */
  Sender(
      Push push,
      Spool spool,
      Metrics metrics,
      Notices notices,
      RandomGenerator random,
      long wholeNanos) {
    this.push = push;
    this.wholeNanos = wholeNanos;
    this.spool = spool;
    this.metrics = metrics;
    this.notices = notices;
    backoff = new Backoff(random);
    thread.setDaemon(true);
  }

  public void start() {
    thread.start();
  }

  /** Sends elsewhere from the next request on, and does not wait with that. */
  public void turnTo(Push other) {
    push = other;
    wake();
  }

  /** Sends what waits, for so long at most and as far as each request succeeds; then ends. */
  public void finish(long nanos) {
    until = System.nanoTime() + nanos;
    closing = true;
    wake();
    try {
      // A little longer: the thread ends by itself.
      thread.join(TimeUnit.NANOSECONDS.toMillis(nanos) + 500);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    finish(0);
  }

  /** Ends a wait. An interrupt would cut the connection too. */
  private void wake() {
    synchronized (waits) {
      woken = true;
      waits.notifyAll();
    }
    spool.wake();
  }

  private void rest(long nanos) throws InterruptedException {
    long by = System.nanoTime() + nanos;
    synchronized (waits) {
      while (!woken && by - System.nanoTime() > 0) {
        TimeUnit.NANOSECONDS.timedWait(waits, by - System.nanoTime());
      }
      woken = false;
    }
  }

  private void run() {
    try {
      while (goesOn()) {
        spool.await(closing ? 0 : LOOK_NANOS);
        Spool.Entry entry = spool.hold();
        if (entry != null) {
          long wait = send(entry);
          if (wait > 0 && closing) {
            return;
          }
          if (wait > 0) {
            rest(wait);
            metrics.retries.incrementAndGet();
          }
        } else if (closing) {
          return;
        }
      }
    } catch (InterruptedException e) {
      // Nobody interrupts this thread.
      Thread.currentThread().interrupt();
    }
  }

  private boolean goesOn() {
    return !closing || until - System.nanoTime() > 0;
  }

  /** Returns how long to wait before the same is sent again; 0: it is settled. */
  @SuppressWarnings("ReferenceEquality") // another push is another object
  private long send(Spool.Entry entry) throws InterruptedException {
    Push to = push;
    if (!entry.kind().equals(to.store().label())) {
      boolean unused = spool.drop(entry, Drop.OTHER_STORE);
      notices.say(
          "spool", "profiles that wait for a store of kind " + entry.kind() + " are dropped");
      return 0;
    }
    byte[] body = spool.read(entry);
    if (body == null) {
      boolean unused = spool.drop(entry, Drop.DAMAGED);
      notices.say("spool", "a damaged profile in the spool is dropped: " + entry.file());
      return 0;
    }
    Answer answer = ask(to, body);
    switch (answer.fate()) {
      case SENT -> {
        spool.sent(entry);
        backoff.succeeded();
        metrics.sent.incrementAndGet();
        metrics.sentBytes.addAndGet(body.length);
        metrics.rejected.addAndGet(answer.rejected());
        metrics.lastSuccess.set(System.currentTimeMillis());
        notices.settle(TOPIC, name(to.url()) + " takes profiles again");
        if (answer.rejected() > 0) {
          notices.say("part", name(to.url()) + " leaves out parts of profiles");
        }
        return 0;
      }
      case REFUSED -> {
        boolean unused = spool.drop(entry, Drop.REFUSED);
        backoff.succeeded();
        notices.say(TOPIC, name(to.url()) + " " + answer.says() + "; the profile is dropped");
        return 0;
      }
      case KEPT -> {
        spool.release();
        notices.say(
            TOPIC,
            name(to.url())
                + " "
                + answer.says()
                + "; profiles wait, and are sent when the store takes them");
        long wait = backoff.failed(answer.askedNanos());
        return push == to ? wait : 0;
      }
    }
    throw new IllegalStateException(answer.toString());
  }

  /** The host alone: what else is in a URL is nobody's business. */
  private static String name(URI url) {
    return "the store " + url.getHost() + (url.getPort() < 0 ? "" : ":" + url.getPort());
  }

  private Answer ask(Push to, byte[] body) throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(to.url())
            .timeout(Duration.ofNanos(wholeNanos))
            .header("Content-Type", to.store().contentType())
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    if (!to.store().encoding().isEmpty()) {
      request.header("Content-Encoding", to.store().encoding());
    }
    Token token = to.token();
    if (token != null) {
      request.header("Authorization", token.header());
    }
    metrics.requests.incrementAndGet();
    CompletableFuture<HttpResponse<byte[]>> coming =
        client(to).sendAsync(request.build(), info -> new Bounded());
    return answer(to, coming);
  }

  /** Waits for an answer; at the end no longer than there is time. */
  private Answer answer(Push to, CompletableFuture<HttpResponse<byte[]>> coming)
      throws InterruptedException {
    long by = System.nanoTime() + wholeNanos;
    while (Math.min(by, until) - System.nanoTime() > 0) {
      try {
        return judged(to, coming.get(STEP_NANOS, TimeUnit.NANOSECONDS));
      } catch (TimeoutException e) {
        // The end may have come meanwhile.
      } catch (ExecutionException e) {
        return Answer.none(why(e.getCause()));
      }
    }
    boolean unused = coming.cancel(true);
    return Answer.none("did not answer in time");
  }

  private static Answer judged(Push to, HttpResponse<byte[]> response) {
    int status = response.statusCode();
    if (status / 100 == 2) {
      return Answer.sent(to.store().rejected(response.body()));
    }
    HttpHeaders headers = response.headers();
    return Answer.of(
        status, headers.firstValue("Retry-After").orElse(""), said(response), Instant.now());
  }

  private static String said(HttpResponse<byte[]> response) {
    int status = response.statusCode();
    if (status / 100 == 3) {
      return "answers with a redirect ("
          + status
          + "), which is not followed; give the URL that profiles are to go to";
    }
    String text =
        CleanText.clean(new String(response.body(), StandardCharsets.UTF_8).strip(), MOST_SAID);
    String because = text.isEmpty() ? "" : ": " + text;
    return switch (status) {
      case 401, 403 -> "wants another token (" + status + ")";
      case 404 -> "has nothing at that path (404); is --to right?";
      default -> "answers " + status + because;
    };
  }

  private static String why(@Nullable Throwable cause) {
    Throwable of = cause;
    boolean tls = false;
    for (int depth = 0; of != null && depth < MOST_CAUSES; depth++) {
      if (of instanceof CertificateException || of instanceof CertPathValidatorException) {
        return "has no certificate that is believed here; --ca names others ("
            + CleanText.clean(String.valueOf(of.getMessage()), MOST_SAID)
            + ")";
      }
      if (of instanceof HttpConnectTimeoutException) {
        return "cannot be reached in time";
      }
      if (of instanceof HttpTimeoutException) {
        return "did not answer in time";
      }
      tls |= of instanceof SSLException;
      of = of.getCause();
    }
    if (tls) {
      return "does not speak TLS with us ("
          + CleanText.clean(String.valueOf(cause == null ? "" : cause.getMessage()), MOST_SAID)
          + ")";
    }
    if (cause instanceof ConnectException) {
      return "cannot be reached";
    }
    if (cause instanceof IOException && cause.getMessage() != null) {
      return "cut the connection (" + CleanText.clean(cause.getMessage(), MOST_SAID) + ")";
    }
    return "cannot be talked to";
  }

  private HttpClient client(Push of) {
    HttpClient known = client;
    if (known == null || clientOf == null || clientOf.tls() != of.tls()) {
      HttpClient.Builder builder =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              // A redirect would take the token along.
              .followRedirects(HttpClient.Redirect.NEVER)
              .connectTimeout(CONNECT);
      if (of.tls() != null) {
        builder.sslContext(of.tls());
      }
      known = builder.build();
      client = known;
      clientOf = of;
    }
    return known;
  }

  /** The beginning of a body; what comes behind it is not read. */
  private static final class Bounded implements HttpResponse.BodySubscriber<byte[]> {
    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final ByteBuffer read = ByteBuffer.allocate(MOST_ANSWER);
    private Flow.@Nullable Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
      return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription to) {
      subscription = to;
      to.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      for (ByteBuffer buffer : buffers) {
        if (buffer.remaining() > read.remaining()) {
          buffer.limit(buffer.position() + read.remaining());
        }
        read.put(buffer);
      }
      if (!read.hasRemaining()) {
        if (subscription != null) {
          subscription.cancel();
        }
        onComplete();
      }
    }

    @Override
    public void onError(Throwable cause) {
      body.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      body.complete(Arrays.copyOf(read.array(), read.position()));
    }
  }
}
