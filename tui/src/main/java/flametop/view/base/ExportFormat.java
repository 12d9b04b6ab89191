package flametop.view.base;

/** The formats in which the screen can be exported. */
public enum ExportFormat {
  FOLDED("folded", "folded stacks, one a line: FlameGraph, inferno, speedscope"),
  SPEEDSCOPE("speedscope", "JSON for speedscope"),
  PPROF("pprof", "gzipped profile.proto for pprof; process, thread and state as labels"),
  HTML("html", "one page with the graph, for a browser: zoom, search, details"),
  SVG("svg", "this screen as a picture"),
  TEXT("text", "this screen as text");

  private final String label;
  private final String detail;

  ExportFormat(String label, String detail) {
    this.label = label;
    this.detail = detail;
  }

  public String label() {
    return label;
  }

  public String detail() {
    return detail;
  }

  /** Whether the format shows the screen as it looks. Other formats hold stacks. */
  public boolean isPicture() {
    return this == SVG || this == TEXT;
  }
}
