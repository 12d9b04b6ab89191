package flametop.cli.settings;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.TypeConversionException;

/** Values of options that are names of an enum's constants, in small letters. */
public final class Choice {
  private Choice() {}

  /**
   * The constant with a name.
   *
   * @throws TypeConversionException that lists the names, if none fits
   */
  public static <E extends Enum<E>> E of(Class<E> type, String text) {
    return of(List.of(type.getEnumConstants()), text);
  }

  /**
   * The constant with a name.
   *
   * @param constants all that are allowed, as the message lists them
   * @throws TypeConversionException that lists the names, if none fits
   */
  public static <E extends Enum<E>> E of(List<E> constants, String text) {
    for (E constant : constants) {
      if (name(constant).equals(text)) {
        return constant;
      }
    }
    throw new TypeConversionException(
        "'"
            + text
            + "' is none of "
            + constants.stream().map(Choice::name).collect(Collectors.joining(", ")));
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
