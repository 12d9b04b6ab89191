package flametop.view.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CpuPanelTest {
  @Test
  void of_moreCpus_fromRowsOverColumnsToAMap() {
    assertEquals(CpuPanel.Kind.ROWS, CpuPanel.of(2, 80, 24).kind());
    assertEquals(CpuPanel.Kind.COLUMNS, CpuPanel.of(16, 80, 24).kind());
    assertEquals(CpuPanel.Kind.MAP, CpuPanel.of(128, 80, 24).kind());
    assertEquals(CpuPanel.Kind.ROWS, CpuPanel.of(4, 200, 60).kind());
    assertEquals(CpuPanel.Kind.COLUMNS, CpuPanel.of(16, 200, 60).kind());
    assertEquals(CpuPanel.Kind.BUSIEST, CpuPanel.of(128, 200, 60).kind());
    assertEquals(CpuPanel.Kind.MAP, CpuPanel.of(512, 200, 60).kind());
  }

  @Test
  void of_anySize_everyCpuHasItsPlaceAndTheGraphMostOfTheRows() {
    for (int cpus = 1; cpus <= 16_384; cpus += 1 + cpus / 7) {
      for (int columns = 40; columns <= 320; columns += 13) {
        for (int rows = 10; rows <= 100; rows += 3) {
          CpuPanel layout = CpuPanel.of(cpus, columns, rows);
          String of = cpus + " CPUs, " + columns + "×" + rows + ": " + layout;
          assertTrue(layout.rows() >= 1 && layout.rows() <= Math.max(2, rows / 6), of);
          switch (layout.kind()) {
            case ROWS -> assertEquals(cpus, layout.rows(), of);
            case COLUMNS -> assertTrue(cpus <= layout.rows() * layout.across(), of);
            case BUSIEST ->
                assertTrue(
                    layout.busiest() >= 1
                        && cpus - layout.busiest() <= columns - CpuPanel.REST_LABELS,
                    of);
            case MAP -> {
              assertTrue(layout.across() + CpuPanel.MAP_LABELS <= Math.max(columns, 23), of);
              assertTrue(cpus <= layout.rows() * layout.across() * layout.perCell(cpus), of);
            }
          }
        }
      }
    }
  }
}
