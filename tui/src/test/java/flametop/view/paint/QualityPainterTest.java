package flametop.view.paint;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.QualityReport;
import flametop.sampler.DebugFiles;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.Reports;
import flametop.view.screen.Trees;
import flametop.view.state.ViewState;
import org.junit.jupiter.api.Test;

class QualityPainterTest {
  private static String painted(DebugFiles files, int columns, int rows) {
    QualityReport of = Reports.quality();
    QualityReport report =
        new QualityReport(
            of.windowNanos(),
            of.window(),
            of.all(),
            of.processes(),
            of.modules(),
            of.parts(),
            of.resident(),
            of.copiedPerSecond(),
            of.streamPerSecond(),
            files);
    ViewState state = Pictures.state().withView(View.QUALITY);
    Scene scene =
        Scene.of(
            Pictures.snapshot(Trees.server(), state, columns),
            report,
            state,
            columns,
            rows,
            Pictures.options());
    return PictureText.of(scene);
  }

  @Test
  void paint_debugFilesOnTheirWay_saysHowFarTheyAre() {
    for (int columns : new int[] {80, 200}) {
      String shown = painted(new DebugFiles(12, 0, 3, 1, 0, 5 << 20), columns, 30);
      assertTrue(shown.contains("names    debuginfod: 3 of 12 fetched, 5 MiB, 1 not there"), shown);
      assertTrue(shown.contains("redis-server"), shown);
    }
  }

  @Test
  void paint_noDebugFileLookedFor_hasNoLineOfThem() {
    String shown = painted(new DebugFiles(0, 0, 0, 0, 0, 0), 80, 30);
    assertFalse(shown.contains("debuginfod"), shown);
  }
}
