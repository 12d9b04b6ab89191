package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.NodeKind.ThreadKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class JvmThreadKindTest {
  @ParameterizedTest
  @CsvSource({
    "GC Thread#0, GC",
    "GC Thread#12, GC",
    "G1 Conc#0, GC",
    "G1 Main Marker, GC",
    "ZWorkerYoung#1, GC",
    "G1 Young RemSet, GC",
    "Shenandoah Cont, GC",
    "C1 CompilerThre, COMPILER",
    "C2 CompilerThre, COMPILER",
    "VM Thread, VM",
    "VM Periodic Tas, VM",
    "Signal Dispatch, VM",
    "java, PROGRAM",
    "Finalizer, PROGRAM",
    "Common-Cleaner, PROGRAM",
    "http-nio-8080-e, PROGRAM",
    "GC notifier, PROGRAM",
    "VM ThreadPool-1, PROGRAM",
    "GC Thread, PROGRAM"
  })
  void kind_ofAThread_isByItsComm(String comm, ThreadKind kind) {
    assertEquals(kind, JvmThreads.kind(comm));
  }
}
