package flametop.cli.settings;

import flametop.agent.Push;
import flametop.agent.Store;
import flametop.agent.Token;
import flametop.agent.Trust;
import flametop.sampler.CleanText;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * Where an agent sends profiles, and what it keeps meanwhile. Each option may stand in a file of
 * settings too, under its name without dashes; the command line wins.
 */
public final class AgentOptions {
  /** The environment variable of the token. */
  private static final String TOKEN = "FLAMETOP_TOKEN";

  private static final int MOST_CONFIG = 64 * 1024;
  private static final int MOST_LABELS = 32;
  private static final int MOST_VALUE = 200;
  private static final int DEFAULT_SECONDS = 15;
  private static final int MOST_SECONDS = 300;
  private static final int DEFAULT_MIB = 64;
  private static final int MOST_MIB = 65_536;

  @Option(
      names = "--push",
      order = 20,
      paramLabel = "URL",
      description = {
        "the store: http(s)://HOST:PORT",
        "The store that profiles are sent to: its address, below which its own path is added, or the whole URL. It has no user, password or query."
      })
  private @Nullable String push;

  @Option(
      names = "--to",
      order = 21,
      paramLabel = "KIND",
      converter = Kind.class,
      completionCandidates = Kind.class,
      description = {
        "pyroscope, parca or otlp (default: by the URL)",
        "The kind of store: pyroscope (Grafana Pyroscope, push API), parca (HTTP gateway of WriteRaw), or otlp (OpenTelemetry Collector, OTLP/HTTP profiles v1development, experimental). By default what the path or the port of the URL says: 4040 is pyroscope, 7070 parca, 4318 otlp."
      })
  private @Nullable Store to;

  @Option(
      names = "--every",
      order = 22,
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = {
        "a profile each so many seconds (default 15)",
        "The interval of a profile, 1 to 300 seconds, 15 by default. The first one is shorter by chance, so that many agents do not send at once."
      })
  private @Nullable Integer every;

  @Option(
      names = "--label",
      order = 23,
      paramLabel = "NAME=VALUE",
      description = {
        "a label of the profiles; may be repeated",
        "A label that the store keeps the profiles by; may be repeated. service_name (flametop by default) and host (the name of the host) are there already, and can be given another value. In a file of settings: label = NAME=VALUE, a line each."
      })
  private List<String> labels = new ArrayList<>();

  @Option(
      names = "--spool",
      order = 24,
      paramLabel = "DIR",
      description = {
        "profiles wait there; --spool-size: most MiB (64)",
        "The folder in which profiles wait for the store, also over a restart; it is made if it is not there. Without it they wait in memory, and what waits at the end is dropped."
      })
  private @Nullable Path spool;

  // Hidden, as --ca: the help fits a screen, and the option before names it.
  @Option(
      names = "--spool-size",
      order = 25,
      hidden = true,
      paramLabel = "MIB",
      converter = SpoolSize.class,
      description = {
        "most that waits, in MiB (default 64)",
        "How much may wait, 1 to 65536 MiB, 64 by default. The oldest profile makes room for a new one, and is counted. Without --spool at most 64."
      })
  private @Nullable Integer spoolSize;

  @Option(
      names = "--ca",
      order = 26,
      hidden = true,
      paramLabel = "FILE",
      description = {
        "believe these certificates only (PEM)",
        "Certificates in PEM that are believed instead of those of the system."
      })
  private @Nullable Path ca;

  @Option(
      names = "--token-file",
      order = 27,
      paramLabel = "FILE",
      description = {
        "token (or FLAMETOP_TOKEN); --ca FILE: certificates",
        "The file of the token that the store asks for; without it, the environment variable FLAMETOP_TOKEN. A token with a colon is sent as user and password (Basic), another one as a bearer's. It is sent to no other host, and not over a redirect."
      })
  private @Nullable Path tokenFile;

