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
import flametop.view.table.QualityTable;
import java.util.regex.Pattern;
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
            of.runtimes(),
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
  void paint_runtimes_haveTheirSharesAtEachWidth() {
    ViewState quality = Pictures.state().withView(View.QUALITY);
    ViewState state =
        QualityTable.TABLE.with(
            quality, QualityTable.TABLE.place(quality).withNextKind(3).withNextKind(3));
    for (int columns = 60; columns <= 240; columns++) {
      Scene scene =
          Scene.of(
              Pictures.snapshot(Trees.server(), state, columns),
              Reports.quality(),
              state,
              columns,
              30,
              Pictures.options());
      String shown = PictureText.of(scene);
      assertTrue(
          Pattern.compile("Java +3,905 +25.6% +· +24.3% +80.0%").matcher(shown).find(), shown);
      assertTrue(shown.contains(" runtime  "), shown);
    }
  }

  @Test
  void paint_noDebugFileLookedFor_hasNoLineOfThem() {
    String shown = painted(new DebugFiles(0, 0, 0, 0, 0, 0), 80, 30);
    assertFalse(shown.contains("debuginfod"), shown);
  }
}
