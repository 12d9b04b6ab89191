package flametop.agent;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a store keeps profiles by.
 *
 * @param labels names with their values, in their order
 */
public record Series(Map<String, String> labels) {
  public static final String SERVICE = "service_name";
  public static final String HOST = "host";

  /** The labels of a host, over which those that were given win. */
  public static Series of(String host, Map<String, String> given) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(SERVICE, "flametop");
    labels.put(HOST, host);
    labels.putAll(given);
    return new Series(labels);
  }
}
