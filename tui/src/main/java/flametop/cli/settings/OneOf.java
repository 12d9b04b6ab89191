package flametop.cli.settings;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Values of an option that are constants of an enum, in small letters: how they are read, and what
 * shells complete.
 */
public abstract class OneOf<E extends Enum<E>> implements ITypeConverter<E>, Iterable<String> {
  private final List<E> constants;

  /**
   * @param constants all that are allowed, as the message about another word lists them
   */
  protected OneOf(List<E> constants) {
    this.constants = constants;
  }

  /**
   * @throws TypeConversionException that lists the names, if none fits
   */
  @Override
  public E convert(String text) {
    for (E constant : constants) {
      if (name(constant).equals(text)) {
        return constant;
      }
    }
    throw new TypeConversionException("'" + text + "' is none of " + String.join(", ", this));
  }

  @Override
  public Iterator<String> iterator() {
    return constants.stream().map(OneOf::name).iterator();
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
