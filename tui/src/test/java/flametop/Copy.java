package flametop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;

/** Copies of records. */
public final class Copy {
  private Copy() {}

  /**
   * A copy of which some components have other values.
   *
   * @param changes names of components, each followed by its value
   */
  @SuppressWarnings("unchecked")
  public static <R extends Record> R of(R record, Object... changes) {
    Map<Object, Object> changed = new HashMap<>();
    for (int i = 0; i < changes.length; i += 2) {
      changed.put(changes[i], changes[i + 1]);
    }
    RecordComponent[] parts = record.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[parts.length];
    Object[] values = new Object[parts.length];
    try {
      for (int i = 0; i < parts.length; i++) {
        Object name = parts[i].getName();
        types[i] = parts[i].getType();
        values[i] =
            changed.containsKey(name)
                ? changed.remove(name)
                : parts[i].getAccessor().invoke(record);
      }
      assertEquals(Map.of(), changed, "no component of the record");
      return (R) record.getClass().getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }
}
