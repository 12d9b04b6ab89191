package flametop.profile.file;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.ProcessRow;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The lists to pick from of a file: whose its stacks are, whatever the shape of the graph is. */
final class OwnerRows {
  /** What a row stands for: a number, a name, or both. */
  private record Key(int number, String name) {}

  private OwnerRows() {}

  /** Rows by what the tree of all stacks says, the heaviest first. */
  static List<ProcessRow> of(StackTree all, StackNames names, ProcessRow.By by) {
    all.sumUp();
    Map<Key, Long> weights = new LinkedHashMap<>();
    for (int node = all.firstChild(0); node >= 0; node = all.sibling(node)) {
      Key key = key(names, all.function(node), by);
      if (key != null) {
        weights.merge(key, all.weight(node, 0), Long::sum);
      }
    }
    long total = all.weight(0, 0);
    List<ProcessRow> rows = new ArrayList<>(weights.size());
    weights.forEach((key, weight) -> rows.add(row(key.number, key.name, weight, total)));
    rows.sort(ProcessRow.HEAVIEST_FIRST);
    return rows;
  }

  /** Rows of the sample types, in the order of the file. */
  static List<ProcessRow> ofTypes(List<String> types) {
    return types.stream().map(type -> row(0, type, 0, -1)).toList();
  }

  private static ProcessRow row(int number, String name, long weight, long total) {
    int[] tasks = new int[State.values().length];
    return new ProcessRow(number, 1, 0, name, "", weight, total, tasks, true);
  }

  /** What the row of an owner stands for; null if the file does not say that. */
  private static @Nullable Key key(StackNames names, int function, ProcessRow.By by) {
    Owner owner = names.owner(function);
    return switch (by) {
      case COMM -> new Key(0, owner.comm());
      case PROCESS -> owner.pid() == 0 ? null : new Key(owner.pid(), names.owners().process(owner));
      case CGROUP -> owner.cgroup().isEmpty() ? null : new Key(0, owner.cgroup());
      case STATE -> {
        State state = owner.state();
        yield state == null ? null : new Key(state.ordinal(), state.label());
      }
      case SAMPLE_TYPE -> throw new IllegalArgumentException("owners have no sample types");
    };
  }
}
