package flametop.sampler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class BridgeTest {
  @Test
  void agree_otherAbi_refusedNamingBoth() {
    SamplerException e = assertThrows(SamplerException.class, () -> Bridge.agree(12 << 16 | 3));
    assertEquals(SamplerException.Kind.NOT_POSSIBLE, e.kind());
    assertTrue(e.getMessage().contains("ABI 12 with stream version 3"), e::getMessage);
    assertTrue(e.getMessage().contains("ABI 12 with stream version 2"), e::getMessage);
    assertTrue(e.getMessage().contains("build both anew"), e::getMessage);
  }

  @Test
  void samplerException_textOfTheNativeSide_kindAndCleanLine() {
    SamplerException e = new SamplerException("3\tno \u001B[31mBTF\nhere");
    assertEquals(SamplerException.Kind.NOT_POSSIBLE, e.kind());
    assertEquals("no \uFFFD[31mBTF\uFFFDhere", e.getMessage());
    assertEquals(SamplerException.Kind.FAILED, new SamplerException("what").kind());
  }

  @Test
  void samplerException_specThatCannotBeRead_isUsage() {
    SamplerException e = new SamplerException("2\tcolumn 1: a source is missing");
    assertEquals(SamplerException.Kind.USAGE, e.kind());
  }

  @Test
  void sourceList_text_parsedAndClean() {
    assertEquals(
        new KernelSource.SourceList(
            7,
            List.of(
                new KernelSource.ListedSource("fault", "page faults", ""),
                new KernelSource.ListedSource("uprobe:/x:a\uFFFDb", "", "no root"))),
        KernelSource.sourceList(
            "7\nfault\tpage faults\t\nuprobe:/x:a\u001Bb\t\tno root\n".getBytes(UTF_8)));
    assertEquals(
        new KernelSource.SourceList(0, List.of()), KernelSource.sourceList("0\n".getBytes(UTF_8)));
  }

  @Test
  void checkLines_text_parsed() {
    assertEquals(
        List.of(
            new KernelSource.CheckLine(true, true, "kernel", "6.18", ""),
            new KernelSource.CheckLine(false, false, "cpuidle", "no driver", "none is needed")),
        KernelSource.checkLines(
            "ok\tneeded\tkernel\t6.18\t\nno\toptional\tcpuidle\tno driver\tnone is needed\njunk\n"));
  }
}
