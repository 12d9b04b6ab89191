package flametop.agent;

import flametop.export.Json;
import flametop.export.Protobuf;
import flametop.export.StateExport;
import flametop.profile.format.ProtobufInput;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** The stores that take profiles: how each wants them, and what its answers mean. */
public enum Store {
  /** Grafana Pyroscope, by the push API in Protocol Buffers over Connect. */
  PYROSCOPE("/push.v1.PusherService/Push", 4040, "application/proto", "") {
    @Override
    byte[] body(StateExport export, Map<String, String> series) {
      Protobuf of = new Protobuf();
      Map<String, String> labels = new LinkedHashMap<>();
      labels.put("__name__", "flametop");
      labels.putAll(series);
      labels.forEach((name, value) -> of.field(1, new Protobuf().field(1, name).field(2, value)));
      // The number tells two sendings of one profile from two profiles.
      Protobuf sample = new Protobuf().field(1, export.pprof());
      of.field(2, sample.field(2, UUID.randomUUID().toString()));
      return new Protobuf().field(1, of).take();
    }
  },

  /** Parca, by the HTTP gateway of its {@code WriteRaw}, in JSON. */
  PARCA("/api/profiles/writeraw", 7070, "application/json", "") {
    @Override
    byte[] body(StateExport export, Map<String, String> series) {
      StringBuilder out = new StringBuilder("{\"series\":[{\"labels\":{\"labels\":[");
      label(out, "__name__", "flametop");
      series.forEach(
          (name, value) -> {
            out.append(',');
            label(out, name, value);
          });
      out.append("]},\"samples\":[{\"rawProfile\":\"")
          .append(Base64.getEncoder().encodeToString(export.pprof()))
          .append("\"}]}],\"normalized\":true}");
      return out.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private void label(StringBuilder out, String name, String value) {
      out.append("{\"name\":").append(Json.quoted(name));
      out.append(",\"value\":").append(Json.quoted(value)).append('}');
    }
  },

  /** A collector of OpenTelemetry, by OTLP over HTTP; its profiles are not final yet. */
  OTLP("/v1development/profiles", 4318, "application/x-protobuf", "gzip") {
    @Override
    byte[] body(StateExport export, Map<String, String> series) {
      Map<String, String> resource = new LinkedHashMap<>();
      series.forEach(
          (name, value) ->
              resource.put(
                  switch (name) {
                    case Push.SERVICE -> "service.name";
                    case Push.HOST -> "host.name";
                    default -> name;
                  },
                  value));
      byte[] ids = new byte[16 * StateExport.Column.values().length];
      new SecureRandom().nextBytes(ids);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
        gzip.write(export.otlp(resource, ids));
      } catch (IOException e) {
        throw new IllegalStateException("an array takes all bytes", e);
      }
      return out.toByteArray();
    }

    /** {@code partial_success { rejected_profiles }}: fields 1 and 1. */
    @Override
    long rejected(byte[] answer) {
      try {
        ProtobufInput message = new ProtobufInput(answer);
        if (!message.find(1) || !message.isBytes()) {
          return 0;
        }
        ProtobufInput success = new ProtobufInput(answer, message.place());
        return success.find(1) ? Math.max(0, success.value()) : 0;
      } catch (IOException e) {
        // A store may say anything.
        return 0;
      }
    }
  };

  private final String path;
  private final int port;
  private final String contentType;
  private final String encoding;

  Store(String path, int port, String contentType, String encoding) {
    this.path = path;
    this.port = port;
    this.contentType = contentType;
    this.encoding = encoding;
  }

  /**
   * The body of a request with one profile.
   *
   * @param series what the store keeps the profile by: names with their values, in their order
   */
  abstract byte[] body(StateExport export, Map<String, String> series);

  /** How many profiles an answer says that the store has left out. */
  long rejected(byte[] answer) {
    return 0;
  }

  String contentType() {
    return contentType;
  }

  /** The value of {@code Content-Encoding}; empty: none. */
  String encoding() {
    return encoding;
  }

  /** As files of the spool end. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The store that a URL is of, by its path or else its port; null: neither says. */
  public static @Nullable Store of(URI url) {
    for (Store store : values()) {
      if (url.getPath() != null && url.getPath().endsWith(store.path)) {
        return store;
      }
    }
    for (Store store : values()) {
      if (url.getPort() == store.port) {
        return store;
      }
    }
    return null;
  }

  /** Where profiles go: the URL itself, or the path of the store below it. */
  public URI endpoint(URI url) {
    String given = url.getPath() == null ? "" : url.getPath();
    return given.endsWith(path) ? url : url.resolve(given.replaceAll("/+$", "") + path);
  }
}
