package flametop.agent;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Where profiles go, and as what.
 *
 * @param url where they are sent, whole
 * @param token null: none is sent
 * @param tls null for plain HTTP
 * @param labels beside those of the host
 * @param everyNanos how long an interval is
 */
public record Push(
    Store store,
    URI url,
    @Nullable Token token,
    @Nullable SSLContext tls,
    Map<String, String> labels,
    long everyNanos) {
  static final String SERVICE = "service_name";
  static final String HOST = "host";

  /** The labels by which a store keeps the profiles of a host, in order: given labels win. */
  Map<String, String> series(String host) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(SERVICE, "flametop");
    all.put(HOST, host);
    all.putAll(labels);
    return all;
  }
}
