package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OpenEnumTest {
  static Stream<Class<?>> types() {
    return Arrays.stream(OpenEnum.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @MethodSource("types")
  void isKnown_valuesThatHaveAName_areKnownAndTheNextIsNot(Class<?> type) throws Exception {
    OpenEnum[] named =
        Arrays.stream(type.getDeclaredFields())
            .filter(field -> field.getType() == type && Modifier.isPublic(field.getModifiers()))
            .map(
                field -> {
                  try {
                    return (OpenEnum) field.get(null);
                  } catch (IllegalAccessException e) {
                    throw new AssertionError(e);
                  }
                })
            // One may stand for all that are unknown.
            .filter(value -> value.number() < 256)
            .toArray(OpenEnum[]::new);
    assertTrue(named.length > 1);
    for (OpenEnum value : named) {
      assertTrue(value.isKnown(), () -> type.getSimpleName() + " " + value.number());
      assertEquals(value.number(), value.ordinal());
    }
    int next = Arrays.stream(named).mapToInt(OpenEnum::number).max().orElseThrow() + 1;
    OpenEnum other = (OpenEnum) type.getMethod("of", int.class).invoke(null, next);
    assertTrue(!other.isKnown(), () -> type.getSimpleName() + " " + next);
  }
}
