package flametop.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.export.Provenance;
import flametop.export.SampleExport;
import flametop.export.StackFormat;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import flametop.profile.format.Place;
import flametop.profile.format.ProfileFacts;
import flametop.profile.format.SampleLog;
import flametop.profile.format.StackSink;
import flametop.profile.format.Unit;
import flametop.sampler.State;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Any samples that are written in a format and read again are the same, as far as the format can
 * hold them.
 */
@Timeout(120)
final class SampleRoundTripTest {
  private static final int PROFILES = 30;
  private static final List<NodeKind> KINDS =
      List.of(
          NodeKind.USER,
          NodeKind.KERNEL,
          NodeKind.JIT,
          NodeKind.PYTHON,
          NodeKind.PHP,
          NodeKind.RUBY);
  private static final List<String> NAMES =
      List.of("f", "a::b<c, d>", "é日本", "x_[k]", "two words", "\"q\"\\", "12", "[vdso]");

  @TempDir private Path folder;

  /** Samples at random: of one type in their order, or sums of several types. */
  private static SampleLog random(Random random, boolean ordered) {
    SampleLog log = new SampleLog(ordered);
    SampleLog.Input input = log.new Input();
    boolean owned = random.nextBoolean();
    int types = ordered ? 1 : 1 + random.nextInt(3);
    List<Unit> units =
        List.of(Unit.of("nanoseconds", ""), Unit.of("bytes", ""), Unit.of("count", "objects"));
    for (int i = 0; i < types; i++) {
      input.type(List.of("cpu", "space", "objects").get(i), units.get(i), true);
    }
    input.prefer(random.nextInt(types));
    List<Integer> owners = new ArrayList<>();
    int frames = 0;
    if (owned) {
      input.owners();
      for (; frames < 4; frames++) {
        int pid = random.nextInt(3);
        State state = random.nextBoolean() ? State.of(random.nextInt(4)) : null;
        String group = random.nextBoolean() ? "/a.slice" : "";
        // A comm alone says no more than its name.
        int tid = 10 + frames;
        Owner owner = new Owner("comm " + frames % 2, pid, "t" + frames % 3, tid, group, state);
        input.frame(NodeKind.PROCESS, owner.comm(), "", Place.NONE, owner);
        owners.add(frames);
      }
    }
    int first = frames;
    for (; frames < first + 8; frames++) {
      NodeKind kind = KINDS.get(random.nextInt(KINDS.size()));
      boolean inlined = random.nextInt(4) == 0;
      String kernel = random.nextBoolean() ? "[kernel.kallsyms]" : "/lib/nf.ko";
      String module =
          kind == NodeKind.KERNEL
              ? kernel
              : List.of(inlined ? "m" : "", "m", "/usr/lib/x.so").get(random.nextInt(3));
      Place place =
          random.nextBoolean()
              ? Place.NONE
              : new Place("/src/" + frames + ".c", 1 + random.nextInt(9), random.nextInt(3));
      input.frame(
          inlined ? NodeKind.INLINED : kind,
          NAMES.get(random.nextInt(NAMES.size())),
          module,
          place,
          null);
    }
    for (int sample = random.nextInt(50); sample >= 0; sample--) {
      int depth = 1 + random.nextInt(6);
      int[] stack = new int[depth + 1];
      int at = 0;
      if (owned) {
        stack[at++] = owners.get(random.nextInt(owners.size()));
      }
      for (int i = 0; i < depth; i++) {
        stack[at++] = first + random.nextInt(8);
      }
      if (!ordered && random.nextInt(3) == 0) {
        input.labels(
            random.nextBoolean()
                ? List.of()
                : List.of(
                    new StackSink.Label("endpoint", "/x" + random.nextInt(2), 0, ""),
                    new StackSink.Label("bytes", "", 1L << random.nextInt(40), "bytes")));
      }
      for (int type = 0; type < types; type++) {
        long parts = units.get(type).parts();
        // bytes and counts with a fraction, too.
        long value = 1 + random.nextInt(1000) * (random.nextBoolean() ? parts : 1);
        input.stack(type, stack, at, value);
      }
    }
    input.facts(
        new ProfileFacts(
            1_700_000_000_000_000_000L, 30_000_000_000L, "cpu", "ns", 99, List.of("by: hand")));
    return log;
  }

