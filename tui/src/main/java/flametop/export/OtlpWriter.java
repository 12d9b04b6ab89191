package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.format.Numbering;
import flametop.profile.format.SampleLog.Frame;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
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
  private final Numbering<String> strings = numbering("");
  private final Numbering<String> modules = numbering("");
  private final Numbering<List<Long>> stacks = numbering(List.of());
  private final Numbering<List<Object>> attributes = numbering(List.of());
  private final Numbering<Frame> functions = new Numbering<>();
  private final Locations locations = new Locations(functions::get);

  OtlpWriter(StateExport export) {
    this.export = export;
  }

  private static <T> Numbering<T> numbering(T nothing) {
    Numbering<T> numbers = new Numbering<>();
    int unused = numbers.of(nothing);
    return numbers;
  }

  byte[] request(Map<String, String> resource, byte[] profileIds) {
    Map<StateExport.Column, Protobuf> profiles = new HashMap<>();
    List<StateExport.Column> columns = export.columns();
    for (StateExport.Column column : columns) {
      profiles.put(column, new Protobuf().field(1, type(column.type(), "nanoseconds")));
    }
    for (FoldedStack stack : export.stacks()) {
      int[] path = StackExport.path(stack, StateExport.groups(stack), functions);
      long[] places = locations.of(path, path.length);
      int number = stacks.of(Arrays.stream(places).boxed().toList());
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
              .field(5, type(provenance.clock(), "nanoseconds"))
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
        .packed(2, array(its))
        .packed(4, new long[] {share.value()});
  }

  private void attribute(List<Long> to, String key, Object value) {
    if (!value.equals("")) {
      to.add((long) attributes.of(List.of(key, value)));
    }
  }

  /** Strings are numbered last: all other tables refer to them. */
  private Protobuf dictionary() {
    Protobuf dictionary = new Protobuf();
    List<Protobuf> places = new ArrayList<>();
    for (List<Integer> called : locations.all()) {
      String module = functions.get(called.get(0)).module();
      Protobuf location =
          new Protobuf()
              .field(1, modules.of(module.isEmpty() ? export.provenance().host() : module));
      for (int i = called.size() - 1; i >= 0; i--) {
        location.field(3, new Protobuf().field(1, called.get(i) + 1));
      }
      places.add(location);
    }
    for (String module : modules.all()) {
      dictionary.field(1, new Protobuf().field(4, strings.of(module)));
    }
    dictionary.field(2, new Protobuf());
    places.forEach(location -> dictionary.field(2, location));
    dictionary.field(3, new Protobuf());
    for (Frame function : functions.all()) {
      int name = strings.of(function.name().isEmpty() ? "-" : function.name());
      int module = strings.of(function.module());
      dictionary.field(3, new Protobuf().field(1, name).field(2, name).field(3, module));
    }
    dictionary.field(4, new Protobuf());
    List<Protobuf> said = new ArrayList<>();
    for (List<Object> attribute : attributes.all()) {
      said.add(
          attribute.isEmpty()
              ? new Protobuf()
              : new Protobuf()
                  .field(1, strings.of((String) attribute.get(0)))
                  .field(2, anyValue(attribute.get(1))));
    }
    strings.all().forEach(text -> dictionary.field(5, text));
    said.forEach(attribute -> dictionary.field(6, attribute));
    for (List<Long> path : stacks.all()) {
      dictionary.field(7, new Protobuf().packed(1, array(path)));
    }
    return dictionary;
  }

  private static Protobuf anyValue(Object value) {
    return value instanceof Long number
        ? new Protobuf().field(3, number)
        : new Protobuf().field(1, (String) value);
  }

  private Protobuf type(String type, String unit) {
    return new Protobuf().field(1, strings.of(type)).field(2, strings.of(unit));
  }

  private static long[] array(List<Long> of) {
    return of.stream().mapToLong(number -> number).toArray();
  }
}
