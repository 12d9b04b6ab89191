package flametop.profile.format;

/** The formats of other programs that have a reader. */
public enum ProfileFormat {
  /** {@link PprofReader}. */
  PPROF,
  /** {@link JsonReader}: speedscope, V8, Chrome. */
  JSON,
  /** {@link PerfScriptReader}. */
  PERF_SCRIPT,
  /** {@link JfrReader}. */
  JFR;

  /** A new reader, for one profile. */
  public ProfileReader reader() {
    return switch (this) {
      case PPROF -> new PprofReader();
      case JSON -> new JsonReader();
      case PERF_SCRIPT -> new PerfScriptReader();
      case JFR -> new JfrReader();
    };
  }
}