  @Option(
      names = "--metrics",
      order = 28,
      paramLabel = "ADDRESS",
      description = {
        "own metrics: 127.0.0.1:PORT or unix:PATH",
        "Where the agent answers GET /metrics with counters of its own in Prometheus' text: a port of this machine's loopback, or a UNIX socket; nothing else."
      })
  private @Nullable String metrics;

  @Option(
      names = "--config",
      order = 29,
      paramLabel = "FILE",
      description = {
        "a file of these settings; HUP reads it again",
        "A file with lines like push = https://HOST and every = 30, under the names of these options without dashes. At SIGHUP it is read again, and the token and the certificates too."
      })
  private @Nullable Path config;

  static final class Kind extends OneOf<Store> {
    Kind() {
      super(List.of(Store.values()));
    }
  }

  static final class Seconds implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return RateOptions.number(text, 1, MOST_SECONDS);
    }
  }

  static final class SpoolSize implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return RateOptions.number(text, 1, MOST_MIB);
    }
  }

  /**
   * All that was given.
   *
   * @param spool null: memory
   * @param metrics empty: nobody is told
   * @param notice a line about a risk; empty if there is none
   */
  public record Given(
      Push push, @Nullable Path spool, long spoolBytes, String metrics, String notice) {}

  /**
   * Reads the file of settings, the token and the certificates.
   *
   * @throws IllegalArgumentException with a line for people, if something is wrong or missing
   * @throws IOException with a line for people, if a file cannot be read
   */
  public Given read(Map<String, String> environment) throws IOException {
    Map<String, List<String>> set = settings();
    URI url = url(last(set, "push", push));
    Store store = to != null ? to : converted(set, "to", new Kind());
    store = store != null ? store : Store.of(url);
    if (store == null) {
      throw new IllegalArgumentException(
          "neither path nor port of the URL says which kind of store it is; --to pyroscope, parca or otlp does");
    }
    Integer seconds = every != null ? every : converted(set, "every", new Seconds());
    Integer mib = spoolSize != null ? spoolSize : converted(set, "spool-size", new SpoolSize());
    Path folder = path(set, "spool", spool);
    boolean inMemory = folder == null;
    long bound = mib == null ? DEFAULT_MIB : inMemory ? Math.min(mib, DEFAULT_MIB) : mib;
    Token token = token(path(set, "token-file", tokenFile), environment);
    boolean plain = url.getScheme().equalsIgnoreCase("http");
    Path certificates = path(set, "ca", ca);
    String at = last(set, "metrics", metrics);
    Push to =
        new Push(
            store,
            store.endpoint(url),
            token,
            plain ? null : Trust.context(certificates),
            labels(set),
            TimeUnit.SECONDS.toNanos(seconds == null ? DEFAULT_SECONDS : seconds));
    return new Given(
        to,
        folder,
        bound << 20,
        at == null ? "" : at,
        plain && token != null && !isHere(url.getHost())
            ? "the token goes over the network in plain HTTP; https:// hides it"
            : "");
  }

  private static boolean isHere(String host) {
    return host.equals("localhost") || host.startsWith("127.") || host.equals("[::1]");
  }

  private Map<String, List<String>> settings() throws IOException {
    Map<String, List<String>> set = new LinkedHashMap<>();
    if (config == null) {
      return set;
    }
    String name = CleanText.clean(config.toString(), MOST_VALUE);
    String text;
    try (InputStream in = Files.newInputStream(config)) {
      byte[] bytes = in.readNBytes(MOST_CONFIG + 1);
      if (bytes.length > MOST_CONFIG) {
        throw new IOException("larger than 64 KiB");
      }
      text = new String(bytes, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw unreadable(config, e);
    }
    List<String> known =
        List.of(
            "push", "to", "every", "label", "spool", "spool-size", "ca", "token-file", "metrics");
    for (SettingLines.Line line : SettingLines.of(text)) {
      if (!known.contains(line.name())) {
        throw new IllegalArgumentException(
            name
                + ":"
                + line.number()
                + (line.name().isEmpty()
                    ? ": no '='; a line is 'every = 30'"
                    : ": no such setting: "
                        + CleanText.clean(line.name(), MOST_VALUE)
                        + "; there are "
                        + String.join(", ", known)));
      }
      set.computeIfAbsent(line.name(), key -> new ArrayList<>()).add(line.value());
    }
    return set;
  }

  private static IOException unreadable(Path file, IOException cause) {
    String why =
        cause instanceof NoSuchFileException
            ? "it is not there"
            : cause instanceof AccessDeniedException
                ? "this user may not read it"
                : CleanText.clean(String.valueOf(cause.getMessage()), MOST_VALUE);
    return new IOException(
        CleanText.clean(file.toString(), MOST_VALUE) + " cannot be read: " + why);
  }

  private static @Nullable String last(
      Map<String, List<String>> set, String name, @Nullable String given) {
    List<String> values = set.getOrDefault(name, List.of());
    return given != null || values.isEmpty() ? given : values.get(values.size() - 1);
  }

  private static @Nullable Path path(
      Map<String, List<String>> set, String name, @Nullable Path given) {
    String text = given == null ? last(set, name, null) : null;
    return text == null || text.isEmpty() ? given : Path.of(text);
  }

  private static <T> @Nullable T converted(
      Map<String, List<String>> set, String name, ITypeConverter<T> converter) {
    String text = last(set, name, null);
    try {
      return text == null ? null : converter.convert(text);
    } catch (TypeConversionException e) {
      throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
    } catch (Exception e) {
      throw new IllegalArgumentException(name + ": " + text, e);
    }
  }

  private static URI url(@Nullable String text) {
    if (text == null) {
      throw new IllegalArgumentException(
          "agent has no store to send to: --push http://HOST:4040, or push = in the file of --config");
    }
    try {
      URI url = URI.create(text.strip());
      boolean http =
          "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
      if (url.getRawUserInfo() != null) {
        throw new IllegalArgumentException(
            "push: a URL with a user or a password in it is seen by everybody; --token-file or "
                + TOKEN
                + " takes user:password");
      }
      if (http
          && url.getHost() != null
          && url.getRawQuery() == null
          && url.getRawFragment() == null) {
        return url;
      }
    } catch (IllegalArgumentException e) {
      if (e.getCause() == null) {
        throw e;
      }
    }
    throw new IllegalArgumentException(
        "push: '" + CleanText.clean(text, MOST_VALUE) + "' is no URL like https://HOST:PORT");
  }

  private static @Nullable Token token(@Nullable Path file, Map<String, String> environment)
      throws IOException {
    if (file != null) {
      try {
        return Token.read(file);
      } catch (FileSystemException e) {
        throw unreadable(file, e);
      } catch (IOException e) {
        throw new IOException(
            CleanText.clean(file.toString(), MOST_VALUE) + ": " + e.getMessage(), e);
      }
    }
    String given = environment.getOrDefault(TOKEN, "");
    return given.isEmpty() ? null : Token.of(given);
  }

  private Map<String, String> labels(Map<String, List<String>> set) {
    List<String> all = new ArrayList<>(set.getOrDefault("label", List.of()));
    all.addAll(labels);
    Map<String, String> named = new LinkedHashMap<>();
    for (String label : all) {
      int equals = label.indexOf('=');
      String name = equals < 0 ? "" : label.substring(0, equals).strip();
      String value = equals < 0 ? "" : label.substring(equals + 1).strip();
      if (!name.matches("[a-zA-Z_][a-zA-Z0-9_]{0,63}")
          || name.startsWith("__")
          || value.isEmpty()) {
        throw new IllegalArgumentException(
            "label '"
                + CleanText.clean(label, MOST_VALUE)
                + "' is not NAME=VALUE, with a name of letters, digits and _");
      }
      named.put(name, CleanText.clean(value, MOST_VALUE));
    }
    if (named.size() > MOST_LABELS) {
      throw new IllegalArgumentException("more than " + MOST_LABELS + " labels");
    }
    return named;
  }
}
