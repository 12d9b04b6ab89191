package flametop.profile.log;

import flametop.profile.answer.NodeKind.ThreadKind;
import java.util.Set;

/**
 * Tells threads that a JVM made for itself from those of its program, by their comms. The rules are
 * in {@code docs/manual.md}, "Threads of a JVM".
 */
final class JvmThreads {
  /** The file by which a process is known to be a JVM. */
  static final String LIBRARY = "libjvm.so";

  // Comms, of which the kernel keeps 15 bytes; a # stands before the number of one of several.

  private static final Set<String> GC =
      Words.listed(
          """
          CMS Main Thread, CMS Thread#, G1 Conc#, G1 Main Marker, G1 Refine#, G1 Service,
          G1 Young RemSet, GC Thread#, GC task thread#, Shenandoah Cont, Shenandoah GC T,
          Shenandoah Unco, StringDedupProc, XDirector, XDriver, XStat, XUncommitter, XUnmapper,
          XWorker#, ZDirector, ZDriver, ZDriverMajor, ZDriverMinor, ZStat, ZUncommitter,
          ZUncommitter#, ZUnmapper, ZWorker#, ZWorkerOld#, ZWorkerYoung#
          """);

  private static final Set<String> COMPILER =
      Set.of("C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT", "JVMCI-native Co");

  private static final Set<String> VM =
      Words.listed(
          """
          AsyncLog Thread, Attach Listener, JFR Periodic Ta, JFR Recorder Th, JFR Sampler Thr,
          JFR Thread Samp, Monitor Deflati, Notification Th, Reference Handl, RuntimeWorker#,
          Service Thread, Signal Dispatch, Sweeper thread, VM Periodic Tas, VM Thread
          """);

  private JvmThreads() {}

  /** What a thread of a JVM is for. */
  static ThreadKind kind(String comm) {
    String name = comm.substring(0, comm.indexOf('#') + 1);
    name = name.isEmpty() ? comm : name;
    if (GC.contains(name)) {
      return ThreadKind.GC;
    }
    if (COMPILER.contains(name)) {
      return ThreadKind.COMPILER;
    }
    return VM.contains(name) ? ThreadKind.VM : ThreadKind.PROGRAM;
  }
}