  private static byte[] written(SampleLog log, StackFormat format) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Provenance provenance =
        new Provenance(
            "flametop 0",
            "m",
            0,
            0,
            0,
            false,
            List.of(new Provenance.Fact("program", "flametop 0")));
    new SampleExport(provenance, log, SampleExport.By.STATE).write(format, out);
    return out.toByteArray();
  }

  private SampleLog read(byte[] bytes, boolean ordered) throws Exception {
    Path path = Files.write(folder.resolve("x"), bytes);
    SampleLog log = new SampleLog(ordered);
    StackFile.Choice choice = new StackFile.Choice(null, "", false, log);
    try (StackFile file = StackFile.added(List.of(StackInput.open(path)), choice)) {
      Snapshot.Reading unused = file.whole().get();
      assertTrue(file.use().get().whole(), file.complaints().get()::toString);
    }
    assertTrue(log.isWhole(), "the log misses something");
    return log;
  }

  private static String text(SampleLog log, int[] frames, int depth) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < depth; i++) {
      SampleLog.Frame frame = log.frame(frames[i]);
      text.append("\n  ").append(frame);
    }
    return text.toString();
  }

  /** The sums by stack and labels: all that samples without an order say. */
  private static Map<String, String> sums(SampleLog log) {
    Map<String, long[]> sums = new TreeMap<>();
    log.sums(
        (labels, frames, depth, values) -> {
          long[] sum =
              sums.computeIfAbsent(
                  labels + text(log, frames, depth), none -> new long[values.length]);
          for (int i = 0; i < sum.length; i++) {
            sum[i] += values[i];
          }
        });
    Map<String, String> all = new TreeMap<>();
    sums.forEach((key, sum) -> all.put(key, values(log, sum)));
    return all;
  }

  private static String values(SampleLog log, long[] values) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < values.length; i++) {
      Unit unit = log.types().get(i).unit();
      text.append(log.types().get(i).name()).append(' ').append(unit.name()).append(' ');
      text.append(java.math.BigDecimal.valueOf(values[i], unit.digits()).stripTrailingZeros());
      text.append(", ");
    }
    return text.toString();
  }

  /** The samples of each owner, one after the other. */
  private static Map<String, List<String>> inOrder(SampleLog log) {
    Map<String, List<String>> samples = new TreeMap<>();
    log.each(
        (labels, frames, depth, values) -> {
          Owner owner = log.frame(frames[0]).owner();
          samples
              .computeIfAbsent(String.valueOf(owner), none -> new ArrayList<>())
              .add(
                  text(log, frames, depth)
                      + " "
                      + java.math.BigDecimal.valueOf(values[0], log.types().get(0).unit().digits())
                          .stripTrailingZeros());
        });
    return samples;
  }

  @Test
  void pprof_ofAnySamples_keepsTypesLabelsPlacesAndOwners() throws Exception {
    Random random = new Random(3);
    int labelled = 0;
    for (int i = 0; i < PROFILES; i++) {
      SampleLog before = random(random, false);
      SampleLog after = read(written(before, StackFormat.PPROF), false);
      Map<String, String> sums = sums(before);
      assertEquals(sums, sums(after), "profile " + i);
      assertEquals(
          before.types().get(before.preferred()).name(),
          after.types().get(after.preferred()).name());
      assertEquals(before.hasOwners(), after.hasOwners());
      assertEquals(before.facts().beginNanos(), after.facts().beginNanos());
      assertEquals(before.facts().period(), after.facts().period());
      assertTrue(after.facts().comments().contains("by: hand"));
      labelled += (int) sums.keySet().stream().filter(key -> key.contains("endpoint")).count();
    }
    assertTrue(labelled > PROFILES, labelled + " stacks with labels");
  }

  @Test
  void speedscope_ofAnySamples_keepsOrderPlacesAndOwners() throws Exception {
    Random random = new Random(4);
    int owned = 0;
    for (int i = 0; i < PROFILES; i++) {
      SampleLog before = random(random, true);
      SampleLog after = read(written(before, StackFormat.SPEEDSCOPE), true);
      assertEquals(inOrder(before), inOrder(after), "profile " + i);
      assertEquals(before.hasOwners(), after.hasOwners());
      owned += before.hasOwners() ? 1 : 0;
    }
    assertTrue(owned > 10 && owned < PROFILES - 10, owned + " with owners");
  }

  @Test
  void folded_ofAnyStacks_keepsNamesKindsAndNumbers() throws Exception {
    Random random = new Random(5);
    for (int i = 0; i < PROFILES; i++) {
      StringBuilder text = new StringBuilder();
      Map<String, Long> expected = new LinkedHashMap<>();
      for (int line = random.nextInt(30); line >= 0; line--) {
        StringBuilder stack = new StringBuilder();
        for (int frame = random.nextInt(5); frame >= 0; frame--) {
          stack.append(NAMES.get(random.nextInt(NAMES.size())).replace("12", "twelve"));
          stack.append(List.of("", "_[j]", "_[i]", "_[p]", "_[h]").get(random.nextInt(5)));
          stack.append(frame > 0 ? ";" : "");
        }
        long value = 1L + random.nextInt(100);
        text.append(stack).append(' ').append(value).append('\n');
      }
      Map<String, Long> first = stacks(text.toString().getBytes(UTF_8), expected);
      for (StackFormat format :
          List.of(StackFormat.FOLDED, StackFormat.PPROF, StackFormat.SPEEDSCOPE)) {
        Path in = Files.writeString(folder.resolve("in"), text);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (StackFile file =
            StackFile.added(List.of(StackInput.open(in)), StackFile.Choice.NONE)) {
          Snapshot.Reading reading = file.whole().get();
          format.write(FileScreen.export(reading, file.held(0).get(), null), out);
        }
        assertEquals(first, stacks(out.toByteArray(), new TreeMap<>()), format + " " + i);
      }
    }
  }

  private Map<String, Long> stacks(byte[] bytes, Map<String, Long> into) throws Exception {
    Path path = Files.write(folder.resolve("y"), bytes);
    try (StackFile file = StackFile.added(List.of(StackInput.open(path)), StackFile.Choice.NONE)) {
      Snapshot.Reading reading = file.whole().get();
      assertFalse(reading.stacks() == 0, () -> "nothing was read");
      long parts = reading.measure().parts();
      for (FoldedStack stack : file.held(0).get()) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < stack.names().length; i++) {
          text.append(stack.names()[i]).append(' ').append(stack.kinds()[i]).append(';');
        }
        into.merge(text.toString(), stack.value() / parts, Long::sum);
      }
      return new TreeMap<>(into);
    }
  }
}
