package flametop.profile.format;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads profiles in JSON: those of speedscope, of V8 ({@code .cpuprofile}) and traces of Chrome.
 * The fields of the outermost object say which one a file is, in whatever order the fields stand.
 */
final class JsonReader implements ProfileReader {
  private static final int MOST_DEPTH = 500;
  private static final int MOST_STRING = 1 << 20;
  private static final int MOST_NAME = 1 << 12;

  /** An int has at least so many digits. */
  static final int DIGITS_OF_INT = 9;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          // Names are kept in a table of the parser, which drops all when there are 65,536.
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MOST_DEPTH)
                  .maxStringLength(MOST_STRING)
                  .maxNameLength(MOST_NAME)
                  .maxNumberLength(1_000)
                  .build())
          .build();

  private final TraceJson trace = new TraceJson();
  private boolean isKnown;

  @Override
  public void read(Source source, StackSink to) throws IOException {
    IOException failed = null;
    JsonInput input = new JsonInput(source.stream());
    SpeedscopeJson speedscope = new SpeedscopeJson(to.wantsOrder(), input);
    CpuProfileJson v8 = new CpuProfileJson(input);
    try (JsonParser json = FACTORY.createParser(input)) {
      json.disable(JsonParser.Feature.AUTO_CLOSE_SOURCE);
      try {
        top(json, speedscope, v8);
      } catch (JacksonException e) {
        failed = reason(e, input);
      } catch (IOException e) {
        failed = e;
      }
    }
    speedscope.write(to);
    v8.write(to);
    trace.write(to);
    if (failed != null) {
      throw failed;
    }
    if (!isKnown) {
      throw new IOException(
          "it is JSON, but no profile that can be read: speedscope, a .cpuprofile of V8, a trace of"
              + " Chrome");
    }
  }

  /** Whether a parser failed because there is no more; behind a comma only its words say so. */
  static boolean endsEarly(JacksonException e) {
    return e instanceof JsonEOFException
        || e.getOriginalMessage().startsWith("Unexpected end-of-input");
  }

  private static IOException reason(JacksonException e, JsonInput input) {
    if (endsEarly(e)) {
      return new IOException("it ends too early", e);
    }
    if (e instanceof StreamConstraintsException) {
      return new IOException(
          "its JSON is nested more than "
              + MOST_DEPTH
              + " deep, or has a string of more than "
              + (MOST_STRING >> 20)
              + " MiB, a name of more than "
              + MOST_NAME
              + " bytes, or a number of more than 1,000 digits",
          e);
    }
    long place = e.getLocation().getByteOffset();
    return new IOException(
        place < 0 ? "damaged JSON" : "damaged JSON at byte " + (input.place(place) + 1), e);
  }

  private void top(JsonParser json, SpeedscopeJson speedscope, CpuProfileJson v8)
      throws IOException {
    JsonToken first = json.nextToken();
    if (first == JsonToken.START_ARRAY) {
      isKnown = true;
      trace.openEvents(json);
      return;
    }
    if (first != JsonToken.START_OBJECT) {
      return;
    }
    for (String name; (name = nextField(json)) != null; ) {
      boolean used =
          switch (name) {
            case "shared" -> speedscope.shared(json);
            case "profiles" -> speedscope.profiles(json);
            case "traceEvents" -> trace.events(json);
            case "stackFrames" -> trace.frames(json);
            case "samples" -> v8.field(name, json, trace::sample);
            case "nodes", "timeDeltas", "startTime", "endTime" -> v8.field(name, json);
            case "exporter" -> {
              speedscope.exporter(text(json));
              yield false;
            }
            case "firstFrame" -> {
              speedscope.firstFrame(text(json));
              yield false;
            }
            default -> false;
          };
      if (used) {
        isKnown = true;
      } else {
        json.skipChildren();
      }
    }
  }

  /**
   * Goes to the value of the next field.
   *
   * @return the name of the field; null at the end of the object
   */
  static @Nullable String nextField(JsonParser json) throws IOException {
    String name = json.nextFieldName();
    if (name == null && !json.hasCurrentToken()) {
      throw new IOException("it ends too early");
    }
    if (name != null) {
      json.nextToken();
    }
    return name;
  }

  /**
   * Goes to the next element of an array, or behind it.
   *
   * @return the token of the element; null at the end of the array
   */
  static @Nullable JsonToken nextElement(JsonParser json) throws IOException {
    JsonToken token = json.nextToken();
    if (token == null) {
      throw new IOException("it ends too early");
    }
    return token == JsonToken.END_ARRAY ? null : token;
  }

  /** Goes to the next element of an array that is an object; false at the end of the array. */
  static boolean nextObject(JsonParser json) throws IOException {
    for (JsonToken t; (t = nextElement(json)) != null; json.skipChildren()) {
      if (t == JsonToken.START_OBJECT) {
        return true;
      }
    }
    return false;
  }

  /** The text of a value; empty if it is none. */
  static String text(JsonParser json) throws IOException {
    String text = json.getValueAsString("");
    json.skipChildren();
    return text;
  }

  /** A whole number; -1 if the value is none. */
  static long whole(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      json.skipChildren();
      return -1;
    }
    return json.getTextLength() <= DIGITS_OF_INT
        ? json.getIntValue()
        : json.getNumberType() == JsonParser.NumberType.BIG_INTEGER ? -1 : json.getLongValue();
  }
}
