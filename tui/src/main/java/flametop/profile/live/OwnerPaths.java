package flametop.profile.live;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.log.Owners;
import flametop.profile.log.Processes;
import flametop.profile.log.Stacks;
import flametop.profile.tree.CallTree;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The nodes between the root of a graph and the frames: whose time it is, by the root order. */
final class OwnerPaths {
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final Owners owners;
  private final Stacks stacks;
  private final RootOrder order;

  OwnerPaths(Owners owners, Stacks stacks, RootOrder order) {
    this.owners = owners;
    this.stacks = stacks;
    this.order = order;
  }

  /** The pool of an owner, whose samples place the owner's time: the owner's node below all. */
  Object pool(int owner) {
    if (owner == Owners.OLDER) {
      return "older";
    }
    return switch (order) {
      case THREAD -> owner;
      case PROCESS -> List.of(owners.process(owner), owners.service(owner), owners.kind(owner));
      case CGROUP -> List.of(owners.cgroup(owner), owners.service(owner), owners.kind(owner));
      case ANCESTOR -> List.of(owners.ancestor(owner), owners.service(owner), owners.kind(owner));
      case COMM -> List.of(owners.processComm(owner), owners.kind(owner));
      case NONE, CPU, SERVICE -> List.of(owners.service(owner), owners.kind(owner));
    };
  }

  /** Appends the functions of the nodes of an owner on a CPU. */
  void append(int owner, int cpu, IntColumn to) {
    if (owner == Owners.OLDER && order != RootOrder.CPU) {
      return;
    }
    switch (order) {
      case NONE -> {}
      case CPU -> to.add(thread(cpu == Shape.NO_CPU ? "[no cpu]" : "cpu " + cpu));
      case SERVICE -> process(owners.service(owner), owner, to);
      case COMM -> process(owners.processComm(owner), owner, to);
      case PROCESS -> process(owners.service(owner) + "-" + tgid(owner), owner, to);
      case THREAD -> {
        // The name of each thread tells its kind.
        to.add(process(owners.service(owner) + "-" + tgid(owner)));
        int tid = owners.tid(owner);
        if (tid != Owners.NONE) {
          to.add(thread(owners.comm(owner) + "-" + tid));
        }
      }
      case CGROUP -> {
        cgroups(owners.cgroup(owner), to);
        process(owners.service(owner), owner, to);
      }
      case ANCESTOR -> {
        to.add(process(owners.ancestor(owner)));
        process(owners.service(owner), owner, to);
      }
    }
  }

  private int process(String name) {
    return stacks.function(NodeKind.PROCESS, "", name);
  }

  /** Appends the node of a process, and that of the kind of a thread that is not the program's. */
  private void process(String name, int owner, IntColumn to) {
    to.add(process(name));
    ThreadKind kind = owners.kind(owner);
    if (kind != ThreadKind.PROGRAM) {
      to.add(thread(kind.label()));
    }
  }

  private int thread(String name) {
    return stacks.function(NodeKind.THREAD, "", name);
  }

  private String tgid(int owner) {
    int tgid = owners.processes().tgid(owners.process(owner));
    return tgid == Processes.NO_TGID ? "[older]" : Integer.toString(tgid);
  }

  /** Appends a node for each name of a path; the root group is a node only by itself. */
  private void cgroups(String path, IntColumn to) {
    if (!path.startsWith("/") || path.length() == 1) {
      to.add(stacks.function(NodeKind.CGROUP, "", path));
      return;
    }
    for (String name : path.split("/", -1)) {
      if (!name.isEmpty()) {
        to.add(stacks.function(NodeKind.CGROUP, "", name));
      }
    }
  }

  /** The filter that admits only the stacks of a node; null where nothing does. */
  Shape.@Nullable Filter filter(CallTree tree, int node) {
    int function = tree.function(node);
    NodeKind kind = stacks.kind(function);
    String name = stacks.name(function);
    return switch (kind) {
      case ROOT -> null;
      case PROCESS ->
          switch (order) {
            case COMM -> new Shape.Comms(Set.of(name), false);
            case ANCESTOR ->
                tree.parent(node) == ROOT
                    ? new Shape.Ancestors(Set.of(name), false)
                    : new Shape.Services(Set.of(name), false);
            case SERVICE, CGROUP -> new Shape.Services(Set.of(name), false);
            case NONE, PROCESS, THREAD, CPU -> {
              int tgid = number(name, "-");
              yield tgid < 0 ? null : new Shape.Processes(Set.of(tgid), false);
            }
          };
      case THREAD -> {
        boolean isCpu = order == RootOrder.CPU;
        int number = number(name, isCpu ? " " : "-");
        ThreadKind its = ThreadKind.of(name);
        yield number < 0
            ? its == null ? null : new Shape.Kinds(Set.of(its), false)
            : isCpu
                ? new Shape.Cpus(Set.of(number), false)
                : new Shape.Threads(Set.of(number), false);
      }
      case CGROUP -> {
        String path = cgroup(tree, node);
        yield path == null ? null : new Shape.Cgroups(Set.of(path), false);
      }
      case USER, KERNEL, JIT, INLINED, PYTHON, PHP, RUBY, UNKNOWN, REASON, IDLE ->
          function == Stacks.NAMING
              ? null
              : new Shape.Through(new Function(kind, stacks.module(function), name), false);
    };
  }

  /** The path of a node's control group; null of the node for processes without a known group. */
  private @Nullable String cgroup(CallTree tree, int node) {
    String name = stacks.name(tree.function(node));
    if (tree.parent(node) == ROOT && (name.equals("/") || name.startsWith("["))) {
      return name.equals("/") ? name : null;
    }
    StringBuilder path = new StringBuilder();
    for (int n = node; n != ROOT; n = tree.parent(n)) {
      path.insert(0, stacks.name(tree.function(n))).insert(0, '/');
    }
    return path.toString();
  }

  /** The number at the end of the name of an owner's node; -1 if the name ends otherwise. */
  private static int number(String name, String before) {
    String end = name.substring(name.lastIndexOf(before) + 1);
    return end.matches("\\d{1,9}") ? Integer.parseInt(end) : NONE;
  }
}
