package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The examples of the encoding's description. */
class ProtobufTest {
  private static String hex(Protobuf message) {
    return HexFormat.of().formatHex(message.take());
  }

  @Test
  void field_integer_varint() {
    assertEquals("089601", hex(new Protobuf().field(1, 150)));
  }

  @Test
  void field_negative_tenBytes() {
    assertEquals("08feffffffffffffffff01", hex(new Protobuf().field(1, -2)));
  }

  @Test
  void field_zero_isNotThere() {
    assertEquals("", hex(new Protobuf().field(1, 0)));
  }

  @Test
  void field_text_lengthAndUtf8() {
    assertEquals("120774657374696e67", hex(new Protobuf().field(2, "testing")));
    assertEquals("1200", hex(new Protobuf().field(2, "")));
  }

  @Test
  void field_message_lengthAndFields() {
    assertEquals("1a03089601", hex(new Protobuf().field(3, new Protobuf().field(1, 150))));
  }

  @Test
  void packed_integers_oneField() {
    assertEquals("3206038e029ea705", hex(new Protobuf().packed(6, new long[] {3, 270, 86942})));
  }
}
