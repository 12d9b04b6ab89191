package flametop.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.export.StackFormat;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a profile says of its owners is the same after a conversion to pprof and back. */
final class OwnerRoundTripTest {
  private static final int PROFILES = 40;

  @TempDir private Path folder;

  /** The amounts by stack and owner, and the profile as pprof. */
  private record Read(Map<String, Long> amounts, byte[] pprof) {}

  private Read read(byte[] bytes) throws Exception {
    Path path = Files.write(folder.resolve("x"), bytes);
    try (StackFile file = StackFile.added(List.of(StackInput.open(path)), StackFile.Choice.NONE)) {
      Snapshot.Reading reading = file.whole().get();
      Map<String, Long> amounts = new TreeMap<>();
      for (FoldedStack stack : file.held(0).get()) {
        for (FoldedStack.Share share : stack.shares()) {
          String owner =
              share.pid() + "/" + share.tid() + " " + share.thread() + " " + share.state();
          amounts.merge(String.join(";", stack.names()) + " of " + owner, share.value(), Long::sum);
        }
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      StackFormat.PPROF.write(FileScreen.export(reading, file.held(0).get(), null), out);
      return new Read(amounts, out.toByteArray());
    }
  }

  @Test
  void pprof_ofAnyProcessesAndThreads_keepsThem() throws Exception {
    Random random = new Random(11);
    int owners = 0;
    for (int i = 0; i < PROFILES; i++) {
      StringBuilder text = new StringBuilder();
      for (int sample = random.nextInt(60); sample >= 0; sample--) {
        int pid = 1 + random.nextInt(4);
        int tid = pid * 10 + random.nextInt(3);
        String comm = "c" + random.nextInt(3);
        text.append(comm).append(' ');
        text.append(random.nextBoolean() ? pid + "/" + tid : "" + tid);
        text.append(" [000] 1.000001: ").append(1 + random.nextInt(9)).append(" cycles: \n");
        for (int frame = random.nextInt(4); frame >= 0; frame--) {
          text.append("\t 401000 f").append(random.nextInt(5)).append(" (/bin/x)\n");
        }
        text.append('\n');
      }
      Read first = read(text.toString().getBytes(UTF_8));
      Read second = read(first.pprof);
      assertEquals(first.amounts, second.amounts, "profile " + i);
      owners += first.amounts.size();
    }
    assertTrue(owners > PROFILES, owners + " owners");
  }
}
