package flametop.export;

import flametop.profile.answer.FoldedStack;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Makes an {@code ExportProfilesServiceRequest} of OTLP, version <i>v1development</i>, which may
 * still change. A profile has one type of value here, so that each kind of state is a profile; all
 * share one dictionary, in which number 0 of each table is nothing.
 *
 * @see <a
 *     href="https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto">its
 *     definition</a>
 */
final class OtlpWriter {
  private static final int ID_BYTES = 16;

  private final StateExport export;
  private final Map<String, Integer> strings = new LinkedHashMap<>();
  private final Map<String, Integer> modules = new LinkedHashMap<>();
  private final Map<List<Integer>, Integer> locations = new LinkedHashMap<>();
  private final Map<List<Integer>, Integer> stacks = new LinkedHashMap<>();
  private final Map<List<Object>, Integer> attributes = new LinkedHashMap<>();
  private final FunctionTable functions = new FunctionTable();

  OtlpWriter(StateExport export) {
    this.export = export;
    int unused = string("");
    number(modules, "");
    number(locations, List.of());
    number(stacks, List.of());
    number(attributes, List.of());
  }

  byte[] request(Map<String, String> resource, byte[] profileIds) {
    Map<StateExport.Column, Protobuf> profiles = new HashMap<>();
    List<StateExport.Column> columns = export.columns();
    for (StateExport.Column column : columns) {
      profiles.put(column, new Protobuf().field(1, type(column.type(), "nanoseconds")));
    }
    for (FoldedStack stack : export.stacks()) {
      int number = number(stacks, path(stack));
      for (FoldedStack.Share share : stack.shares()) {
        Protobuf profile = profiles.get(StateExport.Column.of(share));
        if (profile != null) {
          profile.field(2, sample(number, stack, share));
        }
      }
    }
    Provenance provenance = export.provenance();
    Protobuf scope =
        new Protobuf().field(1, new Protobuf().field(1, "flametop").field(2, provenance.program()));
    for (int i = 0; i < columns.size(); i++) {
      Protobuf profile = Objects.requireNonNull(profiles.get(columns.get(i)));
      scope.field(
          2,
          profile
              .fixed(3, provenance.endNanos() - provenance.coveredNanos())
              .field(4, provenance.coveredNanos())
              .field(5, type(provenance.cpuClock() ? "cpu" : "wall", "nanoseconds"))
              .field(6, provenance.periodNanos())
              .field(7, Arrays.copyOfRange(profileIds, i * ID_BYTES, (i + 1) * ID_BYTES)));
    }
    Protobuf of = new Protobuf();
    resource.forEach(
        (key, value) -> of.field(1, new Protobuf().field(1, key).field(2, anyValue(value))));
    return new Protobuf()
        .field(1, new Protobuf().field(1, of).field(2, scope))
        .field(2, dictionary())
        .take();
  }

  private Protobuf sample(int stack, FoldedStack of, FoldedStack.Share share) {
    List<Long> its = new ArrayList<>();
    attribute(its, "process.pid", share.pid() > 0 ? (Object) (long) share.pid() : "");
    attribute(its, "process.executable.name", share.process());
    attribute(its, "process.linux.cgroup", StateExport.cgroup(of));
    attribute(its, "flametop.process", StateExport.process(of));
    attribute(its, "flametop.state", share.stateLabel());
    return new Protobuf()
        .field(1, stack)
        .packed(2, its.stream().mapToLong(n -> n).toArray())
        .packed(4, new long[] {share.value()});
  }

  private void attribute(List<Long> to, String key, Object value) {
    if (!value.equals("")) {
      to.add((long) number(attributes, List.of(key, value)));
    }
  }

  /** Locations of a stack, innermost first. */
  private List<Integer> path(FoldedStack stack) {
    List<Integer> path = new ArrayList<>();
    int frames = stack.names().length;
    for (int i = StateExport.groups(stack); i < frames; ) {
      List<Integer> called = new ArrayList<>();
      called.add(functions.of(stack, i++));
      while (i < frames && functions.isInlinedAt(stack, i)) {
        called.add(functions.of(stack, i++));
      }
      path.add(0, number(locations, called));
    }
    return path;
  }

  /** Strings are numbered last: all other tables refer to them. */
  private Protobuf dictionary() {
    Protobuf dictionary = new Protobuf();
    List<Protobuf> places = new ArrayList<>();
    for (List<Integer> called : locations.keySet()) {
      Protobuf location = new Protobuf();
      if (!called.isEmpty()) {
        String module = functions.get(called.get(0)).module();
        location.field(1, number(modules, module.isEmpty() ? export.provenance().host() : module));
        for (int i = called.size() - 1; i >= 0; i--) {
          location.field(3, new Protobuf().field(1, called.get(i) + 1));
        }
      }
      places.add(location);
    }
    for (String module : modules.keySet()) {
      dictionary.field(1, new Protobuf().field(4, string(module)));
    }
    places.forEach(location -> dictionary.field(2, location));
    dictionary.field(3, new Protobuf());
    for (int i = 0; i < functions.size(); i++) {
      FunctionTable.Function function = functions.get(i);
      int name = string(function.name().isEmpty() ? "-" : function.name());
      dictionary.field(
          3, new Protobuf().field(1, name).field(2, name).field(3, string(function.module())));
    }
    dictionary.field(4, new Protobuf());
    List<Protobuf> said = new ArrayList<>();
    for (List<Object> attribute : attributes.keySet()) {
      said.add(
          attribute.isEmpty()
              ? new Protobuf()
              : new Protobuf()
                  .field(1, string((String) attribute.get(0)))
                  .field(2, anyValue(attribute.get(1))));
    }
    for (String text : strings.keySet()) {
      dictionary.field(5, text);
    }
    said.forEach(attribute -> dictionary.field(6, attribute));
    for (List<Integer> path : stacks.keySet()) {
      dictionary.field(
          7, new Protobuf().packed(1, path.stream().mapToLong(Integer::longValue).toArray()));
    }
    return dictionary;
  }

  private static Protobuf anyValue(Object value) {
    return value instanceof Long number
        ? new Protobuf().field(3, number)
        : new Protobuf().field(1, (String) value);
  }

  private Protobuf type(String type, String unit) {
    return new Protobuf().field(1, string(type)).field(2, string(unit));
  }

  private int string(String text) {
    return number(strings, text);
  }

  private static <T> int number(Map<T, Integer> table, T of) {
    Integer known = table.putIfAbsent(of, table.size());
    return known == null ? table.size() - 1 : known;
  }
}
