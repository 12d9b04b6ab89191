package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TimeRange;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/** Exports made by hand. */
final class Exports {
  /** What breaks out of JSON, HTML, scripts, XML, folded lines and protobuf, if anything does. */
  static final List<String> HOSTILE =
      List.of(
          "</script><script>document.title='out'</script>",
          "<!--<script>",
          "-->",
          "]]>",
          "<img src=x onerror=\"document.title='out'\">",
          "&lt;&amp;&#0;",
          "\"'`\\",
          "\\u003cscript>",
          "${1+1}{{7*7}}",
          "__proto__",
          "constructor",
          "toString",
          "line\u2028and\u2029paragraph",
          "half \ud83d of a pair",
          "\udd25other half",
          "🔥 日本語 é",
          "\uffff\ufffe",
          "nul \0 bell \u0007 escape \u001b[2J",
          "a\nb\rc\td",
          "a;b;c 12",
          " leading and trailing ",
          "# comment: 5",
          "",
          "operator<< <std::char_traits<char> >(std::ostream&, char const*)",
          "x".repeat(28_000));

  private Exports() {}

  /** Names and kinds in turn, of process 7 on a CPU. */
  static FoldedStack stack(long value, Object... namesAndKinds) {
    String[] names = new String[namesAndKinds.length / 2];
    NodeKind[] kinds = new NodeKind[names.length];
    String[] modules = new String[names.length];
    for (int i = 0; i < names.length; i++) {
      names[i] = (String) namesAndKinds[2 * i];
      kinds[i] = (NodeKind) namesAndKinds[2 * i + 1];
      modules[i] = kinds[i] == NodeKind.PROCESS ? "" : "lib" + kinds[i];
    }
    return new FoldedStack(
        names,
        kinds,
        modules,
        value,
        List.of(new FoldedStack.Share(7, names[0], 0, "", State.RUN, value, 0)));
  }

  /** A stack of functions below a process; each of the kernel ends in {@code _[k]}. */
  static FoldedStack stack(long value, String process, String... functions) {
    Object[] namesAndKinds = new Object[2 + 2 * functions.length];
    namesAndKinds[0] = process;
    namesAndKinds[1] = NodeKind.PROCESS;
    for (int i = 0; i < functions.length; i++) {
      boolean kernel = functions[i].endsWith("_[k]");
      namesAndKinds[2 * i + 2] = functions[i].replace("_[k]", "");
      namesAndKinds[2 * i + 3] = kernel ? NodeKind.KERNEL : NodeKind.USER;
    }
    return stack(value, namesAndKinds);
  }

  /** The same stack of others. */
  static FoldedStack shared(FoldedStack of, FoldedStack.Share... shares) {
    long value = Stream.of(shares).mapToLong(FoldedStack.Share::value).sum();
    return new FoldedStack(of.names(), of.kinds(), of.modules(), value, List.of(shares));
  }

  /** Stacks in the order that the profile gives them in. */
  static StackExport of(Measure measure, FoldedStack... stacks) {
    return StackExport.of(provenance("web-1"), measure, List.of(stacks));
  }

  static Provenance provenance(String host) {
    StreamFacts facts =
        StreamFacts.parse(
            "host="
                + host.replace('\n', ' ')
                + "\nkernel=6.18.1\narch=x86_64\ntarget=pid 12\nhz.pass=19\nhz.cpu=199\n"
                + "time.monotonic=1000000000\ntime.wall=1700000000000000000\n");
    Extract.Scope scope =
        new Extract.Scope(
            TimeRange.before(31_000_000_000L, 30_000_000_000L),
            0,
            Optional.empty(),
            new String[] {"all", "</script>", "main 5"},
            Shape.of(new Shape.Comms(Set.of("<!-- & 9"), false)),
            19,
            99,
            new Snapshot.Losses(1, 2, 0.031, 0.024, 7, 0.01),
            Optional.empty(),
            false);
    return Provenance.of("flametop 0.0.0", facts, scope, StateSet.BUSY);
  }

  /** Every hostile name as process, function and module, at random depths, in order of names. */
  static StackExport hostile(long seed) {
    Random random = new Random(seed);
    List<FoldedStack> stacks = new ArrayList<>();
    List<String> roots = HOSTILE.stream().sorted().toList();
    for (String root : roots) {
      int depth = 1 + random.nextInt(6);
      String[] names = new String[depth + 1];
      NodeKind[] kinds = new NodeKind[names.length];
      String[] modules = new String[names.length];
      names[0] = root;
      kinds[0] = NodeKind.PROCESS;
      modules[0] = "";
      for (int i = 1; i < names.length; i++) {
        names[i] = HOSTILE.get(random.nextInt(HOSTILE.size()));
        kinds[i] = NodeKind.values()[2 + random.nextInt(7)];
        modules[i] = HOSTILE.get(random.nextInt(HOSTILE.size()));
      }
      List<FoldedStack.Share> shares = new ArrayList<>();
      long value = 0;
      for (State state : State.values()) {
        long part = random.nextInt(300_000_000);
        value += part;
        if (part > 0) {
          shares.add(
              new FoldedStack.Share(
                  random.nextInt(3), root, random.nextInt(2), root, state, part, 0));
        }
      }
      // Of some it is not known whose they are.
      boolean known = random.nextInt(4) > 0;
      stacks.add(new FoldedStack(names, kinds, modules, value, known ? shares : List.of()));
    }
    return StackExport.of(
        provenance(HOSTILE.get(random.nextInt(HOSTILE.size()))), Measure.TIME, stacks);
  }

  static List<FoldedStack> stacks(StackExport export) {
    List<FoldedStack> stacks = new ArrayList<>();
    export.stacks().forEach(stacks::add);
    return stacks;
  }

  static byte[] bytes(StackFormat format, StackExport export) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long stacks = format.write(export, out);
    assertEquals(stacks(export).size(), stacks);
    return out.toByteArray();
  }
}
