package flametop.export;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** The formats of stacks. */
public enum StackFormat {
  /** {@link FoldedWriter}. */
  FOLDED(".folded"),
  /** {@link SpeedscopeWriter}. */
  SPEEDSCOPE(".speedscope.json"),
  /** {@link PprofWriter}. */
  PPROF(".pb.gz"),
  /** {@link HtmlWriter}. */
  HTML(".html"),
  /** {@link SvgWriter}: a picture. */
  SVG(".svg"),
  /** {@link TextWriter}: a summary. */
  TEXT(".txt"),
  /** {@link JsonWriter}: the same summary for programs. */
  JSON(".json");

  private final String suffix;

  StackFormat(String suffix) {
    this.suffix = suffix;
  }

  /** The end of the names of such files. */
  public String suffix() {
    return suffix;
  }

  /**
   * Writes an export to a stream, and flushes the stream.
   *
   * @return how many stacks
   */
  public long write(StackExport export, OutputStream out) throws IOException {
    BufferedOutputStream buffered = new BufferedOutputStream(out, 1 << 16);
    long stacks =
        switch (this) {
          case FOLDED -> FoldedWriter.write(export, buffered);
          case SPEEDSCOPE -> SpeedscopeWriter.write(export, buffered);
          case PPROF -> PprofWriter.write(export, buffered);
          case HTML -> HtmlWriter.write(export, buffered);
          case SVG -> SvgWriter.write(export, buffered);
          case TEXT -> TextWriter.write(export, buffered);
          case JSON -> JsonWriter.write(export, buffered);
        };
    buffered.flush();
    return stacks;
  }
}
