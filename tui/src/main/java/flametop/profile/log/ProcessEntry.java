package flametop.profile.log;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One generation of a tgid, or all processes of one name that are gone; and who started it. By the
 * rules of {@code docs/manual.md}, "Who started it", a process stands below an {@link #ancestor}.
 */
final class ProcessEntry {
  /** Control group of a process of which none is told; no path. */
  static final String NO_CGROUP = "[no cgroup]";

  /**
   * So many parents above a process are remembered; one that is started below as many stands
   * directly below its ancestor. A program that forks and ends, again and again, makes no end of
   * them.
   */
  static final int MOST_PARENTS = 64;

  private static final int INIT = 1;

  /** Programs that start what others asked them to: each process that they start is on its own. */
  private static final Set<String> STARTERS =
      Words.of(
          """
          agetty atd catatonit conmon containerd cron crond crun docker-init dumb-init getty inetd
          init konsole login podman runc runsv runsvdir screen sshd supervisord systemd tini
          xinetd xterm
          """);

  /** How the names of further starters begin: comms are cut at 15 bytes. */
  private static final String[] STARTERS_BEGIN = {
    "containerd-shim", "gnome-terminal", "s6-", "sshd-", "tmux:"
  };

  private static final Set<String> SHELLS =
      Set.of("ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh");

  int tgid;
  int uid;

  /** Differs from before where a name, the group or the parent do. */
  int version;

  /** The comm, or a better name: {@link ServiceName}. */
  String service = "";

  /** Tasks that are not gone. */
  int alive;

  long gone = Owners.NEVER;
  String comm = "";
  String cgroup = NO_CGROUP;
  String commandLine = "";

  /** Whether a stack of it was in the library of a JVM. */
  boolean isJvm;

  /** Of one that stands for many: the name of their ancestor. */
  String below = "";

  private @Nullable ProcessEntry parent;
  private int parents;
  private boolean hasChildren;

  /** A shell that runs no script: somebody types into it. */
  private boolean isPrompt;

  /**
   * What the process runs from now on.
   *
   * @param line its command line; empty if it is not known
   * @return whether those that it started may stand below another one now
   */
  boolean runs(String newComm, String newService, String line) {
    boolean types = !line.isEmpty() && newService.equals(newComm) && SHELLS.contains(newComm);
    boolean isNamed = !newComm.equals(comm) || !newService.equals(service);
    boolean isOther = isNamed || types != isPrompt;
    comm = newComm;
    service = newService;
    isPrompt = types;
    version += isNamed ? 1 : 0;
    return isOther && hasChildren;
  }

  /** Started by this process; or that is the image before the last exec. */
  void startedBy(ProcessEntry process) {
    if (process.tgid == tgid) {
      parent = process.parent;
      parents = process.parents;
      return;
    }
    process.hasChildren = true;
    boolean isFar = process.parents >= MOST_PARENTS;
    parent = isFar ? process.ancestor() : process;
    parents = parent.parents + 1;
  }

  /** The process below which this one stands; maybe itself. */
  ProcessEntry ancestor() {
    ProcessEntry at = this;
    ProcessEntry above = parent;
    while (above != null && !above.isStarter() && !(above.isPrompt && at.hasChildren)) {
      at = above;
      above = at.parent;
    }
    return at;
  }

  private boolean isStarter() {
    if (tgid == INIT || STARTERS.contains(comm)) {
      return true;
    }
    for (String begin : STARTERS_BEGIN) {
      if (comm.startsWith(begin)) {
        return true;
      }
    }
    return false;
  }

  /** As an ancestor. */
  String name() {
    return service + "-" + tgid;
  }

  /** As an ancestor of so long ago that processes of one name are not told apart any more. */
  String oldName() {
    return service + "-[older]";
  }
}
