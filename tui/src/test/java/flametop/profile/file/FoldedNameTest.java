package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.NodeKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FoldedNameTest {
  private static void assertWritten(String expected, NodeKind kind, String name) {
    assertEquals(expected, FoldedName.of(kind, name));
    StackNames names = new StackNames();
    byte[] text = expected.getBytes(UTF_8);
    int function = StackNames.function(names.intern(text, 0, text.length), false);
    assertEquals(kind, names.kind(function));
    assertEquals(name, names.name(function));
    assertEquals(function, names.function(kind, "", name));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[truncated]",
        "[mm busy]",
        "[mm busy: hog 12]",
        "[not sampled]",
        "[irq or stolen]",
        "[older]",
        "[no stack]",
        "[naming]",
        "[32-bit code]",
        "[not in memory]",
        "f_[k]",
        "f_[j]",
        "f_[i]",
        "f_[p]",
        "f_[h]",
        "f_[r]",
        "worker 12",
        "v 1.5"
      })
  void of_symbolThatLooksLikeSomethingElse_isMarkedAndReadBack(String name) {
    assertWritten(name + "_", NodeKind.USER, name);
    assertWritten(name + "__", NodeKind.USER, name + "_");
    assertWritten(name + "_[k]", NodeKind.KERNEL, name);
  }

  @ParameterizedTest
  @CsvSource({
    "f,USER,f",
    "f_,USER,f_",
    "f12,USER,f12",
    "f_[x],USER,f_[x]",
    "[truncated],REASON,[truncated]",
    "[mm busy: hog 12],REASON,[mm busy: hog 12]",
    "[older],REASON,[older]",
    "[unknown],UNKNOWN,[unknown]",
    "[tornado],UNKNOWN,[tornado]",
    "vfs_read_[k],KERNEL,vfs_read",
    "f_[j],JIT,f",
    "f_[i],INLINED,f",
    "json.loads_[p],PYTHON,json.loads",
    "Cart::total_[h],PHP,Cart::total",
    "Cart#total_[r],RUBY,Cart#total",
  })
  void of_plainName_isAsItWas(String written, NodeKind kind, String name) {
    assertWritten(written, kind, name);
  }
}
