package flametop.profile.format;

import java.util.function.Supplier;

/** The formats of other programs that have a reader. */
public enum ProfileFormat {
  /** {@link PprofReader}. */
  PPROF(PprofReader::new),
  /** {@link JsonReader}: speedscope, V8, Chrome. */
  JSON(JsonReader::new),
  /** {@link PerfScriptReader}. */
  PERF_SCRIPT(PerfScriptReader::new),
  /** {@link JfrReader}. */
  JFR(JfrReader::new);

  private final Supplier<ProfileReader> reader;

  ProfileFormat(Supplier<ProfileReader> reader) {
    this.reader = reader;
  }

  /** A new reader, for one profile. */
  public ProfileReader reader() {
    return reader.get();
  }
}
