package flametop.export;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** The formats of stacks. */
public enum StackFormat {
  /** {@link FoldedWriter}. */
  FOLDED(".folded", FoldedWriter::write),
  /** {@link SpeedscopeWriter}. */
  SPEEDSCOPE(".speedscope.json", SpeedscopeWriter::write),
  /** {@link PprofWriter}. */
  PPROF(".pb.gz", PprofWriter::write),
  /** {@link HtmlWriter}. */
  HTML(".html", HtmlWriter::write);

  private interface Writer {
    void write(StackExport export, OutputStream out) throws IOException;
  }

  private final String suffix;
  private final Writer writer;

  StackFormat(String suffix, Writer writer) {
    this.suffix = suffix;
    this.writer = writer;
  }

  /** How the names of such files end. */
  public String suffix() {
    return suffix;
  }

  /** Writes to a stream, and flushes it. */
  public void write(StackExport export, OutputStream out) throws IOException {
    BufferedOutputStream buffered = new BufferedOutputStream(out, 1 << 16);
    writer.write(export, buffered);
    buffered.flush();
  }
}
