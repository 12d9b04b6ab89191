package flametop.export;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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

  /** The suffixes of all formats, as a message lists them. */
  public static String suffixes() {
    return Arrays.stream(values()).map(format -> format.suffix).collect(Collectors.joining(", "));
  }

  /**
   * The format that the suffix of a file says: folded stacks where there is no suffix.
   *
   * @return null if the suffix says no format
   */
  public static @Nullable StackFormat of(Path file) {
    Path last = file.getFileName();
    String name = last == null ? "" : last.toString().toLowerCase(Locale.ROOT);
    for (StackFormat format : values()) {
      if (name.endsWith(format.suffix)) {
        return format;
      }
    }
    if (name.endsWith(".pprof") || name.endsWith(".prof")) {
      return PPROF;
    }
    return name.endsWith(".collapsed") || name.indexOf('.') < 0 ? FOLDED : null;
  }

  /**
   * Writes an export to a stream, and flushes the stream.
   *
   * @return how many stacks
   */
  public long write(StackExport export, OutputStream out) throws IOException {
    BufferedOutputStream bytes = new BufferedOutputStream(out, 1 << 16);
    Writer text = new BufferedWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8));
    long stacks =
        switch (this) {
          case FOLDED -> FoldedWriter.write(export, text);
          case SPEEDSCOPE -> SpeedscopeWriter.write(export, text);
          case PPROF -> PprofWriter.write(export, bytes);
          case HTML -> HtmlWriter.write(export, text);
          case SVG -> SvgWriter.write(export, text);
          case TEXT -> TextWriter.write(export, text);
          case JSON -> JsonWriter.write(export, text);
        };
    text.flush();
    return stacks;
  }
}
